//! One trace through two languages: the `otel` extra of the Python SDK on one side, the feature
//! `otel` on the other, over one SQS.

use std::time::Duration;

use babelqueue::prelude::*;
use babelqueue::telemetry::Telemetry;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::peer::Meeting;

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    order_id: u64,
}

#[babel_handler]
async fn order_created(_order: OrderCreated) {}

struct Traced {
    telemetry: Telemetry,
    spans: InMemorySpanExporter,
}

impl Traced {
    fn new() -> Self {
        let spans = InMemorySpanExporter::default();
        let provider = SdkTracerProvider::builder()
            .with_simple_exporter(spans.clone())
            .build();
        let telemetry = Telemetry::builder().tracer_provider(&provider).build();
        Self { telemetry, spans }
    }

    fn only(&self) -> SpanData {
        let mut spans = self.spans.get_finished_spans().unwrap();
        assert_eq!(spans.len(), 1, "{spans:?}");
        spans.remove(0)
    }
}

#[tokio::test]
async fn a_handler_in_rust_is_the_child_of_a_publish_in_python() {
    let (meeting, traced) = (Meeting::local().await, Traced::new());
    let url = meeting.create_queue("traced-from-python").await;
    let sent = meeting
        .traced_publish("traced-from-python", OrderCreated::URN)
        .await;
    assert_eq!(sent[0]["name"], "publish urn:babel:orders:created");
    let router = Router::from_handlers![order_created];
    let consumer = SqsConsumer::builder(meeting.sqs.clone(), &url, router)
        .wait_time(Duration::ZERO)
        .telemetry(traced.telemetry.clone())
        .build()
        .unwrap();
    consumer.poll().await.unwrap();

    let handled = traced.only();
    assert_eq!(handled.name, "process urn:babel:orders:created");
    assert_eq!(
        sent[0]["trace"],
        handled.span_context.trace_id().to_string()
    );
    assert_eq!(sent[0]["id"], handled.parent_span_id.to_string());
    let attribute = |key: &str| {
        let mut found = handled
            .attributes
            .iter()
            .filter(|pair| pair.key.as_str() == key);
        found.next().map(|pair| pair.value.as_str().into_owned())
    };
    let id = sent[0]["attributes"]["messaging.message.id"].as_str();
    assert_eq!(attribute("messaging.message.id").as_deref(), id);
    assert!(id.is_some());
    let trace_id = attribute("messaging.message.conversation_id").unwrap();
    assert_eq!(
        trace_id.replace('-', ""),
        handled.span_context.trace_id().to_string()
    );
    meeting.assert_empty(&url).await;
}

#[tokio::test]
async fn a_handler_in_python_is_the_child_of_a_publish_in_rust() {
    let (meeting, traced) = (Meeting::local().await, Traced::new());
    let url = meeting.create_queue("traced-to-python").await;
    let publisher = SqsPublisher::builder(meeting.sqs.clone(), &url)
        .telemetry(traced.telemetry.clone())
        .build()
        .unwrap();
    let published = OrderCreated { order_id: 7 }
        .publish(&publisher)
        .await
        .unwrap();
    let sent = traced.only();

    let seen = meeting.traced_consume("traced-to-python", 1).await;
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert_eq!(seen[0]["name"], "process urn:babel:orders:created");
    assert_eq!(seen[0]["kind"], "CONSUMER");
    assert_eq!(seen[0]["trace"], sent.span_context.trace_id().to_string());
    assert_eq!(seen[0]["parent"], sent.span_context.span_id().to_string());
    // Both sides write the very same attributes.
    let expected = json!({
        "messaging.system": "babelqueue",
        "messaging.operation": "process",
        "messaging.destination.name": "traced-to-python",
        "messaging.message.id": published.message_id,
        "messaging.message.conversation_id": published.trace_id,
        "messaging.babelqueue.attempts": 0,
    });
    assert_eq!(seen[0]["attributes"], expected);
    meeting.assert_empty(&url).await;
}
