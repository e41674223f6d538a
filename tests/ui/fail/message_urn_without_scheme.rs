use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "orders:created"]
struct OrderCreated {
    order_id: u64,
}

fn main() {}
