use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {}

#[babel_handler]
async fn orders(_: Batch<OrderCreated>) {}

fn main() {}
