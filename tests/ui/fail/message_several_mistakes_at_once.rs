use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[babel(schemas)]
struct OrderCreated {
    #[babel(group)]
    order_id: u64,
}

fn main() {}
