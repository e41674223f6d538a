//! Typed messaging over Amazon SQS, in the BabelQueue wire contract: a struct is a message, an
//! async fn is a handler, and the router is proved when it compiles.
//!
//! ```no_run
//! use babelqueue::prelude::*;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize, BabelMessage)]
//! #[urn = "urn:babel:orders:created"]
//! struct OrderCreated {
//!     order_id: u64,
//! }
//!
//! #[babel_handler]
//! async fn order_created(order: OrderCreated, ctx: &Context) -> Result<(), std::io::Error> {
//!     println!("order {} in trace {}", order.order_id, ctx.trace_id());
//!     Ok(())
//! }
//!
//! # #[cfg(feature = "sqs")]
//! async fn run(sqs: aws_sdk_sqs::Client, url: &str) -> Result<(), babelqueue::Error> {
//!     let publisher = SqsPublisher::new(sqs.clone(), url);
//!     OrderCreated { order_id: 1042 }.publish(&publisher).await?;
//!
//!     SqsConsumer::builder(sqs, url, Router::from_handlers![order_created])
//!         .build()?
//!         .run_until(shutdown_signal())
//!         .await?;
//!     Ok(())
//! }
//! ```
//!
//! | to … | see |
//! |---|---|
//! | make a struct a message and send it | [`BabelMessage`], [`SqsPublisher`], [`BufferedPublisher`] |
//! | write a handler, its arguments and its answer | [`babel_handler`], [`FromDelivery`], [`Outcome`], [`HandlerError`] |
//! | list handlers | [`Router::from_handlers!`], [`Routes`] |
//! | consume a queue, or several | [`SqsConsumer`], [`ConsumerGroup`], [`policy`] |
//! | run the same handlers behind AWS Lambda | `lambda`, behind the feature of that name |
//! | put layers around handlers | [`middleware`] |
//! | consume what others send: plain JSON, SNS, EventBridge | [`decode`] |
//! | read or write envelopes by hand | [`envelope`] |
//! | send messages larger than SQS takes | `payload_store`, behind the features `payload-store` and `s3` |
//! | see what happens | [`fields`] of log events; `telemetry`, behind the feature `otel` |
//! | test all of it without a queue | `local`, behind the feature of that name |
//!
//! Sections of the wire contract are cited as SPEC §n.
#![cfg_attr(docsrs, feature(doc_cfg))]

// The generated code names this crate by its own name, here too.
#[allow(unused_extern_crates)]
extern crate self as babelqueue;

#[cfg(feature = "sqs")]
mod aws;
pub mod context;
#[cfg(any(feature = "payload-store", feature = "sqs"))]
mod digest;
pub mod envelope;
mod error;
#[cfg(feature = "sqs")]
mod error_text;
pub mod fields;
pub mod handler;
#[cfg(feature = "idempotency")]
pub mod idempotency;
#[cfg(feature = "lambda")]
mod invocation;
#[cfg(feature = "lambda")]
pub mod lambda;
mod lease;
#[cfg(feature = "local")]
pub mod local;
pub mod message;
#[cfg(any(feature = "idempotency", feature = "sqs"))]
mod panics;
#[cfg(feature = "payload-store")]
pub mod payload_store;
#[cfg(feature = "sqs")]
pub(crate) mod pipeline;
pub mod policy;
pub mod router;
#[cfg(feature = "schema")]
pub mod schema;
#[cfg(feature = "sqs")]
pub mod sqs;
#[cfg(feature = "otel")]
pub mod telemetry;
#[cfg(all(feature = "sqs", not(feature = "otel")))]
mod telemetry;

/// Middleware around handlers: what the layers given to a consumer's `.layer(…)` wrap.
///
/// ```no_run
/// # fn builder(sqs: aws_sdk_sqs::Client) {
/// # use std::time::Duration;
/// # use babelqueue::prelude::*;
/// use babelqueue::middleware::{Next, Outcomes, Work};
/// use babelqueue::{BoxError, BoxFuture};
/// use tower_service::Service;
///
/// /// Tells how long handlers take.
/// #[derive(Clone)]
/// struct Timed(Next);
///
/// impl Service<Work> for Timed {
///     type Response = Outcomes;
///     type Error = BoxError;
///     type Future = BoxFuture<'static, Result<Outcomes, BoxError>>;
///
///     fn poll_ready(&mut self, cx: &mut std::task::Context<'_>)
///         -> std::task::Poll<Result<(), BoxError>>
///     {
///         self.0.poll_ready(cx)
///     }
///
///     fn call(&mut self, work: Work) -> Self::Future {
///         let (urn, begun) = (work.urn().to_owned(), std::time::Instant::now());
///         let handled = self.0.call(work);
///         Box::pin(async move {
///             let outcomes = handled.await;
///             println!("{urn}: {:?}", begun.elapsed());
///             outcomes
///         })
///     }
/// }
///
/// # let router = Router::from_handlers![];
/// SqsConsumer::builder(sqs, "https://sqs.eu-west-1.amazonaws.com/1234/orders", router)
///     .layer(tower_layer::layer_fn(Timed));
/// # }
/// ```
#[cfg(feature = "sqs")]
pub mod middleware {
    pub use crate::pipeline::middleware::{Next, Outcomes, Work};
}

/// Bodies that are no envelopes: decoders for queues that others fill, given to a consumer's
/// `.decoder(…)`.
#[cfg(feature = "sqs")]
pub mod decode {
    pub use crate::pipeline::foreign::{
        Decode, Decoded, EventBridge, Foreign, Inner, PlainJson, Sns,
    };
}

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
    Attempts, Batch, FromBatch, FromDelivery, FromRef, HandlerError, Outcome, ResultExt, State,
    TraceId,
};
#[cfg(feature = "lambda")]
pub use lambda::LambdaConsumer;
pub use lease::{Lease, Lost};
pub use message::{BabelMessage, Publish, PublishError, Published};
pub use names::Router;
#[cfg(feature = "sqs")]
pub use pipeline::ErrorEvent;
pub use policy::{Backoff, DeadLetterQueue, Jitter, ReportKind, UnknownUrn};
pub use router::{Route, RouteTable, Routes};
#[cfg(feature = "sqs")]
pub use sqs::{
    BatchError, BufferedPublisher, BuildError, ConsumerGroup, FlushError, Handle, RunError,
    SqsConsumer, SqsPublisher, shutdown_signal,
};

#[cfg(all(doctest, feature = "sqs"))]
#[doc = include_str!("../../README.md")]
struct Readme;

/// What a service needs to write messages, handlers and routers.
pub mod prelude {
    pub use crate::names::Router;
    pub use crate::{
        Attempts, BabelMessage, Backoff, Batch, Context, DeadLetterQueue, Envelope, FromDelivery,
        FromRef, HandlerError, Headers, Jitter, Meta, Outcome, Publish, ResultExt, RouteTable,
        Routes, State, TraceId, UnknownUrn, babel_handler,
    };
    #[cfg(feature = "sqs")]
    pub use crate::{BufferedPublisher, ConsumerGroup, SqsConsumer, SqsPublisher, shutdown_signal};
}

/// Any error, boxed.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A future, boxed.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
