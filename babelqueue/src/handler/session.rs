//! A session for the client that a message belongs to, by one of its attributes (SPEC §4.4).

use std::convert::Infallible;

use super::batch_extract::FromBatch;
use super::error::{HandlerError, IntoHandlerError};
use super::extract::FromDelivery;
use crate::context::Delivery;

/// What can be made of a client's code, for `Session<T>`.
pub trait FromClient<S>: Sized {
    /// The message attribute that names the client.
    const ATTRIBUTE: &'static str = "janis-client";

    /// Why there is no session. It fails the messages of this client alone.
    type Error: IntoHandlerError;

    /// Makes the session. Runs for every delivery, so it should be quick and not block: keep what
    /// takes time in the state.
    ///
    /// # Errors
    /// [`Self::Error`], and then the handler does not run.
    fn from_client(client: &str, state: &S) -> Result<Self, Self::Error>;
}

/// The code itself, of the attribute `janis-client`.
impl<S> FromClient<S> for String {
    type Error = Infallible;

    fn from_client(client: &str, _: &S) -> Result<Self, Infallible> {
        Ok(client.to_owned())
    }
}

/// The session of the client that a message belongs to, as an argument of a handler: `None` when
/// the message has no such attribute, or an empty one.
///
/// A batch handler divides its batches by the same attribute, so that each has one client:
///
/// ```
/// use babelqueue::handler::{FromClient, Session};
/// use babelqueue::prelude::*;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize, BabelMessage)]
/// # #[urn = "urn:babel:orders:created"]
/// # struct OrderCreated {}
///
/// struct Shop(String);
///
/// impl<S> FromClient<S> for Shop {
///     const ATTRIBUTE: &'static str = "shop";
///     type Error = HandlerError;
///
///     fn from_client(client: &str, _: &S) -> Result<Self, HandlerError> {
///         Ok(Shop(client.to_owned()))
///     }
/// }
///
/// #[babel_handler(batch, per_attribute = "shop")]
/// async fn orders(orders: Batch<OrderCreated>, Session(shop): Session<Shop>) {
///     match shop {
///         Some(Shop(name)) => println!("{} orders of {name}", orders.len()),
///         None => println!("{} orders of nobody", orders.len()),
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Session<T>(pub Option<T>);

/// Messages of several clients came together.
#[derive(Debug, thiserror::Error)]
#[error(
    "the batch has messages of several clients: divide it with \
     `#[babel_handler(batch, per_attribute = {attribute:?})]`"
)]
struct SeveralClients {
    attribute: &'static str,
}

impl<'d, S, T: FromClient<S>> FromDelivery<'d, S> for Session<T> {
    type Rejection = T::Error;

    fn from_delivery(delivery: &'d Delivery, state: &'d S) -> Result<Self, T::Error> {
        session(client::<S, T>(delivery), state)
    }
}

impl<'d, S, T: FromClient<S>> FromBatch<'d, S> for Session<T> {
    type Rejection = HandlerError;

    fn from_batch(deliveries: &'d [Delivery], state: &'d S) -> Result<Self, HandlerError> {
        let first = deliveries.first().and_then(client::<S, T>);
        let attribute = T::ATTRIBUTE;
        if deliveries
            .iter()
            .any(|delivery| client::<S, T>(delivery) != first)
        {
            return Err(SeveralClients { attribute }.into());
        }
        session(first, state).map_err(IntoHandlerError::into_handler_error)
    }
}

fn client<S, T: FromClient<S>>(delivery: &Delivery) -> Option<&str> {
    delivery.context().headers().get(T::ATTRIBUTE)
}

fn session<S, T: FromClient<S>>(client: Option<&str>, state: &S) -> Result<Session<T>, T::Error> {
    let session = client.map(|client| T::from_client(client, state));
    session.transpose().map(Session)
}
