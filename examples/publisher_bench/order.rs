//! The message of the benchmark.

use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
pub(crate) struct Order {
    pub(crate) order_id: u64,
    pub(crate) customer: String,
    pub(crate) note: String,
    pub(crate) cents: i64,
}

pub(crate) fn order(order_id: usize) -> Order {
    Order {
        order_id: order_id as u64,
        customer: format!("customer-{}", order_id % 100),
        note: "two cups, please: the blue ones, if there are any left".to_owned(),
        cents: 1990,
    }
}
