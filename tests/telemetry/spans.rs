//! Names, kinds, attributes and statuses of spans (SPEC §3.5), through a retry and into the
//! dead-letter queue.

use std::time::Duration;

use babelqueue::local::{Operation, Refusal};
use babelqueue::prelude::*;
use babelqueue::telemetry::Conventions;
use opentelemetry::trace::{SpanKind, Status};
use serde_json::json;

use crate::support::{
    Bench, DEAD, OrderCreated, PARENT, PARENT_SPAN, PARENT_TRACE, QUEUE, URN, attribute,
    attributes, envelope, envelope_of, id, order, trace,
};

const PUBLISH: &str = "publish urn:babel:orders:created";
const PROCESS: &str = "process urn:babel:orders:created";

#[tokio::test(start_paused = true)]
async fn a35_traced_publish_and_traced_handling() {
    let bench = Bench::new();
    let sent = order(&[]).publish(&bench.app.publisher).await.unwrap();
    bench.poll().await;

    let producer = bench.only(PUBLISH);
    assert_eq!(producer.span_kind, SpanKind::Producer);
    assert_eq!(producer.status, Status::Unset);
    let keys = [
        "messaging.system",
        "messaging.operation",
        "messaging.destination.name",
        "messaging.message.id",
    ];
    assert_eq!(
        attributes(&producer, keys),
        ["babelqueue", "publish", URN, &sent.message_id]
    );
    assert_eq!(sent.trace_id.replace('-', ""), trace(&producer).to_string());

    let consumer = bench.only(PROCESS);
    assert_eq!(consumer.span_kind, SpanKind::Consumer);
    assert_eq!(consumer.status, Status::Unset);
    assert_eq!(trace(&consumer), trace(&producer));
    assert_eq!(consumer.parent_span_id, id(&producer));
    assert!(consumer.parent_span_is_remote);
    assert_eq!(
        attributes(&consumer, keys),
        ["babelqueue", "process", QUEUE, &sent.message_id]
    );
    let keys = [
        "messaging.message.conversation_id",
        "messaging.babelqueue.attempts",
        "babelqueue.outcome",
    ];
    assert_eq!(attributes(&consumer, keys), [&sent.trace_id, "0", "done"]);
}

#[tokio::test(start_paused = true)]
async fn a_retry_and_the_dead_letter_stay_in_the_trace() {
    let bench = Bench::new();
    order(&["fail", "panic", "retry"])
        .publish(&bench.app.publisher)
        .await
        .unwrap();
    for _ in 0..3 {
        bench.poll().await;
    }
    let producer = bench.only(PUBLISH);
    let tries = bench.named(PROCESS);
    assert_eq!(tries.len(), 3);
    let expected = [
        ("0", "retry", "handler", "the bank said no"),
        ("1", "retry", "panic", "panicked: out of cheese"),
        (
            "2",
            "dead_letter",
            "handler",
            "the handler asked for another try",
        ),
    ];
    for (span, (attempt, outcome, kind, text)) in tries.iter().zip(expected) {
        assert_eq!(
            (trace(span), span.parent_span_id),
            (trace(&producer), id(&producer))
        );
        let keys = [
            "messaging.babelqueue.attempts",
            "babelqueue.outcome",
            "error.type",
        ];
        assert_eq!(attributes(span, keys), [attempt, outcome, kind]);
        assert_eq!(span.status, Status::error(text));
        let event = &span.events[0];
        assert_eq!(event.name, "exception");
        let message = event
            .attributes
            .iter()
            .find(|pair| pair.key.as_str() == "exception.message");
        assert_eq!(
            message.map(|pair| pair.value.to_string()),
            Some(text.to_owned())
        );
    }

    // Who reads the dead-letter queue goes on in the same trace, under the same parent.
    let dead = bench.sqs.queue_url(DEAD);
    let consumer = SqsConsumer::builder(
        bench.sqs.client(),
        dead,
        Router::from_handlers![handed_back],
    )
    .telemetry(bench.telemetry.clone())
    .wait_time(Duration::ZERO)
    .build()
    .unwrap();
    consumer.poll().await.unwrap();
    let inspected = bench.named(PROCESS).pop().unwrap();
    assert_eq!(trace(&inspected), trace(&producer));
    assert_eq!(inspected.parent_span_id, id(&producer));
    assert_eq!(
        attribute(&inspected, "messaging.babelqueue.attempts").as_deref(),
        Some("3")
    );
}

