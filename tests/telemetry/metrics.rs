//! What is counted and measured, and by which labels.

use std::collections::BTreeMap;
use std::time::Duration;

use babelqueue::BufferedPublisher;
use babelqueue::local::Operation;
use babelqueue::prelude::*;
use serde_json::json;

use crate::support::{App, Bench, DEAD, envelope, envelope_of, order};

const URN: &str = "babelqueue.urn=urn:babel:orders:created";

fn labels<const N: usize>(rows: [(&str, f64); N]) -> BTreeMap<String, f64> {
    rows.map(|(labels, value)| (labels.to_owned(), value))
        .into()
}

fn one(value: f64) -> BTreeMap<String, f64> {
    labels([("", value)])
}

#[tokio::test(start_paused = true)]
async fn published_messages_by_urn_and_result() {
    let bench = Bench::new();
    order(&[]).publish(&bench.app.publisher).await.unwrap();
    order(&[]).publish(&bench.app.publisher).await.unwrap();
    let delayed = order(&[])
        .publish(&bench.app.publisher)
        .delay(Duration::from_secs(1000));
    delayed.await.unwrap_err();
    let sent = bench.metric("messaging.client.sent.messages");
    let good = format!("{URN} messaging.operation.name=send");
    let bad = format!("{URN} error.type=delay messaging.operation.name=send");
    assert_eq!(sent, labels([(&good, 2.0), (&bad, 1.0)]));
}

#[tokio::test(start_paused = true)]
async fn messages_of_batches_and_buffers() {
    let bench = Bench::new();
    let publisher = &bench.app.publisher;
    let late = order(&[])
        .publish(publisher)
        .delay(Duration::from_secs(1000));
    let batch = publisher.batch().push(order(&[])).push_publish(late);
    batch.await.unwrap_err();
    publisher
        .publish_batch([order(&[]), order(&[])])
        .await
        .unwrap();

    let buffered = BufferedPublisher::builder(publisher.clone());
    let buffered = buffered.linger(Duration::from_secs(10)).build().unwrap();
    let waiting = order(&[]);
    let waiting = waiting.publish(&buffered).into_future();
    let waiting = async {
        tokio::join!(waiting, async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            assert_eq!(bench.metric("babelqueue.publisher.buffered"), one(1.0));
        })
    };
    waiting.await.0.unwrap();
    assert_eq!(bench.metric("babelqueue.publisher.buffered"), one(0.0));
    buffered.close().await.unwrap();

    let sent = bench.metric("messaging.client.sent.messages");
    let row = |error: &str| format!("{URN} {error}messaging.operation.name=send");
    let expected = [
        (&*row(""), 3.0),
        (&*row("error.type=delay "), 1.0),
        (&*row("error.type=not_attempted "), 1.0),
    ];
    assert_eq!(sent, labels(expected));
    assert_eq!(bench.named("publish urn:babel:orders:created").len(), 5);
}

#[tokio::test(start_paused = true)]
async fn handled_messages_by_urn_and_outcome() {
    let bench = Bench::new();
    for steps in ["ok", "ok", "fail", "permanent", "discard", "retry", "panic"] {
        bench.put(envelope(steps, "t", &[steps]), &[]);
    }
    bench.put(envelope_of("urn:x:y", "m", "t", &json!({})), &[]);
    bench.put("poison".to_owned(), &[]);
    bench.poll().await;
    let of = |outcome: &str| format!("babelqueue.outcome={outcome} {URN}");
    let nobody = |outcome: &str| format!("babelqueue.outcome={outcome} babelqueue.urn=_OTHER");
    let handled = [
        (&*of("done"), 2.0),
        (&*of("discarded"), 1.0),
        (&*of("retry"), 3.0),
        (&*of("dead_letter"), 1.0),
    ];
    let unhandled = [(&*nobody("left"), 1.0), (&*nobody("dead_letter"), 1.0)];
    let took = |outcome: &str, error: &str| {
        let urn_and_error = format!("{URN}{error} messaging.operation.name=process");
        format!("babelqueue.outcome={outcome} {urn_and_error}")
    };
    let timed = [
        (&*took("done", ""), 2.0),
        (&*took("discarded", ""), 1.0),
        (&*took("retry", " error.type=handler"), 2.0),
        (&*took("retry", " error.type=panic"), 1.0),
        (&*took("dead_letter", " error.type=handler"), 1.0),
    ];
    assert_eq!(bench.metric("messaging.process.duration"), labels(timed));
    let received = bench.metric("messaging.client.consumed.messages");
    assert_eq!(
        received,
        labels([("messaging.operation.name=receive", 9.0)])
    );
    let mut all = labels(handled);
    all.extend(labels(unhandled));
    assert_eq!(bench.metric("babelqueue.consumer.handled"), all);
    let counted = [
        ("babelqueue.consumer.deletes", 5.0),
        ("babelqueue.consumer.retries", 3.0),
        ("babelqueue.consumer.releases", 3.0),
        ("babelqueue.consumer.dead_letters", 2.0),
        ("babelqueue.consumer.left", 1.0),
        ("babelqueue.consumer.errors", 6.0),
        ("babelqueue.consumer.in_flight", 0.0),
        ("babelqueue.consumer.running", 0.0),
    ];
    for (name, expected) in counted {
        assert_eq!(bench.metric(name), one(expected), "{name}");
    }
}

