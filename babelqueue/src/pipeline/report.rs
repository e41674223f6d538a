//! What went wrong, told once to the log and once to the hook (SPEC §2.14). Bodies are never
//! part of it.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use super::counters::Counters;
use crate::envelope::Envelope;
use crate::error_text::{Redact, error_text, redacted};
use crate::fields;
use crate::panics::fenced;
use crate::policy::ReportKind;

/// One reported error, as the `on_error` hook gets it. Displayed, it is one line with the error
/// and its causes, cut to 1,024 bytes.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct ErrorEvent<'a> {
    /// What it is about.
    pub kind: ReportKind,
    /// Name of the queue consumed from.
    pub queue: &'a str,
    /// The message's `MessageId`; empty for an error of no single message.
    pub message_id: &'a str,
    /// The message's `ApproximateReceiveCount`, this delivery included.
    pub receive_count: Option<u64>,
    /// The envelope, where there is one (SPEC §2.14).
    pub envelope: Option<&'a Envelope>,
    /// The error, with its causes.
    pub error: &'a (dyn StdError + Send + Sync + 'static),
}

impl ErrorEvent<'_> {
    /// The code of the error, if it has one: `S3_ERROR` when a large message could not be read
    /// from where it is kept (SPEC §4.3).
    pub fn code(&self) -> Option<&'static str> {
        code_of(self.error)
    }
}

fn code_of(error: &(dyn StdError + Send + Sync + 'static)) -> Option<&'static str> {
    #[cfg(feature = "payload-store")]
    if error.is::<crate::payload_store::PayloadError>() {
        return Some(crate::payload_store::PayloadError::CODE);
    }
    let _ = error;
    None
}

impl fmt::Debug for ErrorEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErrorEvent")
            .field("kind", &self.kind)
            .field("queue", &self.queue)
            .field("message_id", &self.message_id)
            .field("receive_count", &self.receive_count)
            .field("urn", &self.envelope.map(Envelope::urn))
            .field("error", &self.error)
            .finish()
    }
}

impl fmt::Display for ErrorEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.kind.as_str(), self.queue)?;
        if let Some(envelope) = self.envelope {
            write!(f, ", {}", envelope.urn())?;
        }
        if !self.message_id.is_empty() {
            write!(f, ", message {}", self.message_id)?;
        }
        write!(f, ": {}", Chain(self.error))
    }
}

/// The `on_error` hook.
pub(crate) type ErrorHook = Arc<dyn Fn(&ErrorEvent<'_>) + Send + Sync>;

/// The message that an error is about.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Subject<'a> {
    pub(crate) message_id: &'a str,
    pub(crate) receive_count: Option<u64>,
    pub(crate) envelope: Option<&'a Envelope>,
    /// What becomes of it, if that is decided.
    pub(crate) settlement: Option<&'static str>,
}

impl Subject<'_> {
    /// Nothing is done to the message: its visibility timeout brings it back.
    pub(crate) fn left(self) -> Self {
        Self {
            settlement: Some("leave"),
            ..self
        }
    }

    /// How often it was tried before (SPEC §2.9), as far as that is known.
    fn attempts(&self) -> Option<u64> {
        let wire = self.envelope.and_then(Envelope::attempts);
        let wire = wire.map(|attempts| attempts.max(0).unsigned_abs());
        let received = self.receive_count.map(|count| count.saturating_sub(1));
        wire.max(received)
    }
}

/// Tells log and hook.
#[derive(Clone)]
pub(crate) struct Reporter {
    queue: Arc<str>,
    hook: Option<ErrorHook>,
    redact: Option<Redact>,
    counters: Arc<Counters>,
}

impl Reporter {
    pub(crate) fn new(queue: Arc<str>, hook: Option<ErrorHook>, counters: Arc<Counters>) -> Self {
        Self {
            queue,
            hook,
            redact: None,
            counters,
        }
    }

    /// Takes secrets out of every text of an error.
    pub(crate) fn redacting(self, redact: Option<Redact>) -> Self {
        Self { redact, ..self }
    }

    /// The text of an error as it may leave the process: cut, and without the secrets that the
    /// hook takes out; `None` when that panicked.
    pub(crate) fn text(&self, error: &(dyn StdError + 'static)) -> Option<String> {
        redacted(error, self.redact.as_ref(), &self.queue)
    }

    #[cfg(all(test, feature = "local"))]
    pub(crate) fn has_hook(&self) -> bool {
        self.hook.is_some()
    }

    pub(crate) fn report(
        &self,
        kind: ReportKind,
        subject: Subject<'_>,
        error: &(dyn StdError + Send + Sync + 'static),
    ) {
        self.counters.errors.one();
        let urn = subject.envelope.map_or("", Envelope::urn);
        let trace_id = subject
            .envelope
            .and_then(Envelope::trace_id)
            .unwrap_or_default();
        tracing::error!(
            { fields::KIND } = kind.as_str(),
            { fields::QUEUE } = &*self.queue,
            { fields::MESSAGE_ID } = subject.message_id,
            { fields::RECEIVE_COUNT } = subject.receive_count,
            { fields::URN } = urn,
            { fields::TRACE_ID } = trace_id,
            { fields::ATTEMPTS } = subject.attempts(),
            { fields::SETTLEMENT } = subject.settlement,
            { fields::CODE } = code_of(error),
            { fields::ERROR } = self.text(error),
            "message error"
        );
        let Some(hook) = &self.hook else { return };
        let event = ErrorEvent {
            kind,
            queue: &self.queue,
            message_id: subject.message_id,
            receive_count: subject.receive_count,
            envelope: subject.envelope,
            error,
        };
        if let Err(panicked) = fenced(|| hook(&event)) {
            tracing::error!(
                { fields::KIND } = kind.as_str(),
                { fields::QUEUE } = &*self.queue,
                "on_error {panicked}"
            );
        }
    }
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reporter")
            .field("queue", &self.queue)
            .finish_non_exhaustive()
    }
}

/// An error with its causes, cut like a dead letter's text.
struct Chain<'a>(&'a (dyn StdError + Send + Sync + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&error_text(self.0))
    }
}
