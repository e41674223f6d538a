//! Queues and messages for the tests.

use std::collections::BTreeMap;

use babelqueue::local::{LocalSqs, MessageSnapshot};
use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
pub struct OrderCreated {
    #[babel(group_id)]
    pub customer: Option<String>,
    pub order_id: u64,
}

pub fn order() -> OrderCreated {
    OrderCreated {
        customer: None,
        order_id: 1042,
    }
}

/// A server with `orders` and `orders.fifo`.
pub fn server() -> LocalSqs {
    let sqs = LocalSqs::new();
    sqs.create_queue("orders");
    sqs.create_queue_with("orders.fifo", [("FifoQueue", "true")])
        .unwrap();
    sqs.clear_calls();
    sqs
}

/// The visible messages of a queue.
pub fn visible(sqs: &LocalSqs, queue: &str) -> Vec<MessageSnapshot> {
    sqs.snapshot(queue).visible
}

/// The attributes: data type and text by name.
pub fn attributes(message: &MessageSnapshot) -> BTreeMap<&str, (&str, &str)> {
    message
        .attributes
        .iter()
        .map(|(name, value)| {
            let text = value.text().unwrap_or("binary");
            (name.as_str(), (value.data_type.as_str(), text))
        })
        .collect()
}
