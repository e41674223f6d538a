//! Typed messaging over Amazon SQS, in the BabelQueue wire contract.
#![cfg_attr(docsrs, feature(doc_cfg))]

// The generated code names this crate by its own name, here too.
#[allow(unused_extern_crates)]
extern crate self as babelqueue;

pub mod context;
pub mod envelope;
mod error;
pub mod handler;
#[cfg(feature = "idempotency")]
pub mod idempotency;
#[cfg(feature = "local")]
pub mod local;
pub mod message;
#[cfg(feature = "sqs")]
pub(crate) mod pipeline;
pub mod policy;
pub mod router;
#[cfg(feature = "schema")]
pub mod schema;
#[cfg(feature = "sqs")]
pub mod sqs;

#[doc(hidden)]
pub mod __private;
mod names;

/// The serde that payloads implement, for crates that have no other way to it.
pub use serde;

pub use babelqueue_macros::{BabelMessage, FromRef, babel_handler};
pub use context::{Context, Delivery, Source};
pub use envelope::{Envelope, Headers, Meta};
pub use error::Error;
pub use handler::{
    Attempts, FromDelivery, FromRef, HandlerError, Outcome, ResultExt, State, TraceId,
};
pub use message::{BabelMessage, Publish, PublishError, Published};
pub use names::Router;
#[cfg(feature = "sqs")]
pub use pipeline::ErrorEvent;
pub use policy::{Backoff, DeadLetterQueue, Jitter, ReportKind, UnknownUrn};
pub use router::{Route, RouteTable, Routes};
#[cfg(feature = "sqs")]
pub use sqs::{BuildError, Handle, RunError, SqsConsumer, SqsPublisher, shutdown_signal};

/// What a service needs to write messages, handlers and routers.
pub mod prelude {
    pub use crate::names::Router;
    pub use crate::{
        Attempts, BabelMessage, Backoff, Context, DeadLetterQueue, Envelope, FromDelivery, FromRef,
        HandlerError, Headers, Jitter, Meta, Outcome, Publish, ResultExt, RouteTable, Routes,
        State, TraceId, UnknownUrn, babel_handler,
    };
    #[cfg(feature = "sqs")]
    pub use crate::{SqsConsumer, SqsPublisher, shutdown_signal};
}

/// Any error, boxed.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A future, boxed.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
