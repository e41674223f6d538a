//! The settings of a consumer, one method each.

use std::sync::Arc;
use std::time::Duration;

use aws_sdk_sqs::Client;

use super::config;
use super::options::Options;
use super::worker::SqsConsumer;
use crate::aws::{BuildError, Settings};
use crate::handler::SharedState;
use crate::pipeline::Bound;
use crate::router::Routes;

/// Makes an [`SqsConsumer`]; start with [`SqsConsumer::builder`]. A clone is a template: give it
/// another [`queue_url`](Self::queue_url) to consume several queues alike.
#[derive(Clone)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct SqsConsumerBuilder<R, S = ()> {
    client: Client,
    queue_url: String,
    router: R,
    state: S,
    options: Options,
}

impl<R> SqsConsumerBuilder<R> {
    pub(super) fn new(client: Client, queue_url: String, router: R) -> Self {
        Self {
            client,
            queue_url,
            router,
            state: (),
            options: Options::default(),
        }
    }
}

impl<R, S> SqsConsumerBuilder<R, S> {
    fn with(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(&mut self.options);
        self
    }

    fn with_settings(self, change: impl FnOnce(&mut Settings)) -> Self {
        self.with(|options| change(&mut options.settings))
    }

    /// The state that handlers take parts of with `State<T>`.
    pub fn state<T>(self, state: T) -> SqsConsumerBuilder<R, T> {
        let Self {
            client,
            queue_url,
            router,
            state: _,
            options,
        } = self;
        SqsConsumerBuilder {
            client,
            queue_url,
            router,
            state,
            options,
        }
    }

    /// The queue to consume from, in place of the one that the builder was begun with.
    pub fn queue_url(mut self, queue_url: impl Into<String>) -> Self {
        self.queue_url = queue_url.into();
        self
    }

    /// How many handlers run at a time: 10 unless set. With 1, messages are handled one by one in
    /// the order of their receipt.
    pub fn concurrency(self, handlers: usize) -> Self {
        self.with(|options| options.concurrency = handlers)
    }

    /// How many messages are received and not yet settled: `concurrency` + 20 unless set. Counts
    /// those that wait for a handler and those whose delete is not confirmed.
    pub fn max_in_flight(self, messages: usize) -> Self {
        self.with(|options| options.max_in_flight = Some(messages))
    }

    /// How many bytes of bodies may be in flight before receives pause; not bounded unless set.
    /// One receive per open poll may go over it.
    pub fn max_in_flight_bytes(self, bytes: usize) -> Self {
        self.with(|options| options.max_in_flight_bytes = Some(bytes))
    }

    /// How many messages a receive asks for at most: 1 to 10, 10 unless set.
    pub fn batch_size(self, messages: usize) -> Self {
        self.with(|options| options.batch_size = messages)
    }

    /// How many messages a batch handler gets at most, 10 unless set, and how long the first of
    /// them waits for others, 200 ms unless set. At most `max_in_flight`, and only on standard
    /// queues; a batch takes one of the places of `concurrency`.
    pub fn handler_batch(self, messages: usize, linger: Duration) -> Self {
        self.with(|options| {
            options.handler_batch = messages;
            options.handler_linger = linger;
        })
    }

    /// How long a receive waits for a message: whole seconds up to 20, 20 unless set.
    pub fn wait_time(self, wait: Duration) -> Self {
        self.with(|options| options.wait_time = wait)
    }

    /// The visibility timeout of received messages: whole seconds up to 12 h. Unless set, the
    /// queue's own applies and is read from its attributes.
    pub fn visibility_timeout(self, timeout: Duration) -> Self {
        self.with(|options| options.visibility_timeout = Some(timeout))
    }

    /// Whether the visibility of messages in flight is renewed, at half of the timeout: on unless
    /// switched off (SPEC §2.16).
    pub fn heartbeat(self, on: bool) -> Self {
        self.with(|options| options.heartbeat = on)
    }

    /// How long a message is kept invisible by renewals, from its receive: 1 h unless set, up to
    /// 11 h 59 min. A handler that hangs loses its message then.
    pub fn max_handling_time(self, time: Duration) -> Self {
        self.with(|options| options.max_handling_time = time)
    }

    /// How long running handlers may go on after the stop signal: 20 s unless set; zero cancels
    /// them at once (SPEC §2.17).
    pub fn shutdown_timeout(self, timeout: Duration) -> Self {
        self.with(|options| options.shutdown_timeout = timeout)
    }

    /// How long open long polls may still be answered after the stop signal: 250 ms unless set.
    pub fn shutdown_linger(self, linger: Duration) -> Self {
        self.with(|options| options.shutdown_linger = linger)
    }

    /// Whether the queue's attributes are read and judged at the start: on unless switched off.
    /// One `GetQueueAttributes` of the queue, and where a dead-letter queue is configured one of
    /// that. What does not fit is told once each, as a warning; that the queue does not exist ends
    /// the run.
    pub fn startup_checks(self, on: bool) -> Self {
        self.with(|options| options.startup_checks = on)
    }

    crate::aws::settings_methods!();

    /// Checks the settings and makes the consumer. Does no I/O.
    ///
    /// # Errors
    /// [`BuildError`], which says what to change.
    pub fn build(self) -> Result<SqsConsumer, BuildError>
    where
        R: Routes<S>,
        S: SharedState,
    {
        let Self {
            client,
            queue_url,
            router,
            state,
            options,
        } = self;
        let dispatch = Arc::new(Bound::new(router, state));
        config::assemble(client, queue_url, options, dispatch).map(SqsConsumer::new)
    }
}

impl<R, S> std::fmt::Debug for SqsConsumerBuilder<R, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqsConsumerBuilder")
            .field("queue_url", &self.queue_url)
            .finish_non_exhaustive()
    }
}
