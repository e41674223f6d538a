use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

type OrderId = u64;

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated(OrderId);

fn main() {}
