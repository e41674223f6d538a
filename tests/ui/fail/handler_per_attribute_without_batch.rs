use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {}

#[babel_handler(per_attribute = "tenant")]
async fn orders(_: OrderCreated) {}

fn main() {}
