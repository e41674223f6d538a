//! C-120: no meaning is read from the spelling of a type.

use std::convert::Infallible;
use std::fmt;

use babelqueue::{BabelMessage, Delivery, FromDelivery, Router, Routes, babel_handler};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Option<T>(T);

impl<T: fmt::Display> fmt::Display for Option<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "own:{}", self.0)
    }
}

type Maybe<T> = std::option::Option<T>;

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    #[babel(group_id)]
    customer: Option<u64>,
    #[babel(dedup_id)]
    key: Maybe<u64>,
}

struct Context(usize);
struct State(usize);

impl<'d, S> FromDelivery<'d, S> for Context {
    type Rejection = Infallible;

    fn from_delivery(_: &'d Delivery, _: &'d S) -> Result<Self, Infallible> {
        Ok(Self(1))
    }
}

impl<'d, S> FromDelivery<'d, S> for State {
    type Rejection = Infallible;

    fn from_delivery(_: &'d Delivery, _: &'d S) -> Result<Self, Infallible> {
        Ok(Self(2))
    }
}

#[babel_handler]
async fn created(_order: OrderCreated, ctx: Context, state: State) {
    let _ = ctx.0 + state.0;
}

fn router() -> impl Routes<()> {
    Router::from_handlers![created]
}

fn main() {
    let order = OrderCreated { customer: Option(7), key: Maybe::None };
    assert_eq!(order.group_id().as_deref(), Maybe::Some("own:7"));
    assert_eq!(order.deduplication_id(), Maybe::None);
    let order = OrderCreated { customer: Option(7), key: Maybe::Some(8) };
    assert_eq!(order.deduplication_id().as_deref(), Maybe::Some("8"));
    let _ = router();
}
