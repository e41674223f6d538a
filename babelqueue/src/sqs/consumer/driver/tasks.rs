//! The running handlers' tasks: each has one message, or those of a batch, and posts its end to
//! the driver. One list for all of them, in place of tokio's `JoinSet`: a task that ends while the
//! driver has not fetched the ends before it wakes nobody, and takes one lock.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::task::AbortHandle;

use super::flights::Key;
use crate::BoxFuture;
use crate::panics::{Panicked, fenced_async};
use crate::pipeline::Processed;

/// The messages of a task.
#[derive(Debug)]
pub(super) enum Keys {
    One(Key),
    Many(Vec<Key>),
}

impl Keys {
    pub(super) fn as_slice(&self) -> &[Key] {
        match self {
            Self::One(key) => std::slice::from_ref(key),
            Self::Many(keys) => keys,
        }
    }
}

/// What became of a task's messages, in the same order.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // One is the rule, and costs no allocation so.
pub(super) enum Ended {
    One(Processed),
    Many(Vec<Processed>),
    Cancelled,
    /// Outside of the fences around user code: in a destructor, say.
    Panicked(Panicked),
}

/// The running tasks. Dropping it cancels them.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    /// Each at its place.
    running: Vec<Option<(Keys, AbortHandle)>>,
    free: Vec<usize>,
    inbox: Arc<Inbox>,
}

#[derive(Debug, Default)]
struct Inbox {
    posts: Mutex<Posts>,
}

#[derive(Debug, Default)]
struct Posts {
    ended: Vec<(usize, Ended)>,
    /// Set while the driver waits for an end.
    driver: Option<Waker>,
}

impl Tasks {
    /// Runs `work` for these messages. Boxed: a task's future is moved about while it starts.
    pub(super) fn spawn(&mut self, keys: Keys, work: BoxFuture<'static, Ended>) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.running.push(None);
            self.running.len() - 1
        });
        let mut post = Post {
            place,
            inbox: Some(Arc::clone(&self.inbox)),
        };
        let task = tokio::spawn(async move {
            // When the task is cancelled, the work is dropped before the post.
            let ended = fenced_async(work).await;
            post.send(ended.unwrap_or_else(Ended::Panicked));
        });
        self.running[place] = Some((keys, task.abort_handle()));
    }

    pub(super) fn len(&self) -> usize {
        self.running.len() - self.free.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn abort_all(&self) {
        for (_, task) in self.running.iter().flatten() {
            task.abort();
        }
    }

    /// Waits until some have ended; for ever when none runs. Cancel-safe.
    pub(super) async fn ended(&mut self) -> Vec<(Keys, Ended)> {
        std::future::poll_fn(|cx| self.poll_ended(cx)).await
    }

    fn poll_ended(&mut self, cx: &mut Context<'_>) -> Poll<Vec<(Keys, Ended)>> {
        let mut posts = self.inbox.lock();
        if posts.ended.is_empty() {
            posts.driver = Some(cx.waker().clone());
            return Poll::Pending;
        }
        drop(posts);
        Poll::Ready(self.take_ended())
    }

    /// Those that have ended by now.
    pub(super) fn take_ended(&mut self) -> Vec<(Keys, Ended)> {
        let ended = std::mem::take(&mut self.inbox.lock().ended);
        let leave = |(place, ended): (usize, Ended)| {
            let (keys, _) = self.running.get_mut(place)?.take()?;
            self.free.push(place);
            Some((keys, ended))
        };
        ended.into_iter().filter_map(leave).collect()
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.abort_all();
    }
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Posts> {
        self.posts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells of a task's end once, whatever ends it.
struct Post {
    place: usize,
    inbox: Option<Arc<Inbox>>,
}

impl Post {
    fn send(&mut self, ended: Ended) {
        let Some(inbox) = self.inbox.take() else {
            return;
        };
        let mut posts = inbox.lock();
        posts.ended.push((self.place, ended));
        let driver = posts.driver.take();
        drop(posts);
        if let Some(driver) = driver {
            driver.wake();
        }
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        self.send(Ended::Cancelled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::Lease;

    fn forever() -> BoxFuture<'static, Ended> {
        Box::pin(std::future::pending())
    }

    #[tokio::test]
    async fn each_end_is_told_once_and_its_place_is_free_again() {
        let mut tasks = Tasks::default();
        tasks.spawn(Keys::One(1), Box::pin(async { panic!("in a destructor") }));
        tasks.spawn(
            Keys::Many(vec![2, 3]),
            Box::pin(async { Ended::Many(vec![]) }),
        );
        tasks.spawn(Keys::One(4), forever());
        let mut seen = Vec::new();
        while tasks.len() > 1 {
            seen.extend(tasks.ended().await);
        }
        assert!(
            matches!(&seen[..], [(Keys::One(1), Ended::Panicked(panicked)), (Keys::Many(_), Ended::Many(_))] if panicked.0 == "in a destructor"),
            "{seen:?}"
        );
        assert!(tasks.take_ended().is_empty());
        tasks.abort_all();
        let ended = tasks.ended().await;
        assert!(
            matches!(ended[..], [(Keys::One(4), Ended::Cancelled)]),
            "{ended:?}"
        );
        tasks.spawn(Keys::One(5), forever());
        assert!(tasks.len() == 1 && tasks.running.len() == 3);
    }

    #[tokio::test]
    async fn dropping_it_cancels_them() {
        let lease = Lease::new();
        let mut tasks = Tasks::default();
        let lost = scopeguard(lease.clone());
        tasks.spawn(
            Keys::One(1),
            Box::pin(async move {
                let _lost = lost;
                std::future::pending().await
            }),
        );
        drop(tasks);
        lease.lost().await;
    }

    /// Loses the lease when it is dropped.
    fn scopeguard(lease: Lease) -> impl Drop + Send {
        struct Guard(Lease);
        impl Drop for Guard {
            fn drop(&mut self) {
                self.0.lose();
            }
        }
        Guard(lease)
    }
}
