//! The options that every consumer has, one method each, for the builders of the drivers: written
//! once, so that none can have another meaning here than there.

/// Puts the methods into an `impl` whose type has
/// `fn with_settings(self, change: impl FnOnce(&mut Settings)) -> Self`.
macro_rules! settings_methods {
    () => {
        /// Cancels a handler that runs longer, which fails its message. No limit unless set.
        pub fn handler_timeout(self, timeout: std::time::Duration) -> Self {
            self.with_settings(|settings| settings.handler_timeout = Some(timeout))
        }

        /// The pause before a failed message is tried again: none unless set (SPEC §2.12).
        pub fn retry(self, backoff: $crate::Backoff) -> Self {
            self.with_settings(|settings| settings.backoff = Some(backoff))
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
            F: Fn(u64) -> std::time::Duration + Send + Sync + 'static,
        {
            self.with_settings(|settings| settings.release_delay = Some(std::sync::Arc::new(delay)))
        }

        /// After how many deliveries a failing message is given up: to the dead-letter queue, or left
        /// to the queue's redrive policy. At least 1; never unless set.
        pub fn max_attempts(self, attempts: u32) -> Self {
            self.with_settings(|settings| settings.max_attempts = Some(attempts))
        }

        /// The queue for messages that are beyond help. None unless set (SPEC §2.15).
        pub fn dead_letter_queue(self, queue: $crate::DeadLetterQueue) -> Self {
            self.with_settings(|settings| settings.dead_letter_queue = Some(queue))
        }

        /// The largest record for the dead-letter queue in bytes: 1,048,576 unless set.
        pub fn max_message_bytes(self, bytes: usize) -> Self {
            self.with_settings(|settings| settings.max_message_bytes = bytes)
        }

        /// What becomes of messages that no handler takes (SPEC §2.11).
        pub fn unknown_urn(self, strategy: $crate::UnknownUrn) -> Self {
            self.with_settings(|settings| settings.unknown_urn = Some(strategy))
        }

        /// Is told of every message that no handler takes. Without a strategy, the message is deleted
        /// when the hook succeeds and left when it fails; with one, the strategy applies whatever the
        /// hook says (SPEC §2.11).
        pub fn on_unknown_urn<F, Fut, E>(self, hook: F) -> Self
        where
            F: Fn($crate::Delivery) -> Fut + Send + Sync + 'static,
            Fut: std::future::Future<Output = Result<(), E>> + Send + 'static,
            E: $crate::handler::IntoHandlerError,
        {
            let erased = move |delivery| {
                let run = hook(delivery);
                let run = async move {
                    run.await
                        .map_err($crate::handler::IntoHandlerError::into_handler_error)
                };
                Box::pin(run) as $crate::BoxFuture<'static, _>
            };
            self.with_settings(|settings| settings.unknown_hook = Some(std::sync::Arc::new(erased)))
        }

        /// Is told of every error (SPEC §2.14). Runs between messages and should not block; a panic
        /// is logged and ignored.
        pub fn on_error<F>(self, hook: F) -> Self
        where
            F: Fn(&$crate::ErrorEvent<'_>) + Send + Sync + 'static,
        {
            self.with_settings(|settings| settings.error_hook = Some(std::sync::Arc::new(hook)))
        }

        /// Spans and metrics of what the consumer does (SPEC §3.5): none unless set.
        #[cfg(feature = "otel")]
        pub fn telemetry(self, telemetry: $crate::telemetry::Telemetry) -> Self {
            self.with_settings(|settings| settings.telemetry = telemetry)
        }

        /// Takes secrets out of an error's text before it goes into a dead letter (SPEC §2.15),
        /// the log or a span.
        pub fn redact<F>(self, redact: F) -> Self
        where
            F: Fn(&str) -> String + Send + Sync + 'static,
        {
            self.with_settings(|settings| settings.redact = Some(std::sync::Arc::new(redact)))
        }

        /// Puts a layer around the handlers: tower's own (timeouts, limits) or one of yours over
        /// [`Next`](crate::middleware::Next). The first one given is the outermost. Layers stand inside of the idempotency
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
            L: tower_layer::Layer<$crate::middleware::Next> + Send + Sync + 'static,
            L::Service: tower_service::Service<
                    $crate::middleware::Work,
                    Response = $crate::middleware::Outcomes,
                > + Clone
                + Send
                + Sync
                + 'static,
            <L::Service as tower_service::Service<$crate::middleware::Work>>::Error:
                Into<$crate::BoxError>,
            <L::Service as tower_service::Service<$crate::middleware::Work>>::Future:
                Send + 'static,
        {
            self.with_settings(|settings| settings.layers.push($crate::pipeline::wrap(layer)))
        }

        /// Reads bodies that are no envelopes; may be given several times, and is asked in that
        /// order. See [`decode`](crate::decode) for the ready-made ones.
        pub fn decoder(self, decoder: impl $crate::decode::Decode) -> Self {
            self.with_settings(|settings| settings.decoders.push(std::sync::Arc::new(decoder)))
        }

        /// Handles each message once, by its `meta.id`: a store of what was handled, or an
        /// [`Idempotency`](crate::idempotency::Idempotency) that says more (SPEC §3.1).
        #[cfg(feature = "idempotency")]
        pub fn idempotency(self, store: impl Into<$crate::idempotency::Idempotency>) -> Self {
            let guard = store.into();
            self.with_settings(|settings| settings.guard = Some(guard))
        }

        /// Follows the pointers of large messages: a store, or a
        /// [`Retrieval`](crate::payload_store::Retrieval) that says more. Without it a pointer is
        /// treated as any other body (SPEC §4.10). A batch handler gets large messages one by one.
        #[cfg(feature = "payload-store")]
        pub fn payload_store(self, store: impl Into<$crate::payload_store::Retrieval>) -> Self {
            let retrieval = store.into();
            self.with_settings(|settings| settings.retrieval = Some(retrieval))
        }

        /// Validates payloads before their handlers; URNs without a schema are not validated. A
        /// violation fails the message as a handler's error does (SPEC §3.6).
        #[cfg(feature = "schema")]
        pub fn validate_payloads(
            self,
            schemas: impl $crate::schema::SchemaProvider + 'static,
        ) -> Self {
            self.with_settings(|settings| settings.schemas = Some(std::sync::Arc::new(schemas)))
        }

        /// Gives a message up at once when its payload violates its schema, in place of retrying it.
        #[cfg(feature = "schema")]
        pub fn permanent_schema_errors(self) -> Self {
            self.with_settings(|settings| settings.permanent_schema_errors = true)
        }

        /// Accepts envelopes without attempts, data, trace id or meta, filling in defaults
        /// (SPEC §2.10).
        pub fn lenient(self) -> Self {
            self.with_settings(|settings| settings.lenient = true)
        }

        /// Retries a payload that does not deserialise, as any other failure, in place of giving it up
        /// at once (SPEC §2.12).
        pub fn retry_payload_errors(self) -> Self {
            self.with_settings(|settings| settings.retry_payload_errors = true)
        }

        /// `dead_letter.lang`, `rust` unless set (SPEC §1.7).
        pub fn lang(self, lang: impl Into<std::borrow::Cow<'static, str>>) -> Self {
            self.with_settings(|settings| settings.lang = lang.into())
        }
    };
}

pub(crate) use settings_methods;
