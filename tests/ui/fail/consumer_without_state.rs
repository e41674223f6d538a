use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    order_id: u64,
}

#[derive(Clone)]
struct Db;

#[babel_handler]
async fn created(_order: OrderCreated, State(_db): State<Db>) {}

fn consumer(sqs: aws_sdk_sqs::Client) {
    let router = Router::from_handlers![created];
    let _ = SqsConsumer::builder(sqs, "http://sqs.local/1/orders", router).build();
}

fn main() {}
