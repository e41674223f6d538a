//! Why a publish failed, and whether the message may have gone out all the same.

use crate::BoxError;
use crate::envelope::MakeError;

/// A publish that did not succeed.
///
/// What became of the message is told by [`is_refused`](Self::is_refused) (surely not sent) and
/// [`is_unknown`](Self::is_unknown) (it may have been), and whether another try makes sense by
/// [`is_retryable`](Self::is_retryable).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The envelope could not be made (SPEC §1.3, §1.4).
    #[error(transparent)]
    Make(MakeError),

    /// The publisher itself cannot work, such as one whose queue URL is not of its client's
    /// endpoint.
    #[error(transparent)]
    Publisher(BoxError),

    /// A FIFO queue needs a message group (SPEC §2.3).
    #[error(
        "`{queue}` is a FIFO queue and the message has no group: mark a field with \
         `#[babel(group_id)]`, call `.group_id(…)`, or set `message_group_id` on the publisher"
    )]
    MissingGroup {
        /// Name of the queue.
        queue: String,
    },

    /// A group or deduplication id that SQS refuses: 1–128 characters of `A–Z a–z 0–9` and
    /// punctuation; a deduplication id only exists on a FIFO queue.
    #[error("{what} {value:?} is not legal: {reason}")]
    Id {
        /// `MessageGroupId` or `MessageDeduplicationId`.
        what: &'static str,
        /// The value given.
        value: String,
        /// What is wrong with it.
        reason: &'static str,
    },

    /// A delay that SQS refuses (SPEC §2.4).
    #[error("a delay of {seconds} s is not possible on `{queue}`: {reason}")]
    Delay {
        /// Name of the queue.
        queue: String,
        /// The delay asked for, in seconds.
        seconds: f64,
        /// What is wrong with it.
        reason: &'static str,
    },

    /// A header that SQS refuses (SPEC §2.2).
    #[error("the header {name:?} cannot be sent: {reason}")]
    Header {
        /// Name of the header.
        name: String,
        /// What is wrong with it.
        reason: String,
    },

    /// More headers than fit beside the contract's attributes: SQS takes ten in all (SPEC §2.2).
    #[error(
        "SQS takes 10 attributes and the contract needs {contract}: {} headers do not fit ({})",
        names.len(),
        names.join(", ")
    )]
    TooManyHeaders {
        /// Places that the contract's own attributes take.
        contract: usize,
        /// The caller's headers, all of them, in key order.
        names: Vec<String>,
    },

    /// Body and attributes together are over the limit (SPEC §2.5).
    #[error("the message takes {actual} bytes and the limit is {allowed}")]
    TooLarge {
        /// UTF-8 bytes of the body plus those of every attribute's name, type and value.
        actual: usize,
        /// The limit in force, in bytes.
        allowed: usize,
    },

    /// SQS refused the message as too large: the queue's `MaximumMessageSize` is lower than the
    /// publisher's limit (SPEC §2.5).
    #[error(
        "`{queue}` does not take a message of {actual} bytes: set `max_message_bytes` to the \
         queue's `MaximumMessageSize`, or raise that"
    )]
    TooLargeForQueue {
        /// Name of the queue.
        queue: String,
        /// UTF-8 bytes of the body plus those of every attribute's name, type and value.
        actual: usize,
        /// What SQS said.
        source: BoxError,
    },

    /// The message is to be offloaded, and its body could not be stored: it was not sent
    /// (SPEC §4.10).
    #[error("the body of a message to `{queue}` could not be stored as `{location}`")]
    Offload {
        /// Name of the queue.
        queue: String,
        /// Bucket and key.
        location: String,
        /// What the store said.
        source: BoxError,
    },

    /// The causation cannot be written into `meta.ext`.
    #[error("the causation cannot be written into `meta.ext`: {reason}")]
    Causation {
        /// What is wrong with the `ext` that the message has already.
        reason: &'static str,
    },

    /// A character that SQS refuses (U+FFFE, U+FFFF or a control character) in a value of the
    /// contract.
    #[error("`{field}` holds {character:?} at byte {position}, which SQS refuses")]
    Character {
        /// The field at fault.
        field: &'static str,
        /// The character.
        character: char,
        /// Its byte offset in the value.
        position: usize,
    },

    /// The queue could not be resolved by its name.
    #[error("the queue `{queue}` could not be resolved: does it exist in the client's region?")]
    Resolve {
        /// Name of the queue.
        queue: String,
        /// Whether another try may succeed: not when SQS says that there is no such queue.
        retryable: bool,
        /// What SQS or the SDK said.
        source: BoxError,
    },

    /// The send failed, retries included. Unless `refused`, the message may have gone out: its
    /// fate is unknown.
    #[error("sending to `{queue}` failed{}", code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default())]
    Send {
        /// Name of the queue.
        queue: String,
        /// Whether every attempt was refused or never left, so that it was surely not sent.
        refused: bool,
        /// Whether another try may succeed.
        retryable: bool,
        /// The code of SQS, when SQS answered.
        code: Option<String>,
        /// What SQS or the SDK said of the last attempt.
        source: BoxError,
    },

    /// The message was held back and never sent, because of another one or for lack of time.
    #[error("the message was not sent to `{queue}`: {reason}")]
    NotAttempted {
        /// Name of the queue.
        queue: String,
        /// Why not.
        reason: &'static str,
    },

    /// The buffered publisher had no room for the message in time.
    #[error("the buffer of the publisher of `{queue}` stayed full: the message was not sent")]
    Full {
        /// Name of the queue.
        queue: String,
    },

    /// The buffered publisher was closed before the message was given to it.
    #[error("the buffered publisher of `{queue}` is closed: the message was not sent")]
    Closed {
        /// Name of the queue.
        queue: String,
    },

    /// The buffered publisher ended while it had the message: it was dropped without
    /// `close`, its time to close was over, or its runtime was shut down.
    #[error("the buffered publisher of `{queue}` ended while it had the message")]
    Abandoned {
        /// Name of the queue.
        queue: String,
        /// Whether the message surely was not sent; otherwise its fate is unknown.
        refused: bool,
    },
}

