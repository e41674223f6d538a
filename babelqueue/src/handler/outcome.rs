//! What a handler answers, and the return types that turn into it.

use std::time::Duration;

use super::error::{HandlerError, IntoHandlerError};

/// What a handler wants done with its message (SPEC §2.12).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// Handled: the message is deleted.
    Done,
    /// To be tried again: counts as a failed attempt.
    Retry {
        /// When: `None` leaves it to the consumer's retry policy, zero means at once, a part of
        /// a second rounds up, more than 12 h is cut.
        after: Option<Duration>,
    },
    /// Beyond help: to the dead-letter queue at once, whatever the attempts; left to the queue's
    /// own redrive policy when none is configured.
    DeadLetter {
        /// Goes into the `dead_letter` block as `error`.
        reason: String,
    },
    /// Not wanted: deleted and counted, not reported.
    Discard,
}

impl Outcome {
    /// To be tried again when the consumer's retry policy says.
    pub fn retry() -> Self {
        Self::Retry { after: None }
    }

    /// To be tried again after `after`.
    pub fn retry_after(after: Duration) -> Self {
        Self::Retry { after: Some(after) }
    }

    /// To the dead-letter queue, with the reason.
    pub fn dead_letter(reason: impl Into<String>) -> Self {
        Self::DeadLetter {
            reason: reason.into(),
        }
    }
}

/// What every handler comes down to.
pub type HandlerResult = Result<Outcome, HandlerError>;

/// What a handler may return: `()`, [`Outcome`], and a `Result` of either with any error that
/// becomes a [`HandlerError`]. Which of them it is, is decided by the type, not by its spelling:
/// an alias of `Result` serves as well.
#[diagnostic::on_unimplemented(
    message = "a handler cannot return `{Self}`",
    label = "not something a handler can return",
    note = "return `()`, `Outcome`, `Result<(), E>` or `Result<Outcome, E>`"
)]
pub trait IntoOutcome {
    /// Turns the returned value into the common form.
    ///
    /// # Errors
    /// The handler's own error.
    fn into_outcome(self) -> HandlerResult;
}

/// What may stand in the `Ok` of a handler's result.
#[diagnostic::on_unimplemented(
    message = "a handler cannot return a `Result` of `{Self}`",
    label = "not something a handler can return",
    note = "return `Result<(), E>` or `Result<Outcome, E>`"
)]
pub trait Success {
    #[doc(hidden)]
    fn outcome(self) -> Outcome;
}

impl Success for () {
    fn outcome(self) -> Outcome {
        Outcome::Done
    }
}

impl Success for Outcome {
    fn outcome(self) -> Outcome {
        self
    }
}

impl IntoOutcome for () {
    fn into_outcome(self) -> HandlerResult {
        Ok(Outcome::Done)
    }
}

impl IntoOutcome for Outcome {
    fn into_outcome(self) -> HandlerResult {
        Ok(self)
    }
}

impl<T: Success, E: IntoHandlerError> IntoOutcome for Result<T, E> {
    fn into_outcome(self) -> HandlerResult {
        match self {
            Ok(success) => Ok(success.outcome()),
            Err(error) => Err(error.into_handler_error()),
        }
    }
}
