//! C-126: every form of every macro under the strictest lints. It is the build, and clippy, that
//! test it.
#![deny(
    warnings,
    missing_docs,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    unused_qualifications,
    unreachable_pub,
    unused_results,
    single_use_lifetimes,
    unused_lifetimes,
    elided_lifetimes_in_paths,
    missing_debug_implementations,
    rust_2018_idioms
)]

use std::borrow::Cow;
use std::future::ready;

use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

/// A message of every option.
#[derive(Debug, Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
#[babel(alias = "urn:babel:orders:new")]
pub struct OrderCreated {
    /// The group.
    #[babel(group_id)]
    pub customer_id: u64,
    /// The key.
    #[babel(dedup_id)]
    pub key: Option<String>,
}

/// A message without fields.
#[derive(Debug, Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:ping"]
pub struct Ping;

/// A message that borrows.
#[derive(Debug, Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:shipped"]
pub struct OrderShipped<'a> {
    /// Who brings it.
    #[serde(borrow)]
    pub carrier: Cow<'a, str>,
}

/// A generic message.
#[derive(Debug, Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:wrapped"]
pub struct Wrapped<T> {
    /// What is in it.
    pub inner: T,
}

/// A part of the state.
#[derive(Clone, Debug)]
pub struct Db;

/// The state.
#[derive(Clone, Debug, FromRef)]
pub struct App {
    /// The database.
    pub db: Db,
    /// Not for handlers.
    #[babel(skip)]
    pub name: String,
}

/// Takes everything, and nothing of it.
///
/// # Errors
/// Never.
#[babel_handler]
pub async fn order_created(
    _order: OrderCreated,
    _ctx: &Context,
    _headers: &Headers,
    _meta: &Meta,
    _state: State<Db>,
    _trace_id: TraceId,
    _maybe: Option<TraceId>,
) -> Result<(), String> {
    ready(()).await;
    Ok(())
}

/// Returns nothing.
#[babel_handler(state = App)]
pub async fn ping(_: Ping, State(_db): State<Db>) {
    ready(()).await;
}

/// Borrows.
#[babel_handler]
pub async fn order_shipped(shipped: OrderShipped<'_>, ctx: &Context) -> Outcome {
    ready(()).await;
    if shipped.carrier == ctx.trace_id() {
        Outcome::Done
    } else {
        Outcome::Discard
    }
}

/// Takes one type of a generic message.
///
/// # Errors
/// Always.
#[babel_handler]
pub(crate) async fn wrapped(wrapped: Wrapped<u8>) -> Result<Outcome, HandlerError> {
    ready(()).await;
    Err(HandlerError::permanent(wrapped.inner.to_string()))
}

/// Takes what is left.
#[babel_handler(fallback)]
pub async fn other(_envelope: &Envelope) {
    ready(()).await;
}

Router::from_handlers![
    /// A router with a name.
    pub struct Orders;,
    order_created,
    order_shipped
];
Router::from_handlers![struct Rest;, ping, wrapped, other];

/// The router.
#[must_use]
pub fn router() -> impl Routes<App> {
    Router::merge![Orders, Rest]
}

/// The same without names.
#[must_use]
pub fn unnamed() -> impl Routes<App> {
    Router::from_handlers![order_created, order_shipped].merge(Router::from_handlers![ping, other])
}
