use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[serde(transparent)]
#[urn = "urn:babel:orders:created"]
struct OrdersCreated {
    orders: Vec<u64>,
}

fn main() {}
