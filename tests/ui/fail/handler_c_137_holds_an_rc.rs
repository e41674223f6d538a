use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    order_id: u64,
}

#[babel_handler]
async fn order_created(order: OrderCreated) {
    let shared = std::rc::Rc::new(order);
    std::future::ready(()).await;
    drop(shared);
}

fn main() {}
