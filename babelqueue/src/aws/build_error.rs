//! Why a consumer or publisher cannot be built.

use std::fmt::Display;

use super::endpoint::EndpointError;
use crate::policy::{BackoffError, NameError};

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

    /// Two retry policies at the same time.
    #[cfg(feature = "lambda")]
    #[error(
        "`retry_backoff` and `retry` (or `release_delay`) are two answers to one question: keep \
         one of them"
    )]
    TwoBackoffs,

    /// An option for which calls to SQS are made.
    #[cfg(feature = "lambda")]
    #[error("`{option}` needs a client of SQS: add `.client(aws_sdk_sqs::Client::new(&config))`")]
    NoClient {
        /// The option.
        option: &'static str,
    },

    /// A batch handler on a FIFO queue.
    #[error(
        "`{queue}` is a FIFO queue, and the router has batch handlers, which would break the \
         order of its groups: take one message at a time (`#[babel_handler]` without `batch`)"
    )]
    BatchOnFifo {
        /// Name of the queue.
        queue: String,
    },

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
