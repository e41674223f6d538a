//! What a consumer can be told of its messages, whatever brings them, before it is checked: one
//! plain struct, so that a setting cannot get lost between builder and pipeline.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use super::BuildError;
use crate::envelope::LANG;
use crate::error_text::Redact;
use crate::pipeline::foreign::Decode;
use crate::pipeline::{
    Clock, Counters, DeadLetterTarget, Dispatch, ErrorHook, Handling, Next, Pipeline, ReleaseDelay,
    Reporter, UnknownHook, Wrap,
};
use crate::policy::{Backoff, DeadLetterQueue, Rules, UnknownUrn, is_fifo, queue_name};
use crate::telemetry::Telemetry;

/// Every option with its default.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) handler_timeout: Option<Duration>,
    /// `None` unless set.
    pub(crate) backoff: Option<Backoff>,
    pub(crate) release_delay: Option<ReleaseDelay>,
    pub(crate) max_attempts: Option<u32>,
    pub(crate) dead_letter_queue: Option<DeadLetterQueue>,
    pub(crate) max_message_bytes: usize,
    pub(crate) unknown_urn: Option<UnknownUrn>,
    pub(crate) unknown_hook: Option<UnknownHook>,
    pub(crate) error_hook: Option<ErrorHook>,
    pub(crate) redact: Option<Redact>,
    /// The outermost first.
    pub(crate) layers: Vec<Wrap>,
    pub(crate) decoders: Vec<Arc<dyn Decode>>,
    #[cfg(feature = "idempotency")]
    pub(crate) guard: Option<crate::idempotency::Idempotency>,
    #[cfg(feature = "schema")]
    pub(crate) schemas: Option<Arc<dyn crate::schema::SchemaProvider>>,
    #[cfg(feature = "schema")]
    pub(crate) permanent_schema_errors: bool,
    #[cfg(feature = "payload-store")]
    pub(crate) retrieval: Option<crate::payload_store::Retrieval>,
    pub(crate) lenient: bool,
    pub(crate) retry_payload_errors: bool,
    pub(crate) lang: Cow<'static, str>,
    pub(crate) telemetry: Telemetry,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            handler_timeout: None,
            backoff: None,
            release_delay: None,
            max_attempts: None,
            dead_letter_queue: None,
            max_message_bytes: 1_048_576,
            unknown_urn: None,
            unknown_hook: None,
            error_hook: None,
            redact: None,
            layers: Vec::new(),
            decoders: Vec::new(),
            #[cfg(feature = "idempotency")]
            guard: None,
            #[cfg(feature = "schema")]
            schemas: None,
            #[cfg(feature = "schema")]
            permanent_schema_errors: false,
            #[cfg(feature = "payload-store")]
            retrieval: None,
            lenient: false,
            retry_payload_errors: false,
            lang: Cow::Borrowed(LANG),
            telemetry: Telemetry::default(),
        }
    }
}

impl Settings {
    /// Checks what can be checked without a queue.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        if self.max_attempts == Some(0) {
            return Err(BuildError::range(
                "max_attempts",
                0,
                "at least 1, or leave it out",
            ));
        }
        if !(1..=1_048_576).contains(&self.max_message_bytes) {
            let bytes = self.max_message_bytes;
            return Err(BuildError::range(
                "max_message_bytes",
                bytes,
                "1 to 1048576 bytes",
            ));
        }
        if self
            .handler_timeout
            .is_some_and(|timeout| timeout.is_zero())
        {
            return Err(BuildError::range(
                "handler_timeout",
                "0 s",
                "more than zero, or leave it out",
            ));
        }
        if self.dead_letter_queue.is_none() && self.unknown_urn == Some(UnknownUrn::DeadLetter) {
            return Err(BuildError::NoDeadLetterQueue);
        }
        #[cfg(feature = "payload-store")]
        if let Some(retrieval) = &self.retrieval {
            for (option, value) in [
                ("Retrieval::concurrency", retrieval.concurrency),
                ("Retrieval::max_bytes", retrieval.max_bytes),
            ] {
                if value == 0 {
                    return Err(BuildError::range(option, value, "at least 1"));
                }
            }
        }
        self.backoff.unwrap_or_default().validate()?;
        Ok(())
    }

    /// URL of the dead-letter queue for a queue with this URL.
    pub(crate) fn dead_letter_url(&self, queue_url: &str) -> Result<Option<String>, BuildError> {
        let Some(target) = &self.dead_letter_queue else {
            return Ok(None);
        };
        let url = target.resolve(queue_url)?;
        let (queue, dead_letters) = (queue_name(queue_url), queue_name(&url));
        // The same name in another account is another queue.
        if url.trim_end_matches('/') == queue_url.trim_end_matches('/') {
            return Err(BuildError::OwnDeadLetterQueue {
                queue: queue.to_owned(),
            });
        }
        if is_fifo(queue) != is_fifo(dead_letters) {
            return Err(BuildError::DeadLetterQueueType {
                queue: queue.to_owned(),
                dead_letter_queue: dead_letters.to_owned(),
            });
        }
        Ok(Some(url))
    }

    /// What runs the handlers; the same for every queue.
    pub(crate) fn handling(&self, dispatch: Arc<dyn Dispatch>) -> Arc<Handling> {
        Arc::new(Handling {
            dispatch,
            timeout: self.handler_timeout,
            #[cfg(feature = "schema")]
            validation: self
                .schemas
                .clone()
                .map(|schemas| crate::pipeline::Validation {
                    schemas,
                    permanent: self.permanent_schema_errors,
                }),
        })
    }

    /// The way of the messages of one queue.
    pub(crate) fn pipeline(
        self,
        queue: Arc<str>,
        handling: Arc<Handling>,
        dead_letter_url: Option<&str>,
        counters: Arc<Counters>,
    ) -> Pipeline {
        Pipeline {
            middleware: layered(&handling, &self.layers),
            decoders: self.decoders,
            handling,
            rules: Rules {
                unknown_urn: self.unknown_urn,
                dead_letter_queue: dead_letter_url.is_some(),
                max_attempts: self.max_attempts,
                retry_payload_errors: self.retry_payload_errors,
            },
            backoff: self.backoff.unwrap_or_default(),
            release_delay: self.release_delay,
            dead_letters: dead_letter_url.map(|url| DeadLetterTarget {
                fifo: is_fifo(url),
                max_bytes: self.max_message_bytes.into(),
            }),
            #[cfg(feature = "payload-store")]
            payloads: self
                .retrieval
                .map(|retrieval| Arc::new(crate::pipeline::Payloads::new(retrieval))),
            lenient: self.lenient,
            lang: self.lang,
            #[cfg(feature = "idempotency")]
            guard: self.guard,
            unknown_hook: self.unknown_hook,
            reporter: Reporter::new(Arc::clone(&queue), self.error_hook, counters)
                .redacting(self.redact.clone()),
            observer: self.telemetry.observer(&queue, self.redact.as_ref()),
            clock: Clock::new(),
            queue,
        }
    }
}

/// The layers around the handlers, the first one outside of all others.
fn layered(handling: &Arc<Handling>, layers: &[Wrap]) -> Option<Next> {
    let inside_out = layers.iter().rev();
    let wrapped = |next: Option<Next>, wrap: &Wrap| {
        Some(wrap(
            next.unwrap_or_else(|| Next::new(Arc::clone(handling))),
        ))
    };
    inside_out.fold(None, wrapped)
}
