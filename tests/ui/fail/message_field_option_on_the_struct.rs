use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
#[babel(group_id)]
struct OrderCreated {
    customer_id: u64,
}

fn main() {}
