//! Several consumers in one process, with one shutdown.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::driver::{Driver, Signal, Stop};
use super::error::{BuildError, RunError};
use super::handle::Handle;
use super::worker::{SqsConsumer, stages};
use crate::BoxFuture;

/// Consumers of several queues that run, and stop, together.
///
/// Each consumer keeps its own settings. They share nothing but the shutdown, unless they are told
/// to share their [concurrency](Self::shared_concurrency).
///
/// ```no_run
/// # async fn run(sqs: aws_sdk_sqs::Client) -> Result<(), babelqueue::Error> {
/// use babelqueue::prelude::*;
///
/// # let router = Router::from_handlers![];
/// let url = |queue| format!("https://sqs.eu-west-1.amazonaws.com/1234/{queue}");
/// let orders = SqsConsumer::builder(sqs, url("orders"), router).max_attempts(5);
/// let refunds = orders.clone().queue_url(url("refunds")).concurrency(2);
/// ConsumerGroup::new()
///     .consumer(orders.build()?)
///     .consumer(refunds.build()?)
///     .shared_concurrency(16)?
///     .run_until(shutdown_signal())
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
#[must_use = "a group does nothing until it runs"]
pub struct ConsumerGroup {
    consumers: Vec<SqsConsumer>,
    places: Option<Arc<Semaphore>>,
}

impl ConsumerGroup {
    /// A group without consumers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a consumer.
    pub fn consumer(mut self, consumer: SqsConsumer) -> Self {
        self.consumers.push(consumer);
        self
    }

    /// How many handlers of all consumers together run at a time; not bounded unless set. Each
    /// consumer's own `concurrency` holds besides. Who has waited longest comes first.
    ///
    /// # Errors
    /// [`BuildError::Range`] for 0, with which nothing would ever run.
    pub fn shared_concurrency(mut self, handlers: usize) -> Result<Self, BuildError> {
        if !(1..=Semaphore::MAX_PERMITS).contains(&handlers) {
            let range = "at least 1";
            return Err(BuildError::range("shared_concurrency", handlers, range));
        }
        self.places = Some(Arc::new(Semaphore::new(handlers)));
        Ok(self)
    }

    /// A handle to stop, pause and observe the consumers with.
    pub fn handle(&self) -> GroupHandle {
        let handle = |consumer: &SqsConsumer| (consumer.queue().into(), consumer.handle());
        GroupHandle {
            handles: self.consumers.iter().map(handle).collect(),
        }
    }

    /// Runs until all consumers are stopped by their handles.
    ///
    /// # Errors
    /// Those of [`run_until`](Self::run_until).
    pub async fn run(self) -> Result<(), RunError> {
        self.run_until(std::future::pending::<()>()).await
    }

    /// Runs all consumers, each in a task of its own, until `signal` completes or all of them are
    /// stopped by their handles; then they drain side by side (SPEC §2.17). A second signal of
    /// [`shutdown_signal`](super::shutdown_signal) forces all of them. A group without consumers
    /// returns at once.
    ///
    /// Dropping the returned future cancels all handlers and settles nothing.
    ///
    /// # Errors
    /// The first error of a consumer ([`RunError::QueueDoesNotExist`], at the start); the others
    /// are stopped then, and drained before this returns.
    ///
    /// # Panics
    /// When a consumer's own task has panicked, which no handler of yours can bring about.
    pub async fn run_until<F>(self, signal: F) -> Result<(), RunError>
    where
        F: Future,
        F::Output: 'static,
    {
        let stage = watch::Sender::new(Stage::Running);
        let mut runs = JoinSet::new();
        for consumer in self.consumers {
            let driver = Driver::new(consumer.into_shared()).sharing(self.places.clone());
            runs.spawn(driver.run(Stop::by(follow(stage.subscribe()))));
        }
        let mut stop = Stop::by(stages(signal));
        let mut result = Ok(());
        loop {
            tokio::select! {
                biased;
                signal = stop.next() => {
                    stage.send_replace(match signal {
                        Signal::Stop => Stage::Stopping,
                        Signal::Force => Stage::Forced,
                    });
                }
                ended = runs.join_next() => match ended {
                    None => return result,
                    Some(Ok(Ok(()))) => {}
                    Some(Ok(Err(error))) => {
                        result = result.and(Err(error));
                        stage.send_modify(|stage| *stage = (*stage).max(Stage::Stopping));
                    }
                    Some(Err(error)) => {
                        if let Ok(panic) = error.try_into_panic() {
                            std::panic::resume_unwind(panic);
                        }
                    }
                },
            }
        }
    }
}

impl fmt::Debug for ConsumerGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queues = self.consumers.iter().map(SqsConsumer::queue);
        f.debug_list().entries(queues).finish()
    }
}

/// How far the group has got; a consumer follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Running,
    Stopping,
    Forced,
}

/// The group's signals as those of one consumer.
async fn follow(mut stage: watch::Receiver<Stage>) -> Option<BoxFuture<'static, ()>> {
    reach(&mut stage, Stage::Stopping).await;
    Some(Box::pin(
        async move { reach(&mut stage, Stage::Forced).await },
    ))
}

async fn reach(stage: &mut watch::Receiver<Stage>, at: Stage) {
    if stage.wait_for(|stage| *stage >= at).await.is_err() {
        // The group is gone, and takes its consumers along.
        std::future::pending::<()>().await;
    }
}

/// Controls the consumers of a group while they run. Cheap to clone; take it before the run.
#[derive(Clone, Debug)]
pub struct GroupHandle {
    handles: Arc<[(Arc<str>, Handle)]>,
}

impl GroupHandle {
    /// Stops all consumers (SPEC §2.17).
    pub fn stop(&self) {
        self.handles().for_each(|(_, handle)| handle.stop());
    }

    /// Starts no new receives until [`resume`](Self::resume).
    pub fn pause(&self) {
        self.handles().for_each(|(_, handle)| handle.pause());
    }

    /// Receives again.
    pub fn resume(&self) {
        self.handles().for_each(|(_, handle)| handle.resume());
    }

    /// The consumers' own handles with the names of their queues, in the order in which they were
    /// added: for counters and health.
    pub fn handles(&self) -> impl ExactSizeIterator<Item = (&str, &Handle)> {
        self.handles
            .iter()
            .map(|(queue, handle)| (&**queue, handle))
    }
}
