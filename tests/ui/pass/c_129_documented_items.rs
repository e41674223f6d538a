//! C-129: generated public items carry docs or are hidden.
#![deny(missing_docs, warnings)]

/// The orders.
pub mod orders {
    use babelqueue::prelude::*;
    use serde::{Deserialize, Serialize};

    /// An order.
    #[derive(Serialize, Deserialize, BabelMessage)]
    #[urn = "urn:babel:orders:created"]
    pub struct OrderCreated {
        /// Its number.
        pub order_id: u64,
    }

    /// Handles an order.
    #[babel_handler]
    pub async fn created(order: OrderCreated) {
        let _ = order.order_id;
    }

    Router::from_handlers![pub struct Orders; created];
}

fn main() {
    let _ = orders::Orders;
}