#[babel_handler(fallback)]
async fn anything(_envelope: &Envelope) {}

#[tokio::test(start_paused = true)]
async fn urns_that_nobody_knows_share_one_label() {
    let bench = Bench::new();
    let router = Router::from_handlers![crate::support::mail_wanted, anything];
    let consumer = SqsConsumer::builder(bench.sqs.client(), &bench.url, router)
        .state(bench.app.clone())
        .telemetry(bench.telemetry.clone())
        .wait_time(Duration::ZERO)
        .build()
        .unwrap();
    for i in 0..150 {
        let publish = bench
            .app
            .publisher
            .publish_json(format!("urn:x:{i}"), &json!({}));
        publish.await.unwrap();
    }
    while consumer.poll().await.unwrap().received > 0 {}
    let handled = bench.metric("babelqueue.consumer.handled");
    let label = "babelqueue.outcome=done babelqueue.urn=_OTHER";
    assert_eq!(handled, labels([(label, 150.0)]));
    let waited = bench.metric("babelqueue.consumer.time_in_queue");
    assert_eq!(waited, labels([("babelqueue.urn=_OTHER", 150.0)]));
    // Publishers name the first hundred that they were not compiled with.
    let sent = bench.metric("messaging.client.sent.messages");
    assert_eq!(sent.len(), 101);
    assert_eq!(
        sent["babelqueue.urn=_OTHER messaging.operation.name=send"],
        50.0
    );
}

#[babel_handler]
async fn slow(_mail: crate::support::MailWanted, State(app): State<App>) {
    tokio::time::sleep(Duration::from_secs(40)).await;
    drop(app);
}

#[tokio::test(start_paused = true)]
async fn times_levels_and_heartbeats_of_a_slow_handler() {
    let bench = Bench::new();
    crate::support::MailWanted {}
        .publish(&bench.app.publisher)
        .await
        .unwrap();
    let consumer =
        SqsConsumer::builder(bench.sqs.client(), &bench.url, Router::from_handlers![slow])
            .state(bench.app.clone())
            .telemetry(bench.telemetry.clone())
            .build()
            .unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let handle = consumer.handle();
    let run = tokio::spawn(consumer.run());
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(bench.metric("babelqueue.consumer.in_flight"), one(1.0));
    assert_eq!(bench.metric("babelqueue.consumer.running"), one(1.0));
    tokio::time::sleep(Duration::from_secs(25)).await;
    handle.stop();
    run.await.unwrap().unwrap();
    assert_eq!(bench.metric("babelqueue.consumer.in_flight"), one(0.0));
    assert_eq!(bench.metric("babelqueue.consumer.running"), one(0.0));
    // The timeout is 30 s, so that it is renewed at 15 and at 30.
    assert_eq!(bench.metric("babelqueue.consumer.heartbeats"), one(2.0));
    assert_eq!(handle.stats().heartbeats, 2);
    let near = |name: &str, expected: f64| {
        let sum = bench.sum(name);
        assert!((sum - expected).abs() < 0.5, "{name}: {sum}");
    };
    near("messaging.process.duration", 40.0);
    near("babelqueue.consumer.time_in_queue", 5.0);
}

