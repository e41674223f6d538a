use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    order_id: u64,
}

#[derive(Clone)]
struct Db;

#[derive(Clone)]
struct App;

#[babel_handler(state = App)]
async fn order_created(_order: OrderCreated, State(_db): State<Db>) {}

fn main() {}
