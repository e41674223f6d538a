//! Handlers: what the attribute `#[babel_handler]` makes of an async fn, what a handler may take
//! and what it may answer. Reads message, context and envelope; knows no queue.

use std::future::Future;

mod batch;
mod batch_extract;
mod error;
mod extract;
mod json_path;
mod outcome;
mod payload;
mod session;
mod state;
mod stopped;

pub use batch::{Batch, BatchPayload, Deliveries, Input, Item, Ticket};
#[doc(hidden)]
pub use batch::{Gathered, gather};
pub use batch_extract::FromBatch;
pub use error::{ErrorKind, HandlerError, IntoHandlerError, ResultExt, Verdict};
#[doc(hidden)]
pub use extract::rejected;
pub use extract::{Attempts, FromDelivery, TraceId};
pub use outcome::{HandlerResult, IntoOutcome, Outcome};
#[doc(hidden)]
pub use payload::{FallbackPayload, fallback, payload};
pub use payload::{Payload, PayloadError};
pub use session::{FromClient, Session};
pub use state::{FromRef, SharedState, State};
#[cfg(feature = "sqs")]
pub(crate) use stopped::{Stopped, Withheld};

/// What is known of a handler without its state: by which the router checks and displays it.
///
/// Implemented by `#[babel_handler]`; not meant to be written by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler",
    label = "not a handler",
    note = "put `#[babel_handler]` on the async fn and list its name"
)]
pub trait HandlerInfo {
    /// Name of the fn.
    const NAME: &'static str;
    /// The URN of its payload; `None` for a fallback.
    const URN: Option<&'static str>;
    /// Older URNs that its payload accepts.
    const ALIASES: &'static [&'static str];
    /// Whether it takes every URN that has no handler.
    const FALLBACK: bool;
    /// `false` for an entry switched off by `#[cfg]`, and after an error in the attribute.
    const PRESENT: bool;
    /// How it takes batches, if it does.
    const BATCH: Option<BatchRule> = None;
}

/// How a batch handler's batches are put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchRule {
    /// The attribute of which all messages of a call have the same value, or none.
    pub per_attribute: Option<&'static str>,
}

impl BatchRule {
    #[doc(hidden)]
    pub const fn new(per_attribute: Option<&'static str>) -> Self {
        Self { per_attribute }
    }
}

/// A handler that can run with the state `S`: what `#[babel_handler]` implements for every state
/// that offers what the handler's arguments ask for.
#[diagnostic::on_unimplemented(
    message = "the handler `{Self}` cannot run with the state `{S}`",
    label = "needs what the state does not offer"
)]
pub trait Handler<S> {
    /// Decodes the payload, gathers the arguments and runs the fn.
    fn call<'d>(input: Input<'d>, state: &'d S) -> impl Future<Output = HandlerResult> + Send + 'd;
}

/// Stands for a list entry that `#[cfg]` switched off.
#[derive(Debug)]
#[doc(hidden)]
pub enum Absent {}

impl HandlerInfo for Absent {
    const NAME: &'static str = "";
    const URN: Option<&'static str> = None;
    const ALIASES: &'static [&'static str] = &[];
    const FALLBACK: bool = false;
    const PRESENT: bool = false;
}

impl<S: Sync> Handler<S> for Absent {
    async fn call(_: Input<'_>, _: &S) -> HandlerResult {
        Err(HandlerError::new("this handler is switched off by #[cfg]"))
    }
}