#[tokio::test(start_paused = true)]
async fn calls_of_sqs_by_operation_and_result() {
    let bench = Bench::new();
    order(&["ok"]).publish(&bench.app.publisher).await.unwrap();
    bench.poll().await;
    order(&["permanent"])
        .publish(&bench.app.publisher)
        .await
        .unwrap();
    let gone = bench.sqs.queue_url(DEAD);
    bench
        .sqs
        .client()
        .delete_queue()
        .queue_url(gone)
        .send()
        .await
        .unwrap();
    bench.poll().await;
    let calls = bench.metric("messaging.client.operation.duration");
    let of = |operation: &str| {
        calls
            .get(&format!("messaging.operation.name={operation}"))
            .copied()
    };
    assert_eq!(of("ReceiveMessage"), Some(2.0));
    assert_eq!(of("DeleteMessageBatch"), Some(1.0));
    assert_eq!(of("SendMessage"), Some(2.0));
    let failed =
        "error.type=AWS.SimpleQueueService.NonExistentQueue messaging.operation.name=SendMessage";
    assert_eq!(calls.get(failed), Some(&1.0), "{calls:?}");
    // All that the consumer and the publisher asked of SQS.
    let asked = bench.sqs.calls();
    assert_eq!(asked.count(Operation::ReceiveMessage), 2);
    let sum: f64 = calls.values().sum();
    assert_eq!(sum, asked.total() as f64 - 1.0, "but for the test's own");
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_lost_is_counted() {
    let bench = Bench::new();
    crate::support::MailWanted {}
        .publish(&bench.app.publisher)
        .await
        .unwrap();
    let consumer =
        SqsConsumer::builder(bench.sqs.client(), &bench.url, Router::from_handlers![slow])
            .state(bench.app.clone())
            .telemetry(bench.telemetry.clone())
            .heartbeat(false)
            .build()
            .unwrap();
    consumer
        .run_until(tokio::time::sleep(Duration::from_secs(35)))
        .await
        .unwrap();
    assert_eq!(bench.metric("babelqueue.consumer.lost_leases"), one(1.0));
}

#[tokio::test(start_paused = true)]
async fn every_metric_is_of_the_queue_and_of_this_list() {
    let bench = Bench::new();
    order(&["fail", "permanent"])
        .publish(&bench.app.publisher)
        .await
        .unwrap();
    bench.poll().await;
    bench.poll().await;
    let mut names = bench.metrics();
    names.sort();
    names.dedup();
    assert_eq!(
        names,
        [
            "babelqueue.consumer.dead_letters",
            "babelqueue.consumer.deletes",
            "babelqueue.consumer.errors",
            "babelqueue.consumer.handled",
            "babelqueue.consumer.in_flight",
            "babelqueue.consumer.releases",
            "babelqueue.consumer.retries",
            "babelqueue.consumer.running",
            "babelqueue.consumer.time_in_queue",
            "messaging.client.consumed.messages",
            "messaging.client.operation.duration",
            "messaging.client.sent.messages",
            "messaging.process.duration",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn two_of_the_same_providers_add_up() {
    let bench = Bench::new();
    let other = bench.another_telemetry();
    let counted = |telemetry| bench.consumer().telemetry(telemetry).build().unwrap();
    let consumers = [counted(bench.telemetry.clone()), counted(other.clone())];
    for consumer in &consumers {
        bench.put(envelope("m", "t", &["ok"]), &[]);
        consumer.poll().await.unwrap();
    }
    let publisher = SqsPublisher::builder(bench.sqs.client(), &bench.url).telemetry(other);
    let publisher = publisher.build().unwrap();
    order(&[]).publish(&publisher).await.unwrap();
    order(&[]).publish(&bench.app.publisher).await.unwrap();
    let check = || {
        let done = format!("babelqueue.outcome=done {URN}");
        let handled = bench.metric("babelqueue.consumer.handled");
        assert_eq!(handled, labels([(&done, 2.0)]));
        assert_eq!(bench.metric("babelqueue.consumer.deletes"), one(2.0));
        assert_eq!(bench.metric("babelqueue.consumer.in_flight"), one(0.0));
        let sent = format!("{URN} messaging.operation.name=send");
        let published = bench.metric("messaging.client.sent.messages");
        assert_eq!(published, labels([(&sent, 2.0)]));
    };
    check();
    // What is gone has told all, and tells nothing twice.
    drop((consumers, publisher));
    check();
}

#[tokio::test(start_paused = true)]
async fn a_consumer_that_is_gone_has_told_all() {
    let bench = Bench::new();
    bench.put(envelope("m", "t", &["ok"]), &[]);
    let consumer = bench.consumer().telemetry(bench.another_telemetry());
    consumer.build().unwrap().poll().await.unwrap();
    assert_eq!(bench.metric("babelqueue.consumer.deletes"), one(1.0));
    assert_eq!(bench.metric("babelqueue.consumer.running"), one(0.0));
}

#[tokio::test(start_paused = true)]
async fn levels_are_told_while_a_handler_runs() {
    let bench = Bench::new();
    bench.put(envelope("m", "t", &["hang"]), &[]);
    let consumer = bench.consumer().wait_time(Duration::from_secs(20));
    let consumer = consumer.shutdown_timeout(Duration::ZERO);
    let looked = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(bench.metric("babelqueue.consumer.running"), one(1.0));
        assert_eq!(bench.metric("babelqueue.consumer.in_flight"), one(1.0));
    };
    consumer.build().unwrap().run_until(looked).await.unwrap();
    assert_eq!(bench.metric("babelqueue.consumer.running"), one(0.0));
    assert_eq!(bench.metric("babelqueue.consumer.in_flight"), one(0.0));
    let cancelled = format!("babelqueue.outcome=cancelled {URN}");
    let handled = bench.metric("babelqueue.consumer.handled");
    assert_eq!(handled, labels([(&cancelled, 1.0)]));
    let timed = format!("{cancelled} error.type=cancelled messaging.operation.name=process");
    let took = bench.metric("messaging.process.duration");
    assert_eq!(took, labels([(&timed, 1.0)]));
}
