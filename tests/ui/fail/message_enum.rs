use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:changed"]
enum OrderChanged {
    Paid { order_id: u64 },
    Shipped { order_id: u64 },
}

fn main() {}
