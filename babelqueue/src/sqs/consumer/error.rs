//! Why a run ended, and why a message could not be settled.

use crate::BoxError;
pub use crate::aws::BuildError;

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
