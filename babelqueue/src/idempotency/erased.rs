//! The stores as objects: `async fn`s of a trait cannot be called through `dyn`, boxed ones can.
//! They are user code: a panic of theirs is an error like any other.

use std::time::Duration;

use super::store::{Claim, ClaimStore, IdempotencyStore};
use crate::panics::fenced_async;
use crate::{BoxError, BoxFuture};

type Answer<'a, T> = BoxFuture<'a, Result<T, BoxError>>;

/// A seen-set or a store with claims.
pub(super) trait AnyStore: Send + Sync {
    fn seen<'a>(&'a self, id: &'a str) -> Answer<'a, bool>;
    fn remember<'a>(&'a self, id: &'a str) -> Answer<'a, ()>;
    fn forget<'a>(&'a self, id: &'a str) -> Answer<'a, ()>;
    /// `None` when the store has no claims.
    fn claims(&self) -> Option<&dyn AnyClaims>;
}

pub(super) trait AnyClaims: Send + Sync {
    fn claim<'a>(&'a self, id: &'a str, token: &'a str, lease: Duration) -> Answer<'a, Claim>;
    fn renew<'a>(&'a self, id: &'a str, token: &'a str, lease: Duration) -> Answer<'a, bool>;
    fn complete<'a>(&'a self, id: &'a str, token: &'a str) -> Answer<'a, bool>;
    fn release<'a>(&'a self, id: &'a str, token: &'a str) -> Answer<'a, bool>;
}

fn fence<'a, T: 'a>(work: impl Future<Output = Result<T, BoxError>> + Send + 'a) -> Answer<'a, T> {
    Box::pin(async move { fenced_async(work).await? })
}

pub(super) struct SeenSet<S>(pub(super) S);
pub(super) struct Claiming<S>(pub(super) S);

macro_rules! seen_set {
    () => {
        fn seen<'a>(&'a self, id: &'a str) -> Answer<'a, bool> {
            fence(async move { self.0.seen(id).await })
        }

        fn remember<'a>(&'a self, id: &'a str) -> Answer<'a, ()> {
            fence(async move { self.0.remember(id).await })
        }

        fn forget<'a>(&'a self, id: &'a str) -> Answer<'a, ()> {
            fence(async move { self.0.forget(id).await })
        }
    };
}

impl<S: IdempotencyStore> AnyStore for SeenSet<S> {
    seen_set!();

    fn claims(&self) -> Option<&dyn AnyClaims> {
        None
    }
}

impl<S: ClaimStore> AnyStore for Claiming<S> {
    seen_set!();

    fn claims(&self) -> Option<&dyn AnyClaims> {
        Some(self)
    }
}

impl<S: ClaimStore> AnyClaims for Claiming<S> {
    fn claim<'a>(&'a self, id: &'a str, token: &'a str, lease: Duration) -> Answer<'a, Claim> {
        fence(async move { self.0.claim(id, token, lease).await })
    }

    fn renew<'a>(&'a self, id: &'a str, token: &'a str, lease: Duration) -> Answer<'a, bool> {
        fence(async move { self.0.renew(id, token, lease).await })
    }

    fn complete<'a>(&'a self, id: &'a str, token: &'a str) -> Answer<'a, bool> {
        fence(async move { self.0.complete(id, token).await })
    }

    fn release<'a>(&'a self, id: &'a str, token: &'a str) -> Answer<'a, bool> {
        fence(async move { self.0.release(id, token).await })
    }
}
