//! The places for handlers that the consumers of a group share. Without a group every message has
//! one.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::BoxFuture;

#[derive(Default)]
pub(super) struct Permits {
    shared: Option<Arc<Semaphore>>,
    /// One that was waited for and has come.
    spare: Option<OwnedSemaphorePermit>,
    waiting: Option<BoxFuture<'static, Option<OwnedSemaphorePermit>>>,
}

/// The right to run a handler, while it exists.
#[derive(Debug)]
pub(super) struct Permit {
    _place: Option<OwnedSemaphorePermit>,
}

impl Permits {
    pub(super) fn of(shared: Arc<Semaphore>) -> Self {
        Self {
            shared: Some(shared),
            ..Self::default()
        }
    }

    /// Takes a place if one is free, else lines up for one.
    pub(super) fn take(&mut self) -> Option<Permit> {
        let Some(shared) = &self.shared else {
            return Some(Permit { _place: None });
        };
        let place = self.spare.take().or_else(|| {
            let free = self.waiting.is_none();
            free.then(|| Arc::clone(shared).try_acquire_owned().ok())?
        });
        if place.is_none() && self.waiting.is_none() {
            let shared = Arc::clone(shared);
            self.waiting = Some(Box::pin(async move { shared.acquire_owned().await.ok() }));
        }
        place.map(|place| Permit {
            _place: Some(place),
        })
    }

    /// Gives up what was waited for: there is nothing to start.
    pub(super) fn let_go(&mut self) {
        self.spare = None;
        self.waiting = None;
    }

    /// Waits for the place that was lined up for; for ever when there is none. Cancel-safe.
    pub(super) async fn ready(&mut self) {
        let Some(waiting) = &mut self.waiting else {
            return std::future::pending().await;
        };
        self.spare = waiting.await;
        self.waiting = None;
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn who_lined_up_first_comes_first_and_who_gives_up_holds_nothing() {
        let shared = Arc::new(Semaphore::new(1));
        let [mut a, mut b] = [(); 2].map(|()| Permits::of(Arc::clone(&shared)));
        let first = a.take();
        assert!(first.is_some() && b.take().is_none());
        assert!(b.ready().now_or_never().is_none());
        drop(first);
        assert!(a.take().is_none(), "b has been waiting");
        b.ready().await;
        let second = b.take();
        assert!(second.is_some());
        a.let_go();
        drop(second);
        assert_eq!(shared.available_permits(), 1);
        assert!(Permits::default().take().is_some(), "alone, nobody waits");
    }
}
