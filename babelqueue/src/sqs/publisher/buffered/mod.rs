//! [`BufferedPublisher`]: publishes of many tasks meet in one buffer and leave it in batches. No
//! task stands between them: who brings the last message of a request starts its call, and the
//! call tells its callers what came of it ([`shared`], over the decisions of [`state`]).

mod builder;
mod flush;
mod shared;
mod state;

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::Instant;

pub use self::builder::BufferedPublisherBuilder;
pub use self::flush::FlushError;

use self::shared::Shared;
use super::offload::is_offloaded;
use super::outbox::Rules;
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
/// It belongs to the tokio runtime of its first publish or flush.
#[derive(Clone, Debug)]
pub struct BufferedPublisher {
    handle: Arc<Handle>,
}

/// Held by all clones together: the last one to go ends it.
#[derive(Debug)]
struct Handle {
    shared: Arc<Shared>,
}

/// A place in the buffer, and so many of its bytes.
type Room = [OwnedSemaphorePermit; 2];

/// Where the result of a message goes, and the room that the message takes until then.
#[derive(Debug)]
struct Reply {
    caller: oneshot::Sender<Result<Published, PublishError>>,
    _room: Room,
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
        let shared = Arc::new(Shared::new(publisher, rules, places, bytes));
        Self {
            handle: Arc::new(Handle { shared }),
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
        self.handle.shared.flush().await
    }

    /// Takes no more messages, sends what the buffer has, and resolves when the fate of each is
    /// known: within the publisher's `send_timeout`. Publishes that still wait for room, and all
    /// that come later, fail with [`PublishError::Closed`]. It closes all clones.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub async fn close(&self) -> Result<(), FlushError> {
        self.handle.shared.close(None).await
    }

    /// As [`close`](Self::close), and gives up when the time is over: what waits then fails with
    /// [`PublishError::NotAttempted`], and what is in a call with [`PublishError::Abandoned`],
    /// because its fate is unknown. Of several calls of `close` the first one's time counts.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub async fn close_within(&self, time: Duration) -> Result<(), FlushError> {
        let until = Instant::now() + time;
        self.handle.shared.close(Some(until)).await
    }
}

impl Publish for BufferedPublisher {
    fn send(&self, mut draft: Draft) -> BoxFuture<'_, Result<Published, PublishError>> {
        Box::pin(async move {
            let shared = &self.handle.shared;
            let publisher = &shared.publisher;
            let publishing = publisher.observer().publishing(&mut draft);
            let limit = publisher.limit().await;
            let request = limit.and_then(|max_bytes| {
                let request = publisher.fitting(draft, max_bytes)?;
                Ok((request, max_bytes))
            });
            let sending = async {
                let (request, max_bytes) = request?;
                if is_offloaded(&request) {
                    Box::pin(publisher.store(&request)).await?;
                }
                shared.publish(request, max_bytes).await
            };
            let result = publishing.scope(sending).await;
            publishing.end(&result);
            result
        })
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let Some(open) = self.shared.drop_handle() else {
            return;
        };
        let queue = self.shared.publisher.queue();
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
