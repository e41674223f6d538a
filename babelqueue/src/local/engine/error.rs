//! What the engine refuses, as SQS names it. How a kind looks on the wire is
//! the protocol's business.

use std::fmt;

/// A refusal: the error's kind and the sentence for a human.
#[derive(Clone, Debug)]
pub(crate) struct ApiError {
    pub(crate) kind: Kind,
    pub(crate) message: String,
}

pub(crate) type ApiResult<T> = Result<T, ApiError>;

/// The errors of the SQS API that this server can give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    BatchEntryIdsNotDistinct,
    BatchRequestTooLong,
    EmptyBatchRequest,
    InvalidAction,
    InvalidAddress,
    InvalidAttributeName,
    InvalidAttributeValue,
    InvalidBatchEntryId,
    InvalidMessageContents,
    InvalidParameterValue,
    MessageNotInflight,
    MissingParameter,
    OverLimit,
    PurgeQueueInProgress,
    QueueDeletedRecently,
    QueueDoesNotExist,
    QueueNameExists,
    ReceiptHandleIsInvalid,
    RequestTooLarge,
    ResourceNotFound,
    Serialization,
    TooManyEntries,
    UnsupportedOperation,
}

impl Kind {
    pub(crate) fn error(self, message: impl Into<String>) -> ApiError {
        ApiError {
            kind: self,
            message: message.into(),
        }
    }
}

/// `Value … for parameter … is invalid. Reason: …`, the form SQS uses for most refusals.
pub(crate) fn invalid_value(
    parameter: &str,
    value: impl fmt::Display,
    reason: impl fmt::Display,
) -> ApiError {
    Kind::InvalidParameterValue.error(format!(
        "Value {value} for parameter {parameter} is invalid. Reason: {reason}"
    ))
}

pub(crate) fn missing(parameter: &str) -> ApiError {
    Kind::MissingParameter.error(format!(
        "The request must contain the parameter {parameter}."
    ))
}

pub(crate) fn no_such_queue() -> ApiError {
    Kind::QueueDoesNotExist.error("The specified queue does not exist.")
}
