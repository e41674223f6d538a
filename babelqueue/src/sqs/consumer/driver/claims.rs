//! The claims of running handlers: they are renewed with their messages, and given back with those
//! that were cancelled (SPEC §3.1). All of it does nothing unless the consumer handles under claims.

use std::sync::Arc;
use std::time::Duration;

use super::Driver;
use super::flights::{Key, Stage};
#[cfg(feature = "idempotency")]
use crate::panics::fenced_async;
use crate::pipeline::DeliveryNumber;
use crate::sqs::consumer::shared::Shared;

/// How long a store may take to give claims back, before the messages are released all the same.
#[cfg(feature = "idempotency")]
const PATIENCE: Duration = Duration::from_secs(2);

/// The deliveries whose claims are meant.
#[derive(Debug, Default)]
pub(super) struct Claims {
    owners: Vec<(Key, DeliveryNumber)>,
}

impl Claims {
    pub(super) fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }
}

impl Driver {
    /// The claims of these messages.
    pub(super) fn claims_of(&self, keys: impl Iterator<Item = Key>) -> Claims {
        if !has_claims(&self.shared) {
            return Claims::default();
        }
        let owner = |key| Some((key, self.flights.get(key)?.delivery));
        Claims {
            owners: keys.filter_map(owner).collect(),
        }
    }

    /// Lets the claims taken before the timeout was known last as long as their messages.
    pub(super) fn renew_running_claims(&mut self) {
        let Some(timeout) = self.heartbeat.timeout() else {
            return;
        };
        let running = |(key, flight): (Key, &mut super::flights::Flight)| {
            (flight.stage == Stage::Running).then_some(key)
        };
        let keys: Vec<_> = self.flights.iter_mut().filter_map(running).collect();
        let claims = self.claims_of(keys.into_iter());
        if claims.owners.is_empty() {
            return;
        }
        let shared = Arc::clone(&self.shared);
        tokio::spawn(async move { claims.renew(&shared, timeout).await });
    }
}

#[cfg(feature = "idempotency")]
fn has_claims(shared: &Shared) -> bool {
    let guard = shared.pipeline.guard.as_ref();
    guard.is_some_and(crate::idempotency::Idempotency::has_claims)
}

#[cfg(not(feature = "idempotency"))]
fn has_claims(_: &Shared) -> bool {
    false
}

#[cfg(feature = "idempotency")]
impl Claims {
    /// Renews them to the full timeout, each by itself; gives up on one that takes a quarter of
    /// it. Returns those that were lost to somebody else.
    pub(super) async fn renew(self, shared: &Shared, timeout: Duration) -> Vec<Key> {
        let Some(guard) = &shared.pipeline.guard else {
            return Vec::new();
        };
        let renew = async |(key, owner): &(Key, DeliveryNumber)| {
            let renewed = fenced_async(guard.renew(owner.get(), timeout));
            match tokio::time::timeout(timeout / 4, renewed).await {
                Ok(Ok(held)) => (!held).then_some(*key),
                Ok(Err(panicked)) => {
                    tracing::warn!("the idempotency store {panicked}: a claim is not renewed");
                    None
                }
                Err(_) => {
                    tracing::warn!("the idempotency store does not answer: a claim is not renewed");
                    None
                }
            }
        };
        let all = futures_util::future::join_all(self.owners.iter().map(renew));
        all.await.into_iter().flatten().collect()
    }

    /// Gives back those whose runs were cancelled; the others have none any more.
    pub(super) async fn abandon(self, shared: &Shared) {
        let Some(guard) = &shared.pipeline.guard else {
            return;
        };
        let all = self
            .owners
            .iter()
            .map(|(_, owner)| fenced_async(guard.abandon(owner.get())));
        let all = futures_util::future::join_all(all);
        if tokio::time::timeout(PATIENCE, all).await.is_err() {
            tracing::warn!("the idempotency store does not answer: claims end with their leases");
        }
    }
}

#[cfg(not(feature = "idempotency"))]
impl Claims {
    pub(super) async fn renew(self, _: &Shared, _: Duration) -> Vec<Key> {
        debug_assert!(self.owners.is_empty());
        Vec::new()
    }

    pub(super) async fn abandon(self, _: &Shared) {
        debug_assert!(self.owners.is_empty());
    }
}
