//! C-127: the expansion sets no lint level that clashes with a `forbid` of the user's.
#![forbid(
    unsafe_code,
    missing_docs,
    unused_variables,
    unused_imports,
    dead_code,
    deprecated,
    unreachable_pub,
    unused_must_use
)]

use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone)]
struct Db;

#[derive(Clone, FromRef)]
struct App {
    db: Db,
}

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    #[babel(group_id)]
    customer_id: u64,
    #[babel(dedup_id)]
    key: Option<String>,
}

#[babel_handler]
async fn created(order: OrderCreated, State(db): State<Db>) -> Outcome {
    let _ = (order.customer_id, order.key, db);
    Outcome::Done
}

#[babel_handler(fallback)]
async fn other(envelope: &Envelope) {
    let _ = envelope.urn();
}

fn main() {
    let router = Router::from_handlers![created, other];
    takes(&router, App { db: Db });
    let order = OrderCreated { customer_id: 1, key: None };
    assert!(serde_json::to_string(&order).is_ok());
}

fn takes<S>(_: &impl Routes<S>, _: S) {}
