//! What the generated code names. No part of the public API: it changes without notice.

use std::fmt::Display;
use std::marker::PhantomData;

pub use babelqueue_macros::from_handlers;
pub use serde_json::Value;

pub use crate::BoxFuture;
pub use crate::context::Delivery;
pub use crate::handler::{
    Absent, Batch, BatchRule, FallbackPayload, FromBatch, FromDelivery, FromRef, Handler,
    HandlerError, HandlerInfo, HandlerResult, Input, IntoOutcome, Payload, SharedState, fallback,
    gather, payload, rejected,
};
pub use crate::message::BabelMessage;
pub use crate::router::{
    Entry, Merged, Parts, RouteTable, Routes, Slot, Table, assert_disjoint, check_entry, slots_for,
};

/// Asks a type whether it is a message, without requiring it: a payload that is none gets its
/// one error from the handler's body.
#[derive(Debug)]
pub struct Probe<T>(PhantomData<fn() -> T>);

/// Asks the same of what a batch handler takes first.
#[derive(Debug)]
pub struct BatchProbe<B>(PhantomData<fn() -> B>);

impl<T: BabelMessage> Probe<T> {
    pub const BABEL_URN: Option<&'static str> = Some(T::URN);
    pub const BABEL_ALIASES: &'static [&'static str] = T::ALIASES;
}

impl<T: NotAnObject> Probe<T> {
    pub const BABEL_IS_OBJECT: bool = false;
}

impl<T: BabelMessage> BatchProbe<Batch<T>> {
    pub const BABEL_URN: Option<&'static str> = Some(T::URN);
    pub const BABEL_ALIASES: &'static [&'static str] = T::ALIASES;
}

/// What a type answers that is no message, and nothing known to be written as a number, a string
/// or an array.
pub trait NoMessage {
    const BABEL_URN: Option<&'static str> = None;
    const BABEL_ALIASES: &'static [&'static str] = &[];
    const BABEL_IS_OBJECT: bool = true;
}

impl<T> NoMessage for Probe<T> {}
impl<B> NoMessage for BatchProbe<B> {}

/// Asks a type for its schema, without requiring one.
#[derive(Debug)]
pub struct SchemaProbe<T>(PhantomData<fn() -> T>);

#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> SchemaProbe<T> {
    pub fn babel_schema() -> Option<Value> {
        require_schema::<T>()
    }
}

/// What a type without a schema answers.
pub trait NoSchema {
    fn babel_schema() -> Option<Value> {
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
    fn babel_key(&self) -> Self::Id;
}

impl<T: Display> KeyOfOption for Key<'_, Option<T>> {
    type Id = Option<String>;

    fn babel_key(&self) -> Option<String> {
        self.0.as_ref().map(ToString::to_string)
    }
}

/// An id that is always there.
pub trait KeyOfDisplay {
    type Id;
    fn babel_key(&self) -> Self::Id;
}

impl<T: Display> KeyOfDisplay for Key<'_, T> {
    type Id = Option<String>;

    fn babel_key(&self) -> Option<String> {
        Some(self.0.to_string())
    }
}

/// Neither: turned into one error by [`IdSource`].
pub trait KeyOfNeither {
    type Id;
    fn babel_key(&self) -> Self::Id;
}

impl<T> KeyOfNeither for &Key<'_, T> {
    type Id = NoId<T>;

    fn babel_key(&self) -> NoId<T> {
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
pub fn absent(input: Input<'_>) -> HandlerResult {
    let gathered = input.all();
    let urn = gathered
        .deliveries()
        .first()
        .map_or("", |delivery| delivery.context().urn());
    Err(HandlerError::new(format!(
        "the handler of {urn} is not compiled in"
    )))
}

/// Requires that an argument can be had from the pinned state.
pub fn state_offers<'d, S, E: FromDelivery<'d, S>>() {}

/// The same of a batch handler's argument.
pub fn state_offers_batch<'d, S, E: FromBatch<'d, S>>() {}

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

/// Types that serde writes as a number, a string, a boolean or an array.
pub trait NotAnObject {}

macro_rules! no_objects {
    ($($type:ty)*) => {$( impl NotAnObject for $type {} )*};
}

no_objects! { bool char f32 f64 i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize str String }

impl<T> NotAnObject for Vec<T> {}
impl<T, const N: usize> NotAnObject for [T; N] {}
impl<T> NotAnObject for [T] {}
impl<T> NotAnObject for std::collections::VecDeque<T> {}
impl<T> NotAnObject for std::collections::BTreeSet<T> {}
impl<T, S> NotAnObject for std::collections::HashSet<T, S> {}
impl<A, B> NotAnObject for (A, B) {}
impl<A, B, C> NotAnObject for (A, B, C) {}
impl<T: NotAnObject + ToOwned + ?Sized> NotAnObject for std::borrow::Cow<'_, T> {}
impl<T: NotAnObject + ?Sized> NotAnObject for Box<T> {}
impl<T: NotAnObject> NotAnObject for Option<T> {}

/// Refuses a newtype of one of them.
#[track_caller]
pub const fn check_shape(is_object: bool) {
    assert!(
        is_object,
        "serde writes this newtype as a number, a string or an array, and `data` is an object: \
         name the field"
    );
}

/// Converts a handler's answer; whether it can be one is asked here, at the return type.
///
/// # Errors
/// The handler's own.
pub fn into_outcome<R: IntoOutcome>(answer: R) -> HandlerResult {
    answer.into_outcome()
}
