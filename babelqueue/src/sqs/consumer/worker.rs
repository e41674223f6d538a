//! [`SqsConsumer`]: what a service builds and runs.

use std::any::Any;
use std::future::Future;
use std::sync::Arc;

use aws_sdk_sqs::Client;

use super::builder::SqsConsumerBuilder;
use super::driver::Driver;
use super::error::RunError;
use super::group::ConsumerGroup;
use super::handle::Handle;
use super::shared::Shared;
use super::signal::SecondSignal;
use crate::BoxFuture;

/// Consumes one queue: receives messages, runs their handlers concurrently, and settles each of
/// them (SPEC part 2).
///
/// ```no_run
/// # async fn run(sqs: aws_sdk_sqs::Client) -> Result<(), babelqueue::Error> {
/// use std::time::Duration;
/// use babelqueue::prelude::*;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize, BabelMessage)]
/// # #[urn = "urn:babel:orders:created"]
/// # struct OrderCreated {}
/// #[babel_handler]
/// async fn order_created(order: OrderCreated) { /* … */ }
///
/// let url = "https://sqs.eu-west-1.amazonaws.com/1234/orders";
/// SqsConsumer::builder(sqs, url, Router::from_handlers![order_created])
///     .concurrency(64)
///     .retry(Backoff::exponential(Duration::from_secs(5)).jitter(Jitter::Full))
///     .max_attempts(5)
///     .dead_letter_queue(DeadLetterQueue::default_name())
///     .build()?
///     .run_until(shutdown_signal())
///     .await?;
/// # Ok(())
/// # }
/// ```
pub struct SqsConsumer {
    shared: Arc<Shared>,
}

impl SqsConsumer {
    /// Starts a consumer of the queue with this URL. `router` is what
    /// [`Router::from_handlers!`](crate::Router::from_handlers) returns.
    pub fn builder<R>(
        client: Client,
        queue_url: impl Into<String>,
        router: R,
    ) -> SqsConsumerBuilder<R> {
        SqsConsumerBuilder::new(client, queue_url.into(), router)
    }

    pub(super) fn new(shared: Shared) -> Self {
        Self {
            shared: Arc::new(shared),
        }
    }

    /// A handle to stop, pause and observe the consumer with.
    pub fn handle(&self) -> Handle {
        Handle::new(Arc::clone(&self.shared.control))
    }

    /// Name of the queue.
    pub fn queue(&self) -> &str {
        self.shared.queue()
    }

    /// Runs until [`Handle::stop`] is called, then drains and returns. A run uses the consumer up,
    /// so that two loops never poll for one:
    ///
    /// ```compile_fail,E0382
    /// # async fn twice(consumer: babelqueue::SqsConsumer) {
    /// let first = consumer.run();
    /// let second = consumer.run(); // the consumer is gone
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`RunError::QueueDoesNotExist`], at the start; nothing else ends a run.
    pub async fn run(self) -> Result<(), RunError> {
        self.run_until(std::future::pending::<()>()).await
    }

    /// Runs until `signal` completes or [`Handle::stop`] is called, then drains and returns: no
    /// handler runs after that (SPEC §2.17). Any future will do;
    /// [`shutdown_signal`](super::shutdown_signal) also listens for a second signal, which forces
    /// the end. It runs in a task of its own, on the runtime that this is awaited on.
    ///
    /// Dropping the returned future cancels the handlers and settles nothing: messages in flight
    /// come again after their visibility timeout.
    ///
    /// # Errors
    /// [`RunError::QueueDoesNotExist`], at the start; nothing else ends a run.
    pub async fn run_until<F>(self, signal: F) -> Result<(), RunError>
    where
        F: Future,
        F::Output: 'static,
    {
        // A group of one: its consumer runs in a task of its own. The caller is often the main
        // thread, which is no worker of the runtime: each handler that ends would have to wake it.
        ConsumerGroup::new().consumer(self).run_until(signal).await
    }

    pub(super) fn into_shared(self) -> Arc<Shared> {
        self.shared
    }

    /// Makes one receive, handles what it brings to the end, and says what became of it. For jobs
    /// that are started by something else, and for tests. While the consumer is paused it waits
    /// for [`Handle::resume`]; after [`Handle::stop`] it receives nothing.
    ///
    /// # Errors
    /// [`RunError::Receive`] when the receive fails.
    pub async fn poll(&self) -> Result<PollSummary, RunError> {
        Driver::new(Arc::clone(&self.shared)).run_once().await
    }
}

impl std::fmt::Debug for SqsConsumer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqsConsumer")
            .field("config", &self.shared.config)
            .finish_non_exhaustive()
    }
}

/// A signal with its second stage, if it has one.
pub(super) async fn stages<F>(signal: F) -> Option<BoxFuture<'static, ()>>
where
    F: Future,
    F::Output: 'static,
{
    let ended: Box<dyn Any> = Box::new(signal.await);
    ended.downcast::<SecondSignal>().ok().map(|second| second.0)
}

/// What became of the messages of one [`SqsConsumer::poll`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PollSummary {
    /// Messages received.
    pub received: usize,
    /// Messages whose handler succeeded.
    pub handled: usize,
    /// Messages whose handler failed.
    pub failed: usize,
    /// Messages copied to the dead-letter queue.
    pub dead_lettered: usize,
    /// Messages deleted.
    pub deleted: usize,
    /// Messages made visible again.
    pub released: usize,
    /// Messages left to their visibility timeout.
    pub left: usize,
}
