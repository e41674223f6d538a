//! The guard: asks the store before a run and tells it afterwards (SPEC §3.1).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::erased::{AnyClaims, AnyStore, Claiming, SeenSet};
use super::store::{Claim, ClaimStore, IdempotencyStore};
use crate::BoxError;
use crate::envelope::new_id;
use crate::fields;
use crate::panics::{Panicked, fenced_async};

/// A store, and how it is used. Cheap to clone; clones are one guard.
///
/// A consumer takes it with `.idempotency(…)`. Around anything else, use [`run`](Self::run):
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use babelqueue::idempotency::{Guarded, Idempotency, MemoryStore};
///
/// let guard = Idempotency::new(MemoryStore::new());
/// let first = guard.run("m-1", async || Ok::<_, std::io::Error>("charged")).await;
/// assert!(matches!(first, Guarded::Ran { result: Ok("charged"), .. }));
/// let again = guard.run("m-1", async || Ok::<_, std::io::Error>("charged")).await;
/// assert!(matches!(again, Guarded::AlreadyDone));
/// # }
/// ```
#[derive(Clone)]
pub struct Idempotency {
    store: Arc<dyn AnyStore>,
    lease: Duration,
    /// The claims of running handlers by their deliveries' numbers. A message's id would not do:
    /// two deliveries of it may be here at the same time, and only one of them holds the claim.
    held: Arc<Mutex<BTreeMap<u64, Held>>>,
}

#[derive(Clone)]
struct Held {
    id: String,
    token: String,
}

/// What a guarded run came to.
#[derive(Debug)]
#[non_exhaustive]
pub enum Guarded<T, E> {
    /// It ran.
    Ran {
        /// Its own result; remembered when it is `Ok`.
        result: Result<T, E>,
        /// Why its success could not be remembered, or [`ClaimLost`].
        unremembered: Option<BoxError>,
    },
    /// It did not run: the id was handled before.
    AlreadyDone,
    /// It did not run: somebody else is at it.
    Held {
        /// What is left of their lease.
        remaining: Duration,
    },
    /// It did not run: the store could not be asked.
    Unknown(BoxError),
}

/// The lease ran out while the handler ran, and somebody else has claimed the id since.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the claim on message {id} was lost before its handler ended: it may have run twice")]
pub struct ClaimLost {
    /// The message.
    pub id: String,
}

/// One run to be guarded.
pub(crate) struct Request<'a> {
    /// `meta.id`; blank ids cannot be guarded.
    pub(crate) id: &'a str,
    /// The delivery's number, with which the claim is renewed while it runs.
    pub(crate) owner: Option<u64>,
    /// How long the message stays invisible, if that is known.
    pub(crate) lease: Option<Duration>,
}

impl<S: IdempotencyStore> From<S> for Idempotency {
    fn from(store: S) -> Self {
        Self::new(store)
    }
}

impl Idempotency {
    /// Remembers what succeeded. Two deliveries at the same time both run.
    pub fn new(store: impl IdempotencyStore) -> Self {
        Self::over(Arc::new(SeenSet(store)))
    }

    /// Claims an id before its handler runs, so that of two deliveries at the same time the
    /// second waits until the first has ended or its lease has.
    pub fn claims(store: impl ClaimStore) -> Self {
        Self::over(Arc::new(Claiming(store)))
    }

    fn over(store: Arc<dyn AnyStore>) -> Self {
        Self {
            store,
            lease: Duration::from_secs(30),
            held: Arc::default(),
        }
    }

    /// How long a claim lasts where the message's visibility timeout is not known: 30 s unless
    /// set. A consumer knows it and renews claims with its heartbeat.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Forgets an id: its next delivery runs its handler.
    ///
    /// # Errors
    /// The store's.
    pub async fn forget(&self, id: &str) -> Result<(), BoxError> {
        self.store.forget(id).await
    }

    /// Runs `work` unless `id` was handled before or is being handled. An empty id cannot be
    /// told from another, so `work` always runs then. A claim is not renewed while it runs.
    pub async fn run<T, E, W, F>(&self, id: &str, work: W) -> Guarded<T, E>
    where
        W: FnOnce() -> F,
        F: Future<Output = Result<T, E>>,
    {
        let request = Request {
            id,
            owner: None,
            lease: None,
        };
        self.run_claimed(request, |_| work()).await
    }

    /// Runs `work`, which is told the token of its claim.
    pub(crate) async fn run_claimed<T, E, W, F>(
        &self,
        request: Request<'_>,
        work: W,
    ) -> Guarded<T, E>
    where
        W: FnOnce(Option<&str>) -> F,
        F: Future<Output = Result<T, E>>,
    {
        let id = request.id;
        if id.is_empty() {
            // Nothing to know it by: better twice than never.
            let result = work(None).await;
            return Guarded::Ran {
                result,
                unremembered: None,
            };
        }
        if let Some(claims) = self.store.claims() {
            return self.run_with(claims, request, work).await;
        }
        match self.store.seen(id).await {
            Ok(true) => return Guarded::AlreadyDone,
            Ok(false) => {}
            Err(error) => return Guarded::Unknown(error),
        }
        let result = work(None).await;
        let unremembered = match &result {
            Ok(_) => {
                let (store, id) = (Arc::clone(&self.store), id.to_owned());
                let remember = async move { store.remember(&id).await };
                uninterrupted(remember).await.and_then(|told| told).err()
            }
            Err(_) => None,
        };
        Guarded::Ran {
            result,
            unremembered,
        }
    }

