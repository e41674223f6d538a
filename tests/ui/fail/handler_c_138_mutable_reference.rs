use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    order_id: u64,
}

#[babel_handler]
async fn order_created(_order: OrderCreated, _ctx: &mut Context) {}

fn main() {}
