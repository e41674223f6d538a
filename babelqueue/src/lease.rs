//! The hold that a consumer has on a message, and the word that it is lost. Needs no runtime.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// Whether a message still belongs to the handler that has it (SPEC §2.16).
///
/// A consumer keeps the messages of running handlers invisible to others. When it cannot, because
/// renewals fail, `max_handling_time` is over
/// or the heartbeat is off, SQS gives the message to somebody else while its handler still runs.
/// A handler with effects that must not happen twice asks before them, or watches:
///
/// ```
/// use babelqueue::prelude::*;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize, BabelMessage)]
/// # #[urn = "urn:babel:orders:created"]
/// # struct OrderCreated {}
/// # async fn prepare(_: OrderCreated) {}
/// # async fn charge() {}
/// #[babel_handler]
/// async fn order_created(order: OrderCreated, ctx: &Context) -> Result<(), HandlerError> {
///     tokio::select! {
///         () = ctx.lease().lost() => return Err(HandlerError::new("somebody else has it now")),
///         () = prepare(order) => {}
///     }
///     if !ctx.lease().is_lost() {
///         charge().await;
///     }
///     Ok(())
/// }
/// ```
///
/// It narrows the window and cannot close it: a process that is suspended learns of nothing. For
/// effects that must be safe even then, fence with the [claim's
/// token](crate::Context::claim_token). Cheap to clone; clones are one lease.
#[derive(Clone, Default)]
pub struct Lease {
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    lost: AtomicBool,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    wakers: BTreeMap<u64, Waker>,
    next: u64,
}

impl Lease {
    /// A lease in force.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the message may be somebody else's by now. Once lost it stays lost.
    pub fn is_lost(&self) -> bool {
        self.state.lost.load(Ordering::Acquire)
    }

    /// Completes when the lease is lost: never, as a rule. Cancel-safe.
    pub fn lost(&self) -> Lost<'_> {
        Lost {
            state: &self.state,
            place: None,
        }
    }

    /// Loses it: for drivers, and for tests of handlers.
    pub fn lose(&self) {
        // Before the lock: whoever comes to wait after it sees that nothing is to be waited for.
        self.state.lost.store(true, Ordering::Release);
        let wakers = std::mem::take(&mut self.state.waiting().wakers);
        wakers.into_values().for_each(Waker::wake);
    }
}

impl State {
    fn waiting(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("is_lost", &self.is_lost())
            .finish_non_exhaustive()
    }
}

/// The future of [`Lease::lost`].
#[must_use = "a future does nothing until it is awaited"]
pub struct Lost<'a> {
    state: &'a State,
    place: Option<u64>,
}

impl fmt::Debug for Lost<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lost").finish_non_exhaustive()
    }
}

impl Future for Lost<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut waiting = self.state.waiting();
        if self.state.lost.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        let place = self.place.unwrap_or(waiting.next);
        waiting.next = waiting.next.max(place + 1);
        waiting.wakers.insert(place, cx.waker().clone());
        drop(waiting);
        self.place = Some(place);
        Poll::Pending
    }
}

impl Drop for Lost<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.state.waiting().wakers.remove(&place);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::AtomicUsize;
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn everybody_who_waits_is_told_once_and_who_is_gone_is_forgotten() {
        let lease = Lease::new();
        let counts = [(); 3].map(|()| Arc::new(Count::default()));
        let wakers = counts.clone().map(Waker::from);
        let mut first = pin!(lease.lost());
        let mut second = pin!(lease.lost());
        {
            let mut third = pin!(lease.lost());
            let poll = third.as_mut().poll(&mut Context::from_waker(&wakers[2]));
            assert!(poll.is_pending());
        }
        for _ in 0..2 {
            let poll = first.as_mut().poll(&mut Context::from_waker(&wakers[0]));
            assert!(poll.is_pending() && !lease.is_lost());
            let poll = second.as_mut().poll(&mut Context::from_waker(&wakers[1]));
            assert!(poll.is_pending());
        }
        lease.clone().lose();
        lease.lose();
        assert!(lease.is_lost());
        let told = counts.map(|count| count.0.load(Ordering::Relaxed));
        assert_eq!(told, [1, 1, 0]);
        let poll = first.as_mut().poll(&mut Context::from_waker(&wakers[0]));
        assert!(poll.is_ready());
        let poll = pin!(lease.lost()).poll(&mut Context::from_waker(&wakers[2]));
        assert!(poll.is_ready());
    }
}
