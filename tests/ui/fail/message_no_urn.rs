use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
struct OrderCreated {
    order_id: u64,
}

#[babel_handler]
async fn order_created(_order: OrderCreated) {}

fn main() {}
