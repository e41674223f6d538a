//! [`BufferedPublisher`]: publishes of many tasks meet in one buffer and leave it in batches. What
//! happens in the caller's task stands here (making the message, waiting for room); one task of
//! its own ([`worker`]) makes the calls.

mod builder;
mod flush;
mod worker;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};
use tokio::time::{Instant, timeout_at};

pub use self::builder::BufferedPublisherBuilder;
pub use self::flush::FlushError;

use self::flush::Ending;
use self::worker::Worker;
use super::outbox::Rules;
use super::request::{Request, from_draft};
use super::send::SqsPublisher;
use crate::BoxFuture;
use crate::fields;
use crate::message::{Draft, Publish, PublishBuilder, PublishError, Published};
use crate::telemetry::Held;

/// Publishes in batches what many tasks publish one by one. Cheap to clone and meant to be shared.
///
/// ```no_run
/// # use babelqueue::prelude::*;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize, BabelMessage)]
/// # #[urn = "urn:babel:orders:created"]
/// # struct OrderCreated { order_id: u64 }
/// # async fn run(publisher: SqsPublisher) -> Result<(), babelqueue::Error> {
/// let buffered = BufferedPublisher::new(publisher);
/// let order = OrderCreated { order_id: 1042 };
/// let sent = order.publish(&buffered).await?; // when SQS has it
/// println!("{}", sent.message_id);
/// buffered.close().await?; // at the end of the program
/// # Ok(())
/// # }
/// ```
///
/// - A publish resolves when the fate of its own message is known, like that of an
///   [`SqsPublisher`]; ten that come within the linger leave by one call. A lone one waits for
///   the linger, 5 ms unless set.
/// - The buffer is bounded by messages and by bytes. A publish waits for room, up to the
///   `send_timeout` of the publisher; from then on its message is tried for as long again. So a
///   publish ends within twice that time.
/// - A publish that is dropped while it waits for room sends nothing. Once the buffer has the
///   message it goes out whether anybody waits for it or not; a failure is then logged.
/// - On a FIFO queue a group has one call under way at a time, messages of a group keep the order
///   in which they were given, and those that stand behind one that was not sent come back as
///   [`PublishError::NotAttempted`].
/// - A message that is offloaded is given to the buffer when its body is in the store.
/// - [`close`](Self::close) it at the end. Dropped without that, what is in the buffer is not sent
///   and this is logged as an error.
///
/// It belongs to the tokio runtime of its first publish.
#[derive(Clone, Debug)]
pub struct BufferedPublisher {
    handle: Arc<Handle>,
}

/// Held by all clones together: the last one to go ends the worker.
#[derive(Debug)]
struct Handle {
    shared: Arc<Shared>,
    orders: mpsc::UnboundedSender<Order>,
    /// What the worker will be made of, at the first publish.
    idle: Mutex<Option<(mpsc::UnboundedReceiver<Order>, watch::Sender<Ending>)>>,
    ended: watch::Receiver<Ending>,
}

/// What the worker and the callers share.
#[derive(Debug)]
struct Shared {
    publisher: SqsPublisher,
    rules: Rules,
    places: Arc<Semaphore>,
    bytes: Arc<Semaphore>,
    /// Messages that the buffer has and whose fate is open.
    open: AtomicUsize,
    closed: AtomicBool,
}

/// What the worker is asked for.
#[derive(Debug)]
enum Order {
    Send(Arc<Request>, Reply),
    Flush(oneshot::Sender<Result<(), FlushError>>),
    Close(Option<Instant>),
}

/// Where the result of a message goes, and the room that the message takes until then.
#[derive(Debug)]
struct Reply {
    caller: oneshot::Sender<Result<Published, PublishError>>,
    _room: [OwnedSemaphorePermit; 2],
    /// Counts it as buffered.
    _buffered: Held,
}

impl BufferedPublisher {
    /// Buffers for a publisher, with the default settings. Does no I/O.
    pub fn new(publisher: SqsPublisher) -> Self {
        Self::builder(publisher).assemble()
    }

    /// Starts a buffered publisher with settings. Those of the publisher hold too: its queue, its
    /// groups, its limits, its retries.
    pub fn builder(publisher: SqsPublisher) -> BufferedPublisherBuilder {
        BufferedPublisherBuilder::new(publisher)
    }

    fn from_parts(publisher: SqsPublisher, rules: Rules, places: usize, bytes: usize) -> Self {
        let (orders, receiver) = mpsc::unbounded_channel();
        let (ending, ended) = watch::channel(Ending::default());
        let shared = Shared {
            publisher,
            rules,
            places: Arc::new(Semaphore::new(places)),
            bytes: Arc::new(Semaphore::new(bytes)),
            open: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
        };
        let handle = Handle {
            shared: Arc::new(shared),
            orders,
            idle: Mutex::new(Some((receiver, ending))),
            ended,
        };
        Self {
            handle: Arc::new(handle),
        }
    }

    /// Name of the queue.
    pub fn queue(&self) -> &str {
        self.handle.shared.publisher.queue()
    }

    /// Publishes `data` under a URN that is known only at run time, as
    /// [`SqsPublisher::publish_json`] does.
    pub fn publish_json<T>(&self, urn: impl Into<String>, data: &T) -> PublishBuilder<'_, Self>
    where
        T: Serialize + ?Sized,
    {
        PublishBuilder::new(self, Draft::new(urn.into(), data))
    }

