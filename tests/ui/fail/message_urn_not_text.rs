use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = 1042]
struct OrderCreated {
    order_id: u64,
}

fn main() {}
