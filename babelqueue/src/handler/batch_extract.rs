//! What a batch handler may take besides its batch. What belongs to one message is on its item.

use std::convert::Infallible;

use super::error::IntoHandlerError;
use super::state::{FromRef, State};
use crate::context::Delivery;

/// An argument of a batch handler that is taken from the whole batch and the state: the
/// counterpart of [`FromDelivery`](crate::FromDelivery).
///
/// Provided: [`State<T>`](State), `&[Delivery]`, `Option<E>` and `Result<E, E::Rejection>`. A
/// `&Context` is not among them, because each message has its own: `item.context()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a batch handler",
    label = "not something a handler can take from a batch and the state `{S}`",
    note = "the first argument is the `Batch<T>`; the others are `State<T>`, `&[Delivery]`, \
            `Option<…>`, `Result<…>`, or a type that implements `FromBatch`; what belongs to one \
            message is on its item, such as `item.context()`"
)]
pub trait FromBatch<'d, S>: Sized {
    /// Why the argument could not be had. It fails the whole call as the handler's own error
    /// would.
    type Rejection: IntoHandlerError;

    /// Takes the argument. `deliveries` are those of the call, never none; with
    /// `#[babel_handler(batch, per_attribute = "…")]` all have the same value of that attribute.
    ///
    /// # Errors
    /// [`Self::Rejection`], and then the handler does not run.
    fn from_batch(deliveries: &'d [Delivery], state: &'d S) -> Result<Self, Self::Rejection>;
}

impl<'d, S> FromBatch<'d, S> for &'d [Delivery] {
    type Rejection = Infallible;

    fn from_batch(deliveries: &'d [Delivery], _: &'d S) -> Result<Self, Infallible> {
        Ok(deliveries)
    }
}

impl<'d, S, T: FromRef<S>> FromBatch<'d, S> for State<T> {
    type Rejection = Infallible;

    fn from_batch(_: &'d [Delivery], state: &'d S) -> Result<Self, Infallible> {
        Ok(Self(T::from_ref(state)))
    }
}

impl<'d, S, E: FromBatch<'d, S>> FromBatch<'d, S> for Option<E> {
    type Rejection = Infallible;

    fn from_batch(deliveries: &'d [Delivery], state: &'d S) -> Result<Self, Infallible> {
        Ok(E::from_batch(deliveries, state).ok())
    }
}

impl<'d, S, E: FromBatch<'d, S>> FromBatch<'d, S> for Result<E, E::Rejection> {
    type Rejection = Infallible;

    fn from_batch(deliveries: &'d [Delivery], state: &'d S) -> Result<Self, Infallible> {
        Ok(E::from_batch(deliveries, state))
    }
}
