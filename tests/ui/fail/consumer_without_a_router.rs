use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    order_id: u64,
}

#[derive(Clone)]
struct Db;

fn consumer(sqs: aws_sdk_sqs::Client) {
    let _ = SqsConsumer::builder(sqs, "http://sqs.local/1/orders", Db).build();
}

fn main() {}