#[babel_handler]
async fn handed_back(_order: OrderCreated) {}

#[tokio::test(start_paused = true)]
async fn outcomes_that_are_no_failures_leave_the_status_alone() {
    let bench = Bench::new();
    bench.put(envelope("m-1", "t", &["discard"]), &[]);
    bench.poll().await;
    let span = bench.only(PROCESS);
    assert_eq!(span.status, Status::Unset);
    assert_eq!(
        attribute(&span, "babelqueue.outcome").as_deref(),
        Some("discarded")
    );
    assert_eq!(attribute(&span, "error.type"), None);
    // Nobody handles these, so that nothing is processed.
    bench.put(envelope_of("urn:x:y", "m-2", "t", &json!({})), &[]);
    bench.put("poison".to_owned(), &[]);
    bench.poll().await;
    assert_eq!(bench.spans().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_is_cancelled_leaves_a_span_that_says_so() {
    let bench = Bench::new();
    bench.put(envelope("m-1", "t", &["hang"]), &[]);
    // A long poll, so that the paused clock goes on.
    let consumer = bench
        .consumer()
        .wait_time(Duration::from_secs(20))
        .shutdown_timeout(Duration::ZERO)
        .build()
        .unwrap();
    let soon = tokio::time::sleep(Duration::from_secs(1));
    consumer.run_until(soon).await.unwrap();
    let span = bench.only(PROCESS);
    assert_eq!(span.status, Status::error("cancelled"));
    let told = attributes(&span, ["babelqueue.outcome", "error.type"]);
    assert_eq!(told, ["cancelled", "cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn a_publish_that_fails_ends_its_span_with_the_error() {
    let bench = Bench::new();
    let long = "x".repeat(2_000_000);
    let publish = bench
        .app
        .publisher
        .publish_json(URN, &json!({ "long": long }));
    publish.await.unwrap_err();
    let span = bench.only(PUBLISH);
    assert_eq!(attribute(&span, "error.type").as_deref(), Some("too_large"));
    assert!(
        matches!(span.status, Status::Error { .. }),
        "{:?}",
        span.status
    );
    assert_eq!(attribute(&span, "messaging.message.id"), None);
}

#[tokio::test(start_paused = true)]
async fn a_publish_that_is_given_up_says_so() {
    let bench = Bench::new();
    let fault = bench.sqs.faults().on(Operation::SendMessage);
    fault.delay(Duration::from_secs(60));
    let publish = order(&[]).publish(&bench.app.publisher).into_future();
    let second = Duration::from_secs(1);
    tokio::time::timeout(second, publish).await.unwrap_err();
    // Nobody ever sends this one.
    drop(bench.app.publisher.batch().push(order(&[])));
    let spans = bench.named(PUBLISH);
    assert_eq!(spans.len(), 2);
    for span in spans {
        assert_eq!(span.status, Status::error("cancelled"));
        assert_eq!(attribute(&span, "error.type").as_deref(), Some("cancelled"));
    }
    let sent = bench.metric("messaging.client.sent.messages");
    let labels = format!("babelqueue.urn={URN} error.type=cancelled messaging.operation.name=send");
    assert_eq!(sent, [(labels, 2.0)].into());
}

#[tokio::test(start_paused = true)]
async fn opentelemetrys_own_conventions_by_an_option() {
    let bench = Bench::with(Conventions::Messaging);
    let sent = order(&[]).publish(&bench.app.publisher).await.unwrap();
    bench.poll().await;
    for (name, kind) in [
        ("send", SpanKind::Producer),
        ("process", SpanKind::Consumer),
    ] {
        let span = bench.only(&format!("{name} {QUEUE}"));
        assert_eq!(span.span_kind, kind);
        let keys = [
            "messaging.system",
            "messaging.operation.type",
            "messaging.operation.name",
            "messaging.destination.name",
            "messaging.message.id",
            "babelqueue.urn",
        ];
        let expected = ["aws_sqs", name, name, QUEUE, &sent.message_id, URN];
        assert_eq!(attributes(&span, keys), expected);
        assert_eq!(attribute(&span, "messaging.operation"), None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_relay_has_a_span_in_the_trace_of_its_message() {
    let bench = Bench::new();
    let body = envelope("m-1", "4bf92f35-77b3-4da6-a3ce-929d0e0e4736", &[]);
    bench.app.publisher.relay(&body).await.unwrap();
    assert_eq!(bench.message(QUEUE).body, body, "as it is");
    bench.poll().await;
    let producer = bench.only(PUBLISH);
    assert_eq!(producer.span_kind, SpanKind::Producer);
    assert_eq!(trace(&producer).to_string(), PARENT_TRACE);
    let keys = ["messaging.destination.name", "messaging.message.id"];
    assert_eq!(attributes(&producer, keys), [URN, "m-1"]);
    assert_eq!(bench.only(PROCESS).parent_span_id, id(&producer));

    // Out of a message that was received: its header is the parent.
    let carried = bench.app.publisher.relay(&body);
    let refused = carried
        .header("traceparent", PARENT)
        .delay(Duration::from_secs(1000));
    refused.await.unwrap_err();
    let span = bench.named(PUBLISH).pop().unwrap();
    assert_eq!(span.parent_span_id.to_string(), PARENT_SPAN);
    assert_eq!(attribute(&span, "error.type").as_deref(), Some("delay"));

    let sent = bench.metric("messaging.client.sent.messages");
    assert_eq!(sent.values().collect::<Vec<_>>(), [&1.0, &1.0], "{sent:?}");

    bench.app.publisher.relay("no envelope").await.unwrap();
    bench.only("publish _OTHER");
}

#[tokio::test(start_paused = true)]
async fn the_retry_of_a_batch_has_spans_below_the_first_ones() {
    let bench = Bench::new();
    let on = bench.sqs.faults().on(Operation::SendMessageBatch).once();
    on.refuse(Refusal::AccessDenied);
    let publisher = SqsPublisher::builder(bench.sqs.client(), &bench.url)
        .telemetry(bench.telemetry.clone())
        .max_attempts(1);
    let publisher = publisher.build().unwrap();
    let error = publisher.publish_batch([order(&[])]).await.unwrap_err();
    let first = bench.only(PUBLISH);
    assert_eq!(error.failures().count(), 1);
    assert!(!error.is_retryable(), "for good: nothing begins");
    error.retry().await.unwrap_err();
    assert_eq!(bench.named(PUBLISH).len(), 1);
    assert!(matches!(first.status, Status::Error { .. }));

    let on = bench.sqs.faults().on(Operation::SendMessageBatch);
    on.fail_entries([1], "InternalError", false);
    let batch = publisher.publish_batch([order(&[]), order(&[])]);
    let error = batch.await.unwrap_err();
    bench.sqs.faults().clear();
    let failed = bench.named(PUBLISH).pop().unwrap();
    error.retry().await.unwrap();
    let spans = bench.named(PUBLISH);
    assert_eq!(spans.len(), 4, "none for the one that was sent");
    let again = &spans[3];
    assert_eq!(again.status, Status::Unset);
    assert_eq!(trace(again), trace(&failed));
    assert_eq!(again.parent_span_id, id(&failed));
    let sent = bench.metric("messaging.client.sent.messages");
    assert_eq!(sent.values().sum::<f64>(), 4.0, "{sent:?}");
}
