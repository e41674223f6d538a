use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    order_id: u64,
}

#[babel_handler(fallback)]
async fn first(_envelope: &Envelope) {}

#[babel_handler(fallback)]
async fn second(_envelope: &Envelope) {}

#[babel_handler]
async fn created(_order: OrderCreated) {}

fn main() {
    let _ = Router::from_handlers![first, created, second];
}
