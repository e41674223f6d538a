//! The way of one message: record → version gate → envelope → acceptance → route → delivery →
//! handler → settlement. Everything is decided here and nothing is done to the queue: the drivers
//! perform what comes out. May read envelope, handler, router and policy; makes no SQS call.

mod attribute;
mod batch;
mod bury;
mod clock;
mod copy;
mod counters;
mod dispatch;
mod failure;
mod finish;
pub(crate) mod foreign;
mod handling;
mod intake;
mod layers;
pub(crate) mod middleware;
#[cfg(feature = "payload-store")]
mod payloads;
mod prepared;
mod process;
mod processed;
mod record;
mod report;

pub(crate) use attribute::{
    Attribute, MAX_ATTRIBUTES, Value, check_header_name, is_library_header, refused_character,
    size_of_message,
};
pub(crate) use clock::Clock;
pub(crate) use copy::DeadLetterMessage;
pub(crate) use counters::Counters;
pub(crate) use dispatch::{Bound, Dispatch};
#[cfg(feature = "lambda")]
pub(crate) use finish::FALLBACK_DELAY;
pub(crate) use handling::Handling;
#[cfg(feature = "schema")]
pub(crate) use handling::Validation;
pub(crate) use middleware::{Next, Wrap, wrap};
#[cfg(feature = "payload-store")]
pub(crate) use payloads::Payloads;
pub(crate) use prepared::Prepared;
pub(crate) use process::{DeadLetterTarget, Pipeline, ReleaseDelay, UnknownHook};
pub(crate) use processed::{Ending, Processed, Settlement};
pub(crate) use record::{DeliveryNumber, Record};
pub(crate) use report::{ErrorHook, Reporter, Subject};

pub(crate) use crate::error_text::error_text;

pub use report::ErrorEvent;
