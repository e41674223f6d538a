use babelqueue::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct OrderCreated {
    order_id: u64,
}

#[babel_handler]
async fn order_created(_order: OrderCreated) {}

fn main() {
    let _ = Router::from_handlers![order_created];
}
