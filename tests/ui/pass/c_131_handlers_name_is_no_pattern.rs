//! C-131: what is generated beside a handler cannot be hit by a binding or a pattern.
#![deny(warnings)]

use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    order_id: u64,
}

#[babel_handler]
async fn order(message: OrderCreated) {
    let _ = message.order_id;
}

macro_rules! binds {
    ($e:expr) => {{
        let order = $e;
        order
    }};
}

fn main() {
    let order = 1;
    let matched = match order {
        1 => 1,
        order => order + 1,
    };
    assert_eq!(binds!(matched), 1);
    let (order, _rest) = (matched, ());
    assert_eq!(order, 1);
    let router = Router::from_handlers![order];
    assert_eq!(router.routes()[0].handler, "order");
    let _future = self::order(OrderCreated { order_id: 1 });
}
