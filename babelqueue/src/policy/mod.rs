//! What a consumer is told to do with its messages: how long a failed one pauses, where a
//! hopeless one goes, and what happens to a URN that nobody handles. Pure: values in, decisions
//! out; reads the handlers' answers and knows no queue and no clock.

mod backoff;
mod dead_letter_queue;
mod queue_name;
mod settle;
mod unknown_urn;

pub use backoff::{Backoff, BackoffError, Jitter, WireDelay};
pub use dead_letter_queue::{DeadLetterQueue, dead_letter_name};
#[cfg(feature = "sqs")]
pub(crate) use queue_name::check_name;
pub use queue_name::{NameError, is_fifo, queue_name};
pub use settle::{Action, CopyKind, Decision, Event, HookResult, Pause, ReportKind, Rules, settle};
pub use unknown_urn::{ParseUnknownUrnError, UnknownUrn};

/// The longest a message can be hidden, in seconds: SQS counts it from the receive (SPEC §2.12).
pub const MAX_VISIBILITY_SECONDS: i32 = 43_200;
