use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
#[babel(crate = babelqueue)]
struct OrderCreated {
    order_id: u64,
}

fn main() {}
