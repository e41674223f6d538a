//! Behind AWS Lambda: the same spans, by the event's attributes.

use std::time::Duration;

use babelqueue::LambdaConsumer;
use babelqueue::lambda::{Event, Invocation};
use babelqueue::prelude::*;
use babelqueue::telemetry::Conventions;
use lambda_runtime::LambdaEvent;
use opentelemetry::trace::{SpanId, SpanKind};
use serde_json::{Value, json};

use crate::support::{
    App, Bench, DEAD, PARENT, PARENT_SPAN, PARENT_TRACE, QUEUE, attribute, attributes, envelope,
    id, order, router, trace,
};

const PROCESS: &str = "process urn:babel:orders:created";

/// Receives all, as an event source mapping does.
async fn receive(bench: &Bench) -> Event {
    let call = bench.sqs.client().receive_message();
    let call = call.queue_url(&bench.url).max_number_of_messages(10);
    let call = call.message_system_attribute_names("All".into());
    let answer = call.message_attribute_names("All").send().await.unwrap();
    let record = |message: &aws_sdk_sqs::types::Message| {
        let attributes = message.message_attributes().into_iter().flatten();
        let attributes = attributes.map(|(name, value)| {
            let value = json!({
                "stringValue": value.string_value(), "dataType": value.data_type(),
            });
            (name.clone(), value)
        });
        json!({
            "messageId": message.message_id(), "receiptHandle": message.receipt_handle(),
            "body": message.body(), "messageAttributes": Value::Object(attributes.collect()),
            "attributes": { "ApproximateReceiveCount": "1" },
            "eventSourceARN": bench.sqs.queue_arn(QUEUE),
        })
    };
    let records: Vec<_> = answer.messages().iter().map(record).collect();
    Event::try_from(json!({ "Records": records })).expect("an SQS event")
}

/// A function with delays and a dead-letter queue.
fn function(bench: &Bench) -> LambdaConsumer {
    LambdaConsumer::builder(router())
        .state(App::clone(&bench.app))
        .client(bench.sqs.client())
        .retry_backoff(true)
        .dead_letter_queue(DeadLetterQueue::default_name())
        .telemetry(bench.telemetry.clone())
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_a_producer_sent_is_handled_in_its_trace() {
    let bench = Bench::new();
    order(&["publish"])
        .publish(&bench.app.publisher)
        .await
        .unwrap();
    let event = receive(&bench).await;
    let answer = function(&bench)
        .invoke(event, Invocation::new("r", None))
        .await;
    assert!(answer.batch_item_failures.is_empty());
    let producer = bench.only("publish urn:babel:orders:created");
    let consumer = bench.only(PROCESS);
    assert_eq!(trace(&consumer), trace(&producer));
    assert_eq!(consumer.parent_span_id, id(&producer));
    let next = bench.only("publish urn:babel:mails:wanted");
    assert_eq!(trace(&next), trace(&producer));
    assert_eq!(next.parent_span_id, id(&consumer));
}

#[tokio::test(start_paused = true)]
async fn the_span_of_an_invocation_points_to_its_xray_trace() {
    let bench = Bench::new();
    let header = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";
    for traced in [Some(header), Some("garbage"), None] {
        let mut context = lambda_runtime::Context::default();
        context.request_id = "req-1".to_owned();
        context.xray_trace_id = traced.map(str::to_owned);
        bench.put(envelope("m", "t", &["span"]), &[]);
        let event = LambdaEvent::new(receive(&bench).await, context);
        function(&bench).handle(event).await.unwrap();
    }
    let spans = bench.named("invocation");
    assert_eq!(spans.len(), 3);
    for span in &spans {
        assert_eq!(span.span_kind, SpanKind::Consumer);
        assert_eq!(span.parent_span_id, SpanId::INVALID);
        let keys = ["faas.invocation_id", "messaging.batch.message_count"];
        assert_eq!(attributes(span, keys), ["req-1", "1"]);
    }
    let links: Vec<_> = spans.iter().map(|span| span.links.len()).collect();
    assert_eq!(links, [1, 0, 0]);
    let linked = &spans[0].links[0].span_context;
    assert_eq!(
        linked.trace_id().to_string(),
        "5759e988bd862e3fe1be46a994272793"
    );
    assert_eq!(linked.span_id().to_string(), "53995c3f42cd8ad8");
    // The messages stay in traces of their own.
    let other = |span: &_| trace(span) != trace(&spans[0]);
    assert!(bench.named(PROCESS).iter().all(other));
}

#[tokio::test(start_paused = true)]
async fn the_calls_of_a_function_are_measured_and_point_to_their_messages() {
    let bench = Bench::with(Conventions::Messaging);
    for step in ["ok", "fail", "fail", "permanent"] {
        bench.put(envelope(step, "t", &[step]), &[]);
    }
    let event = receive(&bench).await;
    let begun = Invocation::new("r", Some(Duration::from_secs(30)));
    let answer = function(&bench).invoke(event, begun).await;
    assert_eq!(answer.batch_item_failures.len(), 2);
    assert_eq!(bench.sqs.snapshot(DEAD).visible.len(), 1);

    let calls = bench.metric("messaging.client.operation.duration");
    let expected = ["ChangeMessageVisibilityBatch", "SendMessage"]
        .map(|call| (format!("messaging.operation.name={call}"), 1.0));
    assert_eq!(calls, expected.into());

    for (counter, expected) in [
        ("messaging.client.consumed.messages", 4.0),
        ("babelqueue.consumer.retries", 2.0),
        ("babelqueue.consumer.releases", 2.0),
        ("babelqueue.consumer.dead_letters", 1.0),
    ] {
        let counted = bench.metric(counter);
        assert_eq!(counted.values().sum::<f64>(), expected, "{counter}");
    }

    let settled = bench.named("settle orders");
    let of = |call: &str| {
        let is = |span: &&_| attribute(span, "messaging.operation.name").as_deref() == Some(call);
        settled.iter().find(is).unwrap()
    };
    assert_eq!(settled.len(), 2);
    let handled = |step: &str| {
        let mut spans = bench.named("process orders");
        spans.retain(|span| attribute(span, "messaging.message.id").as_deref() == Some(step));
        spans
    };
    let changed = of("ChangeMessageVisibilityBatch");
    let linked = changed.links.iter().map(|link| link.span_context.span_id());
    let failed: Vec<_> = handled("fail").iter().map(id).collect();
    assert_eq!(linked.collect::<Vec<_>>(), failed);
    let buried = of("SendMessage");
    let permanent = &handled("permanent")[0];
    assert_eq!(buried.parent_span_id, id(permanent));
    assert_eq!(trace(buried), trace(permanent));
}

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
    let left = bench.metric("babelqueue.consumer.left");
    assert_eq!(left.values().sum::<f64>(), 1.0, "the queue brings it again");
}
