//! An idempotency store that fails, for the histories of `effects`: each of its failures is
//! entered there as a blow to its message.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use babelqueue::BoxError;
use babelqueue::idempotency::{Claim, ClaimStore, IdempotencyStore, MemoryStore};
use tokio::time::sleep;

use crate::effects::{Whole, World};

/// A store that fails and dawdles.
#[derive(Clone)]
pub struct Shaky {
    pub store: MemoryStore,
    pub world: World,
    pub random: Arc<Mutex<fastrand::Rng>>,
    /// Failures in a hundred calls.
    pub failing: u32,
}

impl Shaky {
    /// Now and then the call fails, with or without its effect, or takes its time.
    async fn call<T>(
        &self,
        id: &str,
        work: impl Future<Output = Result<T, BoxError>>,
    ) -> Result<T, BoxError> {
        let (luck, slow) = {
            let mut random = self.random.lock().unwrap();
            (random.u32(..100), random.u32(..100) < self.failing)
        };
        let mut whole = Whole::begin(&self.world, id, false);
        if slow {
            sleep(Duration::from_secs(3)).await;
        }
        let failed = || Err("the store failed".into());
        if luck < self.failing {
            return failed();
        }
        let result = work.await;
        if luck < 2 * self.failing {
            return failed();
        }
        whole.ended = result.is_ok();
        result
    }
}

impl IdempotencyStore for Shaky {
    async fn seen(&self, id: &str) -> Result<bool, BoxError> {
        self.call(id, self.store.seen(id)).await
    }

    async fn remember(&self, id: &str) -> Result<(), BoxError> {
        self.call(id, self.store.remember(id)).await
    }

    async fn forget(&self, id: &str) -> Result<(), BoxError> {
        self.call(id, self.store.forget(id)).await
    }
}

impl ClaimStore for Shaky {
    async fn claim(&self, id: &str, token: &str, lease: Duration) -> Result<Claim, BoxError> {
        self.call(id, self.store.claim(id, token, lease)).await
    }

    async fn renew(&self, id: &str, token: &str, lease: Duration) -> Result<bool, BoxError> {
        self.call(id, self.store.renew(id, token, lease)).await
    }

    async fn complete(&self, id: &str, token: &str) -> Result<bool, BoxError> {
        let held = self.call(id, self.store.complete(id, token)).await?;
        if !held {
            // The lease was lost while it ended.
            self.world.blow(id);
        }
        Ok(held)
    }

    async fn release(&self, id: &str, token: &str) -> Result<bool, BoxError> {
        self.call(id, self.store.release(id, token)).await
    }
}
