use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {}

#[babel_handler(batch, state = ())]
async fn orders(_: Batch<OrderCreated>, _: &Context) {}

fn main() {}
