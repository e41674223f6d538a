use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    order_id: u64,
}

#[babel_handler]
async fn order_created(order: OrderCreated) -> Result<(), std::io::Error> {
    let mutex = std::sync::Mutex::new(order.order_id);
    let guard = mutex.lock();
    std::future::ready(()).await;
    drop(guard);
    Ok(())
}

fn main() {}
