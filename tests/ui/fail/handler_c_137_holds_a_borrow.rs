use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    order_id: u64,
}

#[babel_handler]
async fn order_created(order: OrderCreated, _ctx: &Context) {
    let cell = std::cell::RefCell::new(order.order_id);
    let borrowed = cell.borrow_mut();
    std::future::ready(()).await;
    drop(borrowed);
}

fn main() {}
