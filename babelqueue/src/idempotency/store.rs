//! What a store must do. Implement these for Redis, DynamoDB or SQL, with plain `async fn`s.

use std::sync::Arc;
use std::time::Duration;

use crate::BoxError;

/// Remembers which messages were handled (SPEC §3.1). Ids are opaque text.
///
/// ```
/// use babelqueue::BoxError;
/// use babelqueue::idempotency::IdempotencyStore;
/// # struct Table;
/// # impl Table {
/// #     async fn has(&self, _: &str) -> Result<bool, std::io::Error> { Ok(false) }
/// #     async fn put(&self, _: &str) -> Result<(), std::io::Error> { Ok(()) }
/// #     async fn delete(&self, _: &str) -> Result<(), std::io::Error> { Ok(()) }
/// # }
/// struct MyStore {
///     table: Table,
/// }
///
/// impl IdempotencyStore for MyStore {
///     async fn seen(&self, id: &str) -> Result<bool, BoxError> {
///         Ok(self.table.has(id).await?)
///     }
///     async fn remember(&self, id: &str) -> Result<(), BoxError> {
///         Ok(self.table.put(id).await?)
///     }
///     async fn forget(&self, id: &str) -> Result<(), BoxError> {
///         Ok(self.table.delete(id).await?)
///     }
/// }
/// ```
pub trait IdempotencyStore: Send + Sync + 'static {
    /// Whether the id was remembered and not forgotten since.
    ///
    /// # Errors
    /// Any: the handler is not run then, and the message is retried.
    fn seen(&self, id: &str) -> impl Future<Output = Result<bool, BoxError>> + Send;

    /// Remembers an id, after its handler succeeded. Once or several times is the same.
    ///
    /// # Errors
    /// Any: it is reported, and the message is deleted all the same.
    fn remember(&self, id: &str) -> impl Future<Output = Result<(), BoxError>> + Send;

    /// Forgets an id, whatever is known of it: its next delivery runs the handler.
    ///
    /// # Errors
    /// Any, for the caller.
    fn forget(&self, id: &str) -> impl Future<Output = Result<(), BoxError>> + Send;
}

/// What an attempt to claim an id came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It belongs to the token until the lease ends.
    Won,
    /// It was handled before.
    Done,
    /// It belongs to somebody else.
    Held {
        /// What is left of their lease.
        remaining: Duration,
    },
}

/// A store that also hands out claims (SPEC §3.1). A claim belongs to the token that it was taken
/// with; each operation compares the token in one step with what it changes.
pub trait ClaimStore: IdempotencyStore {
    /// Claims an id that was not handled and that nobody holds; an expired lease is nobody's.
    ///
    /// # Errors
    /// Any: the handler is not run then, and the message is retried.
    fn claim(
        &self,
        id: &str,
        token: &str,
        lease: Duration,
    ) -> impl Future<Output = Result<Claim, BoxError>> + Send;

    /// Lets the lease last for `lease` from now. False when the claim is the token's no more.
    ///
    /// # Errors
    /// Any: the lease goes on as it is.
    fn renew(
        &self,
        id: &str,
        token: &str,
        lease: Duration,
    ) -> impl Future<Output = Result<bool, BoxError>> + Send;

    /// Remembers the id as handled and ends the claim. False when the claim is the token's no
    /// more; nothing is changed then.
    ///
    /// # Errors
    /// Any: it is reported, and the message is deleted all the same.
    fn complete(
        &self,
        id: &str,
        token: &str,
    ) -> impl Future<Output = Result<bool, BoxError>> + Send;

    /// Ends the claim without remembering. False when the claim is the token's no more.
    ///
    /// # Errors
    /// Any: the claim ends with its lease.
    fn release(&self, id: &str, token: &str)
    -> impl Future<Output = Result<bool, BoxError>> + Send;
}

impl<S: IdempotencyStore> IdempotencyStore for Arc<S> {
    async fn seen(&self, id: &str) -> Result<bool, BoxError> {
        S::seen(self, id).await
    }

    async fn remember(&self, id: &str) -> Result<(), BoxError> {
        S::remember(self, id).await
    }

    async fn forget(&self, id: &str) -> Result<(), BoxError> {
        S::forget(self, id).await
    }
}

impl<S: ClaimStore> ClaimStore for Arc<S> {
    async fn claim(&self, id: &str, token: &str, lease: Duration) -> Result<Claim, BoxError> {
        S::claim(self, id, token, lease).await
    }

    async fn renew(&self, id: &str, token: &str, lease: Duration) -> Result<bool, BoxError> {
        S::renew(self, id, token, lease).await
    }

    async fn complete(&self, id: &str, token: &str) -> Result<bool, BoxError> {
        S::complete(self, id, token).await
    }

    async fn release(&self, id: &str, token: &str) -> Result<bool, BoxError> {
        S::release(self, id, token).await
    }
}
