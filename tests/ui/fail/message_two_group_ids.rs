use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    #[babel(group_id)]
    customer_id: u64,
    #[babel(group_id)]
    order_id: u64,
}

fn main() {}
