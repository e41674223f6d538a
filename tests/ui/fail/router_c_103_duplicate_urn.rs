use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    order_id: u64,
}

#[babel_handler]
async fn first(_order: OrderCreated) {}

#[babel_handler]
async fn second(_order: OrderCreated) {}

fn main() {
    let _ = Router::from_handlers![first, second];
}
