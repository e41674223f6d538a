//! What an attempt came to for one message, read from the answer of SQS or from the error in its
//! place (SPEC §2.5). Pure.

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;

use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_sqs::types::BatchResultErrorEntry;

use super::request::Request;
use crate::message::PublishError;
use crate::panics::Panicked;

/// Codes that ask for patience, of SQS and of the key service behind an encrypted queue.
const THROTTLING: [&str; 8] = [
    "KMS.ThrottlingException",
    "KmsThrottled",
    "RequestLimitExceeded",
    "RequestThrottled",
    "RequestThrottledException",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
];

/// What SQS gave to a message that it took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Accepted {
    pub(super) sqs_message_id: Option<String>,
    pub(super) sequence_number: Option<String>,
}

/// What an attempt came to for one message.
pub(super) type Fate = Result<Accepted, Failure>;

/// What a call came to: a fate for each of its messages in order, or one for all.
pub(super) type Answer = Result<Vec<Fate>, Failure>;

/// Why a message was not sent, as far as one attempt can tell.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    kind: Kind,
    /// It surely was not sent; otherwise nobody knows.
    pub(super) refused: bool,
    /// Another attempt may succeed.
    pub(super) retryable: bool,
    source: Arc<dyn StdError + Send + Sync>,
}

#[derive(Clone, Debug)]
enum Kind {
    Send { code: Option<String> },
    Resolve,
    NotAttempted { reason: &'static str },
    MessageTooLarge,
    RequestTooLarge,
}

/// An entry of a batch that SQS reported as failed.
#[derive(Debug, thiserror::Error)]
#[error("SQS failed the message ({code}): {message}")]
struct EntryError {
    code: String,
    message: String,
}

/// What can be wrong with an answer, or with its absence.
#[derive(Debug, thiserror::Error)]
enum NoAnswer {
    #[error("the answer of SQS says nothing about this message")]
    Silent,
    #[error("the attempt did not end in time")]
    Late,
    #[error("the message was not attempted")]
    NotAttempted,
}

impl Failure {
    /// Of a call that failed as a whole.
    pub(super) fn of_call<E>(error: SdkError<E>) -> Self
    where
        E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
    {
        let (refused, retryable) = match &error {
            // It never left the process.
            SdkError::ConstructionFailure(_) => (true, false),
            SdkError::DispatchFailure(failure) if failure.is_user() => (true, false),
            // A connection that was never made sent nothing.
            SdkError::DispatchFailure(_) => (is_no_connection(&error), true),
            SdkError::ServiceError(answer) => {
                let throttled = answer.err().code().is_some_and(is_throttling);
                // A server's fault may come after the message was taken, and so may an answer
                // that cannot be read.
                let refused = (400..500).contains(&answer.raw().status().as_u16());
                (refused, throttled || !refused)
            }
            _ => (false, true),
        };
        let (code, text) = match error.as_service_error() {
            Some(service) => (service.code(), service.message().unwrap_or_default()),
            None => (None, ""),
        };
        Self {
            kind: Kind::of(code, text),
            refused,
            retryable,
            source: Arc::new(error),
        }
    }

    /// Of an entry in the list `Failed`: SQS says that it was not sent.
    pub(super) fn of_entry(entry: &BatchResultErrorEntry) -> Self {
        let message = entry.message().unwrap_or_default();
        Self {
            kind: Kind::of(Some(entry.code()), message),
            refused: true,
            retryable: !entry.sender_fault() || is_throttling(entry.code()),
            source: Arc::new(EntryError {
                code: entry.code().to_owned(),
                message: message.to_owned(),
            }),
        }
    }

    /// Of an entry in neither list.
    pub(super) fn silent() -> Self {
        Self::unknown(NoAnswer::Silent)
    }

    /// Of a call that was cut when its time was over.
    pub(super) fn late() -> Self {
        Self::unknown(NoAnswer::Late)
    }

    fn unknown(source: NoAnswer) -> Self {
        Self {
            kind: Kind::Send { code: None },
            refused: false,
            retryable: true,
            source: Arc::new(source),
        }
    }

    /// Of a call that panicked.
    pub(super) fn panicked(panic: Panicked) -> Self {
        Self {
            retryable: false,
            source: Arc::new(panic),
            ..Self::late()
        }
    }

    /// Of a request that the SDK could not build.
    pub(super) fn unbuilt(error: impl StdError + Send + Sync + 'static) -> Self {
        Self {
            kind: Kind::Send { code: None },
            refused: true,
            retryable: false,
            source: Arc::new(error),
        }
    }

    /// The failure was that of the call for the queue's URL: no message was sent.
    pub(super) fn while_resolving(self) -> Self {
        Self {
            kind: Kind::Resolve,
            refused: true,
            ..self
        }
    }

    /// Of a message that was held back.
    pub(super) fn not_attempted(reason: &'static str) -> Self {
        Self {
            kind: Kind::NotAttempted { reason },
            refused: true,
            retryable: true,
            source: Arc::new(NoAnswer::NotAttempted),
        }
    }

    #[cfg(test)]
    pub(super) fn refused_for_good() -> Self {
        Self {
            retryable: false,
            ..Self::not_attempted("")
        }
    }

    #[cfg(test)]
    pub(super) fn request_too_large() -> Self {
        Self {
            kind: Kind::RequestTooLarge,
            ..Self::not_attempted("")
        }
    }

    /// What SQS or the SDK said.
    pub(super) fn source(&self) -> &(dyn StdError + 'static) {
        &*self.source
    }

    /// Whether the request as a whole was too large, whatever its single messages are.
    pub(super) fn is_request_too_large(&self) -> bool {
        matches!(self.kind, Kind::RequestTooLarge)
    }

    /// What the caller is told. `unknown`: an earlier attempt may have sent the message, which
    /// no later refusal can take back.
    pub(super) fn into_error(self, queue: &str, request: &Request, unknown: bool) -> PublishError {
        let queue = queue.to_owned();
        let refused = self.refused && !unknown;
        let source: crate::BoxError = Box::new(self.source);
        let code = match self.kind {
            Kind::NotAttempted { reason } if refused => {
                return PublishError::NotAttempted { queue, reason };
            }
            Kind::Resolve if refused => {
                let retryable = self.retryable;
                return PublishError::Resolve {
                    queue,
                    retryable,
                    source,
                };
            }
            Kind::MessageTooLarge | Kind::RequestTooLarge if refused => {
                let actual = request.size;
                return PublishError::TooLargeForQueue {
                    queue,
                    actual,
                    source,
                };
            }
            Kind::Send { code } => code,
            _ => None,
        };
        PublishError::Send {
            queue,
            refused,
            retryable: self.retryable,
            code,
            source,
        }
    }
}

impl Kind {
    fn of(code: Option<&str>, text: &str) -> Self {
        match code {
            Some(code) if code.contains("BatchRequestTooLong") => Self::RequestTooLarge,
            // SQS has no code of its own for a message that is too long.
            Some(code) if code.starts_with("InvalidParameterValue") && is_about_size(text) => {
                Self::MessageTooLarge
            }
            code => Self::Send {
                code: code.map(ToOwned::to_owned),
            },
        }
    }
}

fn is_about_size(text: &str) -> bool {
    text.contains("must be shorter than")
}

fn is_throttling(code: &str) -> bool {
    THROTTLING.contains(&code)
}

/// Whether there was never a connection: the one input or output error that only `connect` gives.
fn is_no_connection(error: &(dyn StdError + 'static)) -> bool {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    causes
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

#[cfg(test)]
#[path = "failure_tests.rs"]
mod tests;