impl PublishError {
    /// A stable name, for spans and metrics.
    #[cfg(feature = "otel")]
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Make(_) => "make",
            Self::Publisher(_) => "publisher",
            Self::MissingGroup { .. } => "missing_group",
            Self::Id { .. } => "id",
            Self::Delay { .. } => "delay",
            Self::Header { .. } => "header",
            Self::TooManyHeaders { .. } => "too_many_headers",
            Self::TooLarge { .. } => "too_large",
            Self::Character { .. } => "character",
            Self::Resolve { .. } => "resolve",
            Self::Send { .. } => "send",
            Self::TooLargeForQueue { .. } => "too_large_for_queue",
            Self::Causation { .. } => "causation",
            Self::NotAttempted { .. } => "not_attempted",
            Self::Full { .. } => "full",
            Self::Closed { .. } => "closed",
            Self::Abandoned { .. } => "abandoned",
            Self::Offload { .. } => "offload",
        }
    }

    /// Whether the message was surely not sent; otherwise its fate is unknown.
    pub fn is_refused(&self) -> bool {
        match self {
            Self::Send { refused, .. } | Self::Abandoned { refused, .. } => *refused,
            _ => true,
        }
    }

    /// Whether the message may have been sent all the same. Sending it again may bring it twice.
    pub fn is_unknown(&self) -> bool {
        !self.is_refused()
    }

    /// Whether another try, as it stands, may succeed.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Send { retryable, .. } | Self::Resolve { retryable, .. } => *retryable,
            Self::NotAttempted { .. }
            | Self::Full { .. }
            | Self::Abandoned { .. }
            | Self::Offload { .. } => true,
            _ => false,
        }
    }

    /// Whether the message is too large, by the publisher's limit or by the queue's.
    pub fn is_too_large(&self) -> bool {
        matches!(self, Self::TooLarge { .. } | Self::TooLargeForQueue { .. })
    }

    /// The code with which SQS refused the message, such as `RequestThrottled`.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Send { code, .. } => code.as_deref(),
            _ => None,
        }
    }
}
