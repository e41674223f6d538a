use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    order_id: u64,
}

#[babel_handler(nonsense =)]
async fn order_created(_order: OrderCreated) {}

async fn elsewhere() {
    order_created(OrderCreated { order_id: 1 }).await;
}

fn main() {
    let _ = elsewhere();
    let _ = Router::from_handlers![order_created];
}
