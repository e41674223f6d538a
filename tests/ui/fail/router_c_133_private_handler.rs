use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    order_id: u64,
}

mod a {
    use super::*;

    #[babel_handler]
    async fn created(_order: OrderCreated) {}
}

fn main() {
    let _ = Router::from_handlers![a::created];
}
