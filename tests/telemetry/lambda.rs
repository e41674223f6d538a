//! Behind AWS Lambda: the same spans, by the event's attributes.

use babelqueue::LambdaConsumer;
use babelqueue::lambda::{Event, Invocation};
use babelqueue::prelude::*;
use serde_json::json;

use crate::support::{
    Bench, PARENT, PARENT_SPAN, PARENT_TRACE, attribute, envelope, router, trace,
};

#[tokio::test(start_paused = true)]
async fn an_event_of_lambda_carries_its_traces_on() {
    let bench = Bench::new();
    let record = |id: &str, steps: &[&str], traceparent: &str| {
        json!({
            "messageId": id, "receiptHandle": "r", "body": envelope(id, id, steps),
            "attributes": { "ApproximateReceiveCount": "2" },
            "messageAttributes": {
                "traceparent": { "stringValue": traceparent, "dataType": "String" },
            },
            "eventSource": "aws:sqs", "awsRegion": "us-east-1",
            "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:orders",
        })
    };
    let event = json!({ "Records": [
        record("m-1", &["ok"], PARENT),
        record("m-2", &["fail"], "garbage"),
    ]});
    let event = Event::try_from(event).expect("an SQS event");
    let consumer = LambdaConsumer::builder(router())
        .state(bench.app.clone())
        .telemetry(bench.telemetry.clone())
        .build()
        .unwrap();
    let answer = consumer.invoke(event, Invocation::new("req-1", None)).await;
    assert_eq!(answer.batch_item_failures.len(), 1);

    let spans = bench.named("process urn:babel:orders:created");
    let of = |id: &str| {
        let is = |span: &&_| attribute(span, "messaging.message.id").as_deref() == Some(id);
        spans.iter().find(is).unwrap()
    };
    assert_eq!(trace(of("m-1")).to_string(), PARENT_TRACE);
    assert_eq!(of("m-1").parent_span_id.to_string(), PARENT_SPAN);
    assert_eq!(
        attribute(of("m-1"), "babelqueue.outcome").as_deref(),
        Some("done")
    );
    assert_eq!(
        attribute(of("m-2"), "error.type").as_deref(),
        Some("handler")
    );
    assert_eq!(
        attribute(of("m-2"), "messaging.babelqueue.attempts").as_deref(),
        Some("1")
    );
    let handled = bench.metric("babelqueue.consumer.handled");
    assert_eq!(handled.values().sum::<f64>(), 2.0, "{handled:?}");
}

#[tokio::test(start_paused = true)]
async fn the_calls_of_a_lambda_consumer_are_measured() {
    let bench = Bench::new();
    bench.put(envelope("m-1", "t", &["permanent"]), &[]);
    let received = bench.sqs.client().receive_message().queue_url(&bench.url);
    let received = received.send().await.unwrap();
    let message = &received.messages()[0];
    let event = json!({ "Records": [{
        "messageId": message.message_id(), "receiptHandle": message.receipt_handle(),
        "body": message.body(), "attributes": { "ApproximateReceiveCount": "1" },
        "messageAttributes": {}, "eventSource": "aws:sqs", "awsRegion": "us-east-1",
        "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:orders",
    }]});
    let consumer = LambdaConsumer::builder(router())
        .state(bench.app.clone())
        .client(bench.sqs.client())
        .dead_letter_queue(DeadLetterQueue::default_name())
        .telemetry(bench.telemetry.clone())
        .build()
        .unwrap();
    let event = Event::try_from(event).expect("an SQS event");
    let answer = consumer.invoke(event, Invocation::new("req-1", None)).await;
    assert!(answer.batch_item_failures.is_empty(), "{answer:?}");
    let calls = bench.metric("messaging.client.operation.duration");
    assert_eq!(
        calls["messaging.operation.name=SendMessage"], 1.0,
        "{calls:?}"
    );
}
