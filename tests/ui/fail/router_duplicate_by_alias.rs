use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    order_id: u64,
}

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:accepted"]
#[babel(alias = "urn:babel:orders:created")]
struct OrderAccepted {
    order_id: u64,
}

mod sales {
    use super::*;

    #[babel_handler]
    pub async fn accepted(_order: OrderAccepted) {}
}

#[babel_handler]
async fn created(_order: OrderCreated) {}

fn main() {
    let _ = Router::from_handlers![sales::accepted, created];
}
