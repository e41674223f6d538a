//! C-121: a crate that has the library through a facade alone.

use case_facade::messaging::babelqueue::prelude::*;
use case_facade::serde::{Deserialize, Serialize};

/// An order.
#[derive(Serialize, Deserialize, BabelMessage)]
#[serde(crate = "case_facade::serde")]
#[urn = "urn:babel:orders:created"]
#[babel(crate = "case_facade::messaging::babelqueue")]
pub struct OrderCreated {
    /// Its customer.
    #[babel(group_id)]
    pub customer_id: u64,
}

/// A part of the state.
#[derive(Clone)]
pub struct Db;

/// The state.
#[derive(Clone, FromRef)]
#[babel(crate = "case_facade::messaging::babelqueue")]
pub struct App {
    /// Its part.
    pub db: Db,
}

/// Handles an order.
#[babel_handler(crate = "case_facade::messaging::babelqueue", state = App)]
pub async fn created(order: OrderCreated, State(_db): State<Db>) {
    let _ = order.customer_id;
}

/// The router.
pub fn router() -> impl Routes<App> {
    Router::from_handlers![created]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_121_finds_its_way_through_a_facade() {
        assert_eq!(router().find("urn:babel:orders:created"), Some(0));
        assert_eq!(
            OrderCreated { customer_id: 7 }.group_id().as_deref(),
            Some("7")
        );
    }
}
