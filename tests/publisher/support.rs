//! Queues and messages for the tests.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use babelqueue::local::{LocalSqs, MessageSnapshot};
use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};
use tracing::field::{Field, Visit};
use tracing::span;
use tracing::subscriber::DefaultGuard;

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

/// The order in a body.
pub fn order_id(body: &str) -> u64 {
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    body["data"]["order_id"].as_u64().unwrap()
}

/// What is logged by this thread from now on.
#[derive(Debug)]
pub struct Logged {
    lines: Lines,
    _guard: DefaultGuard,
}

#[derive(Clone, Debug, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Logged {
    pub fn new() -> Self {
        // Threads that log nowhere would else be asked whether a line is wanted at all, for everybody.
        let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry());
        let lines = Lines::default();
        let guard = tracing::subscriber::set_default(lines.clone());
        Self {
            lines,
            _guard: guard,
        }
    }

    /// How many lines hold the text.
    pub fn count(&self, text: &str) -> usize {
        let lines = self.lines.0.lock().unwrap();
        lines.iter().filter(|line| line.contains(text)).count()
    }
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.0, "{field}={value:?} ").unwrap();
    }
}

impl tracing::Subscriber for Lines {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target().starts_with("babelqueue")
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}
