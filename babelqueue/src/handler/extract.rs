//! What a handler may take besides its payload: the extractors.

use std::convert::Infallible;
use std::fmt;
use std::ops::Deref;

use super::error::{ErrorKind, HandlerError, IntoHandlerError};
use super::state::{FromRef, State};
use crate::context::{Context, Delivery, Source};
use crate::envelope::{Envelope, Headers, Meta};

/// An argument of a handler that is taken from the delivery and the state.
///
/// Provided: `&Context`, `&Envelope`, `&Meta`, `&Headers`, `&Source`, [`State<T>`](State),
/// [`TraceId`], [`Attempts`], `Option<E>` (a rejection becomes `None`) and
/// `Result<E, E::Rejection>` (a rejection is handed to the handler). Write your own for what a
/// service needs of every message:
///
/// ```
/// use babelqueue::prelude::*;
/// use babelqueue::{Delivery, HandlerError};
///
/// struct Tenant<'d>(&'d str);
///
/// impl<'d, S> FromDelivery<'d, S> for Tenant<'d> {
///     type Rejection = HandlerError;
///
///     fn from_delivery(delivery: &'d Delivery, _: &'d S) -> Result<Self, HandlerError> {
///         let tenant = delivery.context().headers().get("tenant");
///         tenant.map(Tenant).ok_or_else(|| HandlerError::permanent("no `tenant` header"))
///     }
/// }
///
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize, BabelMessage)]
/// # #[urn = "urn:babel:orders:created"]
/// # struct OrderCreated {}
/// #[babel_handler]
/// async fn order_created(order: OrderCreated, tenant: Tenant<'_>) {
///     println!("for {}", tenant.0);
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a handler",
    label = "not something a handler can take from a delivery and the state `{S}`",
    note = "the first argument is the payload; the others are `&Context`, `&Meta`, `&Headers`, \
            `State<T>`, `TraceId`, `Attempts`, `Option<…>`, `Result<…>`, or a type that \
            implements `FromDelivery`"
)]
pub trait FromDelivery<'d, S>: Sized {
    /// Why the argument could not be had. It fails the delivery as the handler's own error
    /// would: [`HandlerError::permanent`] makes it final.
    type Rejection: IntoHandlerError;

    /// Takes the argument. Runs before the handler, for every delivery: it should not block.
    ///
    /// # Errors
    /// [`Self::Rejection`], and then the handler does not run.
    fn from_delivery(delivery: &'d Delivery, state: &'d S) -> Result<Self, Self::Rejection>;
}

/// For the generated code: a rejection as the handler's failure.
#[doc(hidden)]
pub fn rejected<R: IntoHandlerError>(rejection: R) -> HandlerError {
    rejection
        .into_handler_error()
        .with_kind(ErrorKind::Extractor)
}

macro_rules! borrowed {
    ($($type:ty => $get:expr;)*) => {$(
        impl<'d, S> FromDelivery<'d, S> for &'d $type {
            type Rejection = Infallible;

            fn from_delivery(delivery: &'d Delivery, _: &'d S) -> Result<Self, Infallible> {
                let get: fn(&'d Context) -> &'d $type = $get;
                Ok(get(delivery.context()))
            }
        }
    )*};
}

borrowed! {
    Context => |context| context;
    Envelope => Context::envelope;
    Meta => Context::meta;
    Headers => Context::headers;
    Source => Context::source;
}

impl<'d, S> FromDelivery<'d, S> for &'d Delivery {
    type Rejection = Infallible;

    fn from_delivery(delivery: &'d Delivery, _: &'d S) -> Result<Self, Infallible> {
        Ok(delivery)
    }
}

impl<'d, S, T: FromRef<S>> FromDelivery<'d, S> for State<T> {
    type Rejection = Infallible;

    fn from_delivery(_: &'d Delivery, state: &'d S) -> Result<Self, Infallible> {
        Ok(Self(T::from_ref(state)))
    }
}

/// The trace id of the message, owned, as an argument of a handler.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TraceId(String);

impl Deref for TraceId {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<TraceId> for String {
    fn from(trace_id: TraceId) -> Self {
        trace_id.0
    }
}

impl<'d, S> FromDelivery<'d, S> for TraceId {
    type Rejection = Infallible;

    fn from_delivery(delivery: &'d Delivery, _: &'d S) -> Result<Self, Infallible> {
        Ok(Self(delivery.context().trace_id().to_owned()))
    }
}

/// How often the message was tried before, as an argument of a handler: 0 on the first delivery
/// (SPEC §2.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attempts(pub u64);

impl<'d, S> FromDelivery<'d, S> for Attempts {
    type Rejection = Infallible;

    fn from_delivery(delivery: &'d Delivery, _: &'d S) -> Result<Self, Infallible> {
        Ok(Self(delivery.context().attempts()))
    }
}

impl<'d, S, E: FromDelivery<'d, S>> FromDelivery<'d, S> for Option<E> {
    type Rejection = Infallible;

    fn from_delivery(delivery: &'d Delivery, state: &'d S) -> Result<Self, Infallible> {
        Ok(E::from_delivery(delivery, state).ok())
    }
}

impl<'d, S, E: FromDelivery<'d, S>> FromDelivery<'d, S> for Result<E, E::Rejection> {
    type Rejection = Infallible;

    fn from_delivery(delivery: &'d Delivery, state: &'d S) -> Result<Self, Infallible> {
        Ok(E::from_delivery(delivery, state))
    }
}