    async fn run_with<T, E, W, F>(
        &self,
        claims: &dyn AnyClaims,
        request: Request<'_>,
        work: W,
    ) -> Guarded<T, E>
    where
        W: FnOnce(Option<&str>) -> F,
        F: Future<Output = Result<T, E>>,
    {
        let Request { id, owner, lease } = request;
        let token = new_id();
        match claims.claim(id, &token, lease.unwrap_or(self.lease)).await {
            Ok(Claim::Won) => {}
            Ok(Claim::Done) => return Guarded::AlreadyDone,
            Ok(Claim::Held { remaining }) => return Guarded::Held { remaining },
            Err(error) => {
                // It may have been taken all the same.
                give_back(claims, id, &token).await;
                return Guarded::Unknown(error);
            }
        }
        if let Some(owner) = owner {
            let held = Held {
                id: id.to_owned(),
                token: token.clone(),
            };
            self.held().insert(owner, held);
        }
        let ended = fenced_async(async { work(Some(&token)).await }).await;
        if let Some(owner) = owner {
            self.held().remove(&owner);
        }
        let result = match ended {
            Ok(result) => result,
            Err(Panicked(text)) => {
                // Whoever catches it further out knows of no claim.
                give_back(claims, id, &token).await;
                std::panic::resume_unwind(Box::new(text));
            }
        };
        let unremembered = match &result {
            Ok(_) => {
                let (store, id) = (Arc::clone(&self.store), id.to_owned());
                let complete = async move {
                    match store.claims() {
                        Some(claims) if !claims.complete(&id, &token).await? => {
                            Err(ClaimLost { id }.into())
                        }
                        _ => Ok(()),
                    }
                };
                uninterrupted(complete).await.and_then(|told| told).err()
            }
            Err(_) => {
                give_back(claims, id, &token).await;
                None
            }
        };
        Guarded::Ran {
            result,
            unremembered,
        }
    }
}

/// Releases a claim: else the next delivery would have to wait for the end of its lease.
async fn give_back(claims: &dyn AnyClaims, id: &str, token: &str) {
    if let Err(error) = claims.release(id, token).await {
        tracing::warn!(
            { fields::ID } = id,
            "the claim could not be released: {error}"
        );
    }
}

/// Runs to the end what has begun, whatever becomes of the caller: an effect that took place must
/// be remembered, also when a consumer's grace period ends meanwhile (SPEC §2.17).
async fn uninterrupted<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, BoxError> {
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) => runtime.spawn(work).await.map_err(Into::into),
        Err(_) => Ok(work.await),
    }
}

/// For drivers, which renew claims with the visibility of their messages.
#[cfg_attr(not(feature = "sqs"), allow(dead_code))]
impl Idempotency {
    /// Whether handlers run under claims.
    pub(crate) fn has_claims(&self) -> bool {
        self.store.claims().is_some()
    }

    /// Renews the claim of the delivery that runs under this owner, if there is one. Whether
    /// nobody else has taken it.
    pub(crate) async fn renew(&self, owner: u64, lease: Duration) -> bool {
        let (Some(claims), Some(held)) = (self.store.claims(), self.held_by(owner)) else {
            return true;
        };
        match claims.renew(&held.id, &held.token, lease).await {
            Ok(true) => true,
            // A run that has just ended needs no renewal.
            Ok(false) if self.held_by(owner).is_none() => true,
            Ok(false) => {
                tracing::warn!({ fields::ID } = held.id, "the claim is lost");
                false
            }
            Err(error) => {
                tracing::warn!(
                    { fields::ID } = held.id,
                    "the claim was not renewed: {error}"
                );
                true
            }
        }
    }

    /// Gives back the claim of a run that was cancelled.
    pub(crate) async fn abandon(&self, owner: u64) {
        let held = self.held().remove(&owner);
        if let (Some(claims), Some(held)) = (self.store.claims(), held) {
            give_back(claims, &held.id, &held.token).await;
        }
    }

    #[cfg(test)]
    pub(super) fn holds(&self, owner: u64) -> bool {
        self.held().contains_key(&owner)
    }

    fn held_by(&self, owner: u64) -> Option<Held> {
        self.held().get(&owner).cloned()
    }

    fn held(&self) -> MutexGuard<'_, BTreeMap<u64, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Idempotency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Idempotency")
            .field("claims", &self.store.claims().is_some())
            .field("lease", &self.lease)
            .finish_non_exhaustive()
    }
}
