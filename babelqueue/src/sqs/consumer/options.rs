//! What a consumer can be told, before it is checked: one plain struct, so that a setting cannot
//! get lost between builder and consumer.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use crate::envelope::LANG;
use crate::pipeline::foreign::Decode;
use crate::pipeline::{ErrorHook, Redact, ReleaseDelay, UnknownHook, Wrap};
use crate::policy::{Backoff, DeadLetterQueue, UnknownUrn};
use crate::telemetry::Telemetry;

/// Every option with its default.
#[derive(Clone)]
pub(super) struct Options {
    pub(super) concurrency: usize,
    pub(super) max_in_flight: Option<usize>,
    pub(super) max_in_flight_bytes: Option<usize>,
    pub(super) batch_size: usize,
    pub(super) wait_time: Duration,
    pub(super) visibility_timeout: Option<Duration>,
    pub(super) heartbeat: bool,
    pub(super) max_handling_time: Duration,
    pub(super) handler_timeout: Option<Duration>,
    pub(super) shutdown_timeout: Duration,
    pub(super) shutdown_linger: Duration,
    pub(super) startup_checks: bool,
    pub(super) backoff: Backoff,
    pub(super) release_delay: Option<ReleaseDelay>,
    pub(super) max_attempts: Option<u32>,
    pub(super) dead_letter_queue: Option<DeadLetterQueue>,
    pub(super) max_message_bytes: usize,
    pub(super) unknown_urn: Option<UnknownUrn>,
    pub(super) unknown_hook: Option<UnknownHook>,
    pub(super) error_hook: Option<ErrorHook>,
    pub(super) redact: Option<Redact>,
    /// The outermost first.
    pub(super) layers: Vec<Wrap>,
    pub(super) decoders: Vec<Arc<dyn Decode>>,
    #[cfg(feature = "idempotency")]
    pub(super) guard: Option<crate::idempotency::Idempotency>,
    #[cfg(feature = "schema")]
    pub(super) schemas: Option<Arc<dyn crate::schema::SchemaProvider>>,
    #[cfg(feature = "schema")]
    pub(super) permanent_schema_errors: bool,
    pub(super) lenient: bool,
    pub(super) retry_payload_errors: bool,
    pub(super) lang: Cow<'static, str>,
    pub(super) telemetry: Telemetry,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            concurrency: 10,
            max_in_flight: None,
            max_in_flight_bytes: None,
            batch_size: 10,
            wait_time: Duration::from_secs(20),
            visibility_timeout: None,
            heartbeat: true,
            max_handling_time: Duration::from_secs(3600),
            handler_timeout: None,
            shutdown_timeout: Duration::from_secs(20),
            shutdown_linger: Duration::from_millis(250),
            startup_checks: true,
            backoff: Backoff::none(),
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
            lenient: false,
            retry_payload_errors: false,
            lang: Cow::Borrowed(LANG),
            telemetry: Telemetry::default(),
        }
    }
}
