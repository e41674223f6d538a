//! What the generated code names. No part of the public API: it changes without notice.

use std::fmt::Display;
use std::marker::PhantomData;

pub use babelqueue_macros::from_handlers;
pub use serde_json::Value;

pub use crate::BoxFuture;
pub use crate::context::Delivery;
pub use crate::handler::{
    Absent, FallbackPayload, FromDelivery, FromRef, Handler, HandlerError, HandlerInfo,
    HandlerResult, IntoOutcome, Payload, SharedState, fallback, payload, rejected,
};
pub use crate::message::BabelMessage;
pub use crate::router::{
    Entry, Merged, Parts, RouteTable, Routes, Slot, Table, assert_disjoint, check_entry, slots_for,
};

/// Asks a type whether it is a message, without requiring it: a payload that is none gets its
/// one error from the handler's body.
#[derive(Debug)]
pub struct Probe<T>(PhantomData<fn() -> T>);

impl<T: BabelMessage> Probe<T> {
    pub const URN: Option<&'static str> = Some(T::URN);
    pub const ALIASES: &'static [&'static str] = T::ALIASES;
}

/// What a type that is no message answers.
pub trait NoMessage {
    const URN: Option<&'static str> = None;
    const ALIASES: &'static [&'static str] = &[];
}

impl<T> NoMessage for Probe<T> {}

/// Asks a type for its schema, without requiring one.
#[derive(Debug)]
pub struct SchemaProbe<T>(PhantomData<fn() -> T>);

#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> SchemaProbe<T> {
    pub fn schema() -> Option<Value> {
        require_schema::<T>()
    }
}

/// What a type without a schema answers.
pub trait NoSchema {
    fn schema() -> Option<Value> {
        None
    }
}

impl<T> NoSchema for SchemaProbe<T> {}

/// What `#[babel(schema)]` requires.
#[cfg(feature = "schema")]
#[diagnostic::on_unimplemented(
    message = "`#[babel(schema)]` requires a JSON Schema, and `{Self}` has none",
    label = "derive `schemars::JsonSchema` on `{Self}`, or remove `schema`"
)]
pub trait HasSchema {
    fn json_schema() -> Value;
}

#[cfg(feature = "schema")]
#[diagnostic::do_not_recommend]
impl<T: schemars::JsonSchema> HasSchema for T {
    fn json_schema() -> Value {
        schemars::schema_for!(T).into()
    }
}

/// The schema of a type under `#[babel(schema)]`.
#[cfg(feature = "schema")]
pub fn require_schema<T: HasSchema>() -> Option<Value> {
    Some(T::json_schema())
}

/// Without the feature no type has a schema, and the compiler says what is missing.
#[cfg(not(feature = "schema"))]
#[diagnostic::on_unimplemented(
    message = "`#[babel(schema)]` needs the feature `schema` of babelqueue",
    label = "switch the feature on, or remove `schema`"
)]
pub trait SchemaFeature {}

#[cfg(not(feature = "schema"))]
pub fn require_schema<T: SchemaFeature>() -> Option<Value> {
    None
}

/// Wraps a field that is a group or deduplication id; which of the ways below applies is
/// decided by the field's type.
#[derive(Debug)]
pub struct Key<'a, T>(pub &'a T);

/// An id that may be missing.
pub trait KeyOfOption {
    type Id;
    fn key(&self) -> Self::Id;
}

impl<T: Display> KeyOfOption for Key<'_, Option<T>> {
    type Id = Option<String>;

    fn key(&self) -> Option<String> {
        self.0.as_ref().map(ToString::to_string)
    }
}

/// An id that is always there.
pub trait KeyOfDisplay {
    type Id;
    fn key(&self) -> Self::Id;
}

impl<T: Display> KeyOfDisplay for Key<'_, T> {
    type Id = Option<String>;

    fn key(&self) -> Option<String> {
        Some(self.0.to_string())
    }
}

/// Neither: turned into one error by [`IdSource`].
pub trait KeyOfNeither {
    type Id;
    fn key(&self) -> Self::Id;
}

impl<T> KeyOfNeither for &Key<'_, T> {
    type Id = NoId<T>;

    fn key(&self) -> NoId<T> {
        NoId(PhantomData)
    }
}

#[derive(Debug)]
pub struct NoId<T>(PhantomData<fn() -> T>);

/// What a field under `#[babel(group_id)]` or `#[babel(dedup_id)]` gives.
#[diagnostic::on_unimplemented(
    message = "a `group_id` or `dedup_id` field must be text: its type does not implement \
               `Display`",
    label = "does not implement `Display`",
    note = "use a number, a string, or a type of your own that implements `Display`; an `Option` \
            of one falls through to the next source"
)]
pub trait IdSource {
    fn id(self) -> Option<String>;
}

impl IdSource for Option<String> {
    fn id(self) -> Option<String> {
        self
    }
}

pub fn id<I: IdSource>(source: I) -> Option<String> {
    source.id()
}

/// What a handler answers that is listed and not there: after an error in its attribute.
///
/// # Errors
/// Always.
pub fn absent(delivery: &Delivery) -> HandlerResult {
    let urn = delivery.context().urn();
    Err(HandlerError::new(format!(
        "the handler of {urn} is not compiled in"
    )))
}

/// Requires that an argument can be had from the pinned state.
pub fn state_offers<'d, S, E: FromDelivery<'d, S>>() {}

/// Shows a router as its table.
///
/// # Errors
/// Those of the formatter.
pub fn fmt_routes<R: RouteTable>(f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    f.debug_map()
        .entries(
            R::PARTS
                .routes()
                .iter()
                .map(|route| (route.urn, route.handler)),
        )
        .finish()
}
