//! Why a consumer or publisher cannot be built, why a run ended, and why a message could not be
//! settled.

use std::fmt::Display;

use crate::BoxError;
use crate::policy::{BackoffError, NameError};
use crate::sqs::endpoint::EndpointError;

/// A configuration that cannot work. Each says what to change.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The queue URL and the client do not go together.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),

    /// A queue name that SQS cannot have.
    #[error(transparent)]
    Name(#[from] NameError),

    /// A number out of its range.
    #[error("`{option}` of {value} is not possible: give {range}")]
    Range {
        /// The option.
        option: &'static str,
        /// What was given.
        value: String,
        /// What is possible.
        range: &'static str,
    },

    /// A backoff that cannot be used.
    #[error(transparent)]
    Backoff(#[from] BackoffError),

    /// Unknown URNs are to be dead-lettered and there is no dead-letter queue.
    #[error(
        "`UnknownUrn::DeadLetter` needs a dead-letter queue: add \
         `.dead_letter_queue(DeadLetterQueue::default_name())`, or choose another strategy"
    )]
    NoDeadLetterQueue,

    /// The dead-letter queue is the queue consumed from.
    #[error("`{queue}` cannot be its own dead-letter queue: name another one")]
    OwnDeadLetterQueue {
        /// Name of the queue.
        queue: String,
    },

    /// Dead letters of a FIFO queue go to a FIFO queue, those of a standard one to a standard one.
    #[error(
        "`{dead_letter_queue}` cannot take the dead letters of `{queue}`: both must be FIFO \
         queues (`.fifo`) or both standard ones"
    )]
    DeadLetterQueueType {
        /// Name of the queue.
        queue: String,
        /// Name of the dead-letter queue.
        dead_letter_queue: String,
    },

    /// The type stated is not that of the queue's name.
    #[error(
        "`.fifo({fifo})` contradicts the queue `{queue}`: the name of a FIFO queue ends in \
         `.fifo`, and no other does"
    )]
    FifoFlag {
        /// Name of the queue.
        queue: String,
        /// What was stated.
        fifo: bool,
    },

    /// An option that only a FIFO queue has.
    #[error("`{option}` is for FIFO queues and `{queue}` is a standard one: remove it")]
    FifoOption {
        /// Name of the queue.
        queue: String,
        /// The option.
        option: &'static str,
    },
}

impl BuildError {
    pub(crate) fn range(option: &'static str, value: impl Display, range: &'static str) -> Self {
        Self::Range {
            option,
            value: value.to_string(),
            range,
        }
    }
}

/// Why a run ended by itself. Nothing else ends it: failed receives, throttling, refused
/// credentials and outages are reported and retried (SPEC §2.16).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// SQS says at the start that there is no such queue.
    #[error(
        "the queue `{queue_url}` does not exist: create it, or check the URL, the region and the \
         account"
    )]
    QueueDoesNotExist {
        /// URL of the queue.
        queue_url: String,
        /// What SQS said.
        source: BoxError,
    },

    /// The one receive of a [`poll`](super::SqsConsumer::poll) failed.
    #[error("receiving from `{queue}` failed")]
    Receive {
        /// Name of the queue.
        queue: String,
        /// What SQS or the SDK said.
        source: BoxError,
    },
}

/// Why a delete or a visibility change of one message did not succeed; found in the error of an
/// [`ErrorEvent`](crate::ErrorEvent) by downcast.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettleError {
    /// The whole call failed; whether it took effect is unknown.
    #[error("{operation} failed and the message will come again")]
    Call {
        /// Name of the operation.
        operation: &'static str,
        /// What SQS or the SDK said.
        source: std::sync::Arc<dyn std::error::Error + Send + Sync>,
    },
    /// SQS refused this entry.
    #[error("{operation} was refused ({code}) and the message will come again: {message}")]
    Refused {
        /// Name of the operation.
        operation: &'static str,
        /// SQS's code.
        code: String,
        /// SQS's text.
        message: String,
        /// Whether SQS blames the request: an expired receipt handle, say.
        sender_fault: bool,
    },
    /// The answer says nothing about this entry.
    #[error("{operation} gave no result and the message may come again")]
    NoResult {
        /// Name of the operation.
        operation: &'static str,
    },
    /// The message could not be kept invisible while its handler ran: SQS may have given it to
    /// somebody else.
    #[error(
        "the lease was lost after {held:?} while the handler runs, which may run twice: the \
         renewals failed, or it took longer than `max_handling_time`"
    )]
    LeaseLost {
        /// How long it was held, from its receive.
        held: std::time::Duration,
    },
    /// SQS delivered no receipt handle, so that nothing can be done to the message.
    #[error("{operation} is not possible without a receipt handle: the message will come again")]
    NoReceiptHandle {
        /// Name of the operation.
        operation: &'static str,
    },
}