    /// Sends what the buffer has without waiting for more, and resolves when the fate of every
    /// message that it had at this moment is known: within the publisher's `send_timeout`.
    ///
    /// # Errors
    /// [`FlushError`] when some of those messages were not sent, or may not have been. Their own
    /// callers are told why.
    pub async fn flush(&self) -> Result<(), FlushError> {
        let (reply, answer) = oneshot::channel();
        self.handle.start();
        if self.handle.orders.send(Order::Flush(reply)).is_err() {
            return Ok(()); // Closed before: nothing is left.
        }
        answer.await.unwrap_or_else(|_| Err(self.handle.lost()))
    }

    /// Takes no more messages, sends what the buffer has, and resolves when the fate of each is
    /// known: within the publisher's `send_timeout`. Publishes that still wait for room, and all
    /// that come later, fail with [`PublishError::Closed`]. It closes all clones.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub async fn close(&self) -> Result<(), FlushError> {
        self.handle.close(None).await
    }

    /// As [`close`](Self::close), and gives up when the time is over: what waits then fails with
    /// [`PublishError::NotAttempted`], and what is in a call with [`PublishError::Abandoned`],
    /// because its fate is unknown. Of several calls of `close` the first one's time counts.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub async fn close_within(&self, time: Duration) -> Result<(), FlushError> {
        self.handle.close(Some(Instant::now() + time)).await
    }
}

impl Publish for BufferedPublisher {
    fn send(&self, mut draft: Draft) -> BoxFuture<'_, Result<Published, PublishError>> {
        Box::pin(async move {
            let publishing = self
                .handle
                .shared
                .publisher
                .observer()
                .publishing(&mut draft);
            let result = publishing.scope(self.buffer(draft)).await;
            publishing.end(&result);
            result
        })
    }
}

impl BufferedPublisher {
    /// Puts a message into the buffer, and waits for its fate.
    async fn buffer(&self, draft: Draft) -> Result<Published, PublishError> {
        let Handle { shared, orders, .. } = &*self.handle;
        let publisher = &shared.publisher;
        publisher.check()?;
        let mut request = from_draft(draft, publisher.frame())?;
        request.fit(publisher.settings(), publisher.max_bytes().await)?;
        publisher.store(&request).await?;
        let room = shared.room(request.size).await?;
        self.handle.start();
        let (caller, result) = oneshot::channel();
        let reply = Reply {
            caller,
            _room: room,
            _buffered: publisher.observer().buffered(),
        };
        // Counted first: the worker may be done with it before this goes on.
        shared.open.fetch_add(1, Ordering::Relaxed);
        if let Err(unsent) = orders.send(Order::Send(Arc::new(request), reply)) {
            drop(unsent);
            shared.open.fetch_sub(1, Ordering::Relaxed);
            return Err(shared.refusal());
        }
        let abandoned = |_| {
            Err(PublishError::Abandoned {
                queue: self.queue().to_owned(),
                refused: false,
            })
        };
        result.await.unwrap_or_else(abandoned)
    }
}

impl Shared {
    /// Waits for room for a message of so many bytes.
    async fn room(&self, bytes: usize) -> Result<[OwnedSemaphorePermit; 2], PublishError> {
        let deadline = Instant::now() + self.rules.retry.timeout;
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let permits = async {
            let place = Arc::clone(&self.places).acquire_owned().await?;
            let bytes = Arc::clone(&self.bytes).acquire_many_owned(bytes).await?;
            Ok([place, bytes])
        };
        match timeout_at(deadline, permits).await {
            Ok(Ok(room)) => Ok(room),
            Ok(Err(tokio::sync::AcquireError { .. })) => Err(self.refusal()),
            Err(_) => Err(PublishError::Full {
                queue: self.publisher.queue().to_owned(),
            }),
        }
    }

    /// Why the buffer takes nothing: it was closed, or its runtime is gone.
    fn refusal(&self) -> PublishError {
        let queue = self.publisher.queue().to_owned();
        if self.closed.load(Ordering::Relaxed) {
            return PublishError::Closed { queue };
        }
        PublishError::Abandoned {
            queue,
            refused: true,
        }
    }
}

impl Handle {
    /// Starts the worker, the first time.
    fn start(&self) {
        let mut idle = self.idle.lock().unwrap_or_else(|lock| lock.into_inner());
        if let Some((orders, ending)) = idle.take() {
            tokio::spawn(Worker::new(Arc::clone(&self.shared), orders, ending).run());
        }
    }

    async fn close(&self, until: Option<Instant>) -> Result<(), FlushError> {
        self.shared.closed.store(true, Ordering::Relaxed);
        self.shared.places.close();
        self.shared.bytes.close();
        self.start();
        // An error says that it was closed before: then the end is waited for all the same.
        let _ = self.orders.send(Order::Close(until));
        let mut ended = self.ended.clone();
        match ended.wait_for(Ending::is_known).await {
            Ok(ending) => ending.result(),
            Err(_) => Err(self.lost()),
        }
    }

    /// The worker is gone with its runtime, and nobody knows what became of its messages.
    fn lost(&self) -> FlushError {
        FlushError {
            queue: self.shared.publisher.queue().to_owned(),
            refused: 0,
            unknown: self.shared.open.load(Ordering::Relaxed),
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let (queue, open) = (
            self.shared.publisher.queue(),
            self.shared.open.load(Ordering::Relaxed),
        );
        if self.shared.closed.load(Ordering::Relaxed) {
            return;
        }
        if open > 0 {
            tracing::error!(
                { fields::QUEUE } = queue,
                { fields::MESSAGES } = open,
                "a buffered publisher was dropped without `close`: of these messages only those in a \
                 call can still be sent"
            );
        } else {
            tracing::warn!(
                { fields::QUEUE } = queue,
                "a buffered publisher was dropped without `close`: nothing was lost this time"
            );
        }
    }
}
