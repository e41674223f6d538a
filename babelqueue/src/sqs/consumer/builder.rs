//! The settings of a consumer, one method each.

use std::borrow::Cow;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_sqs::Client;
use tower_layer::Layer;
use tower_service::Service;

use super::config;
use super::error::BuildError;
use super::options::Options;
use super::worker::SqsConsumer;
use crate::BoxError;
use crate::context::Delivery;
use crate::handler::{IntoHandlerError, SharedState};
use crate::pipeline::foreign::Decode;
use crate::pipeline::middleware::{Next, Outcomes, Work};
use crate::pipeline::{Bound, ErrorEvent, wrap};
use crate::policy::{Backoff, DeadLetterQueue, UnknownUrn};
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

    /// Cancels a handler that runs longer, which fails its message. No limit unless set.
    pub fn handler_timeout(self, timeout: Duration) -> Self {
        self.with(|options| options.handler_timeout = Some(timeout))
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
    pub fn startup_checks(self, on: bool) -> Self {
        self.with(|options| options.startup_checks = on)
    }

    /// The pause before a failed message is tried again: none unless set (SPEC §2.12).
    pub fn retry(self, backoff: Backoff) -> Self {
        self.with(|options| options.backoff = backoff)
    }

    /// A fixed pause, or a function of the attempts so far, in place of the backoff
    /// (SPEC §2.12).
    ///
    /// ```no_run
    /// # fn builder(sqs: aws_sdk_sqs::Client) {
    /// # use std::time::Duration;
    /// # use babelqueue::prelude::*;
    /// # let router = Router::from_handlers![];
    /// SqsConsumer::builder(sqs, "https://sqs.eu-west-1.amazonaws.com/1234/orders", router)
    ///     .release_delay(|attempts| Duration::from_secs(30 * (attempts + 1)));
    /// # }
    /// ```
    pub fn release_delay<F>(self, delay: F) -> Self
    where
        F: Fn(u64) -> Duration + Send + Sync + 'static,
    {
        self.with(|options| options.release_delay = Some(Arc::new(delay)))
    }

    /// After how many deliveries a failing message is given up: to the dead-letter queue, or left
    /// to the queue's redrive policy. At least 1; never unless set.
    pub fn max_attempts(self, attempts: u32) -> Self {
        self.with(|options| options.max_attempts = Some(attempts))
    }

    /// The queue for messages that are beyond help. None unless set (SPEC §2.15).
    pub fn dead_letter_queue(self, queue: DeadLetterQueue) -> Self {
        self.with(|options| options.dead_letter_queue = Some(queue))
    }

    /// The largest record for the dead-letter queue in bytes: 1,048,576 unless set.
    pub fn max_message_bytes(self, bytes: usize) -> Self {
        self.with(|options| options.max_message_bytes = bytes)
    }

    /// What becomes of messages that no handler takes (SPEC §2.11).
    pub fn unknown_urn(self, strategy: UnknownUrn) -> Self {
        self.with(|options| options.unknown_urn = Some(strategy))
    }

    /// Is told of every message that no handler takes. Without a strategy, the message is deleted
    /// when the hook succeeds and left when it fails; with one, the strategy applies whatever the
    /// hook says (SPEC §2.11).
    pub fn on_unknown_urn<F, Fut, E>(self, hook: F) -> Self
    where
        F: Fn(Delivery) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: IntoHandlerError,
    {
        let erased = move |delivery| {
            let run = hook(delivery);
            let run = async move { run.await.map_err(IntoHandlerError::into_handler_error) };
            Box::pin(run) as crate::BoxFuture<'static, _>
        };
        self.with(|options| options.unknown_hook = Some(Arc::new(erased)))
    }

    /// Is told of every error (SPEC §2.14). Runs between messages and should not block; a panic
    /// is logged and ignored.
    pub fn on_error<F>(self, hook: F) -> Self
    where
        F: Fn(&ErrorEvent<'_>) + Send + Sync + 'static,
    {
        self.with(|options| options.error_hook = Some(Arc::new(hook)))
    }

    /// Takes secrets out of an error's text before it goes into a dead letter (SPEC §2.15), the log
    /// or a span.
    pub fn redact<F>(self, redact: F) -> Self
    where
        F: Fn(&str) -> String + Send + Sync + 'static,
    {
        self.with(|options| options.redact = Some(Arc::new(redact)))
    }

    /// Puts a layer around the handlers: tower's own (timeouts, limits) or one of yours over
    /// [`Next`]. The first one given is the outermost. Layers stand inside of the idempotency
    /// guard, and outside of the validation of payloads and of the `handler_timeout`
    /// (SPEC §2.7); a layer that is not ready keeps its message waiting.
    ///
    /// ```
    /// # fn builder(sqs: aws_sdk_sqs::Client) {
    /// # use babelqueue::prelude::*;
    /// use babelqueue::middleware::Next;
    /// # #[derive(Clone)]
    /// # struct Audited(Next);
    /// # impl tower_service::Service<babelqueue::middleware::Work> for Audited {
    /// #     type Response = babelqueue::middleware::Outcomes;
    /// #     type Error = babelqueue::BoxError;
    /// #     type Future = babelqueue::BoxFuture<'static, Result<Self::Response, Self::Error>>;
    /// #     fn poll_ready(&mut self, cx: &mut std::task::Context<'_>)
    /// #         -> std::task::Poll<Result<(), Self::Error>> { self.0.poll_ready(cx) }
    /// #     fn call(&mut self, work: babelqueue::middleware::Work) -> Self::Future {
    /// #         self.0.call(work)
    /// #     }
    /// # }
    /// # let router = Router::from_handlers![];
    /// SqsConsumer::builder(sqs, "https://sqs.eu-west-1.amazonaws.com/1234/orders", router)
    ///     .layer(tower_layer::layer_fn(|next: Next| Audited(next)));
    /// # }
    /// ```
    pub fn layer<L>(self, layer: L) -> Self
    where
        L: Layer<Next> + Send + Sync + 'static,
        L::Service: Service<Work, Response = Outcomes> + Clone + Send + Sync + 'static,
        <L::Service as Service<Work>>::Error: Into<BoxError>,
        <L::Service as Service<Work>>::Future: Send + 'static,
    {
        self.with(|options| options.layers.push(wrap(layer)))
    }

    /// Reads bodies that are no envelopes; may be given several times, and is asked in that
    /// order. See [`decode`](crate::decode) for the ready-made ones.
    pub fn decoder(self, decoder: impl Decode) -> Self {
        self.with(|options| options.decoders.push(Arc::new(decoder)))
    }

    /// Handles each message once, by its `meta.id`: a store of what was handled, or an
    /// [`Idempotency`](crate::idempotency::Idempotency) that says more (SPEC §3.1).
    #[cfg(feature = "idempotency")]
    pub fn idempotency(self, store: impl Into<crate::idempotency::Idempotency>) -> Self {
        let guard = store.into();
        self.with(|options| options.guard = Some(guard))
    }

    /// Validates payloads before their handlers; URNs without a schema are not validated. A
    /// violation fails the message as a handler's error does (SPEC §3.6).
    #[cfg(feature = "schema")]
    pub fn validate_payloads(self, schemas: impl crate::schema::SchemaProvider + 'static) -> Self {
        self.with(|options| options.schemas = Some(Arc::new(schemas)))
    }

    /// Gives a message up at once when its payload violates its schema, in place of retrying it.
    #[cfg(feature = "schema")]
    pub fn permanent_schema_errors(self) -> Self {
        self.with(|options| options.permanent_schema_errors = true)
    }

    /// Accepts envelopes without attempts, data, trace id or meta, filling in defaults
    /// (SPEC §2.10).
    pub fn lenient(self) -> Self {
        self.with(|options| options.lenient = true)
    }

    /// Retries a payload that does not deserialise, as any other failure, in place of giving it up
    /// at once (SPEC §2.12).
    pub fn retry_payload_errors(self) -> Self {
        self.with(|options| options.retry_payload_errors = true)
    }

    /// `dead_letter.lang`, `rust` unless set (SPEC §1.7).
    pub fn lang(self, lang: impl Into<Cow<'static, str>>) -> Self {
        self.with(|options| options.lang = lang.into())
    }

    /// Spans and metrics of what the consumer does (SPEC §3.5): none unless set.
    #[cfg(feature = "otel")]
    pub fn telemetry(self, telemetry: crate::telemetry::Telemetry) -> Self {
        self.with(|options| options.telemetry = telemetry)
    }

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
