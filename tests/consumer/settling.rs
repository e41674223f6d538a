//! What becomes of a message that its handler had.

use std::time::Duration;

use babelqueue::ReportKind;
use babelqueue::local::{Operation, RawMessage};
use babelqueue::prelude::*;

use crate::support::{Bench, SECOND, envelope, seconds};

#[tokio::test(start_paused = true)]
async fn success_deletes() {
    let bench = Bench::new();
    for i in 0..25 {
        bench.put(&format!("t{i}"), &["ok"]);
    }
    let consumer = bench.consumer().build().unwrap();
    let handle = consumer.handle();
    consumer
        .run_until(tokio::time::sleep(SECOND))
        .await
        .unwrap();
    assert_eq!(bench.lab.calls().len(), 25);
    assert!(bench.left().is_empty() && bench.dead().is_empty());
    assert!(bench.lab.errors().is_empty());
    let stats = handle.stats();
    assert_eq!(
        (
            stats.received,
            stats.handled,
            stats.deleted,
            stats.in_flight
        ),
        (25, 25, 25, 0)
    );
    // Ten by ten, received and deleted.
    assert!(bench.sqs.calls().count(Operation::DeleteMessageBatch) <= 4);
    assert_eq!(
        bench
            .sqs
            .calls()
            .count(Operation::ChangeMessageVisibilityBatch),
        0
    );
}

#[tokio::test(start_paused = true)]
async fn failure_releases_with_backoff_and_shows_the_attempts() {
    let bench = Bench::new();
    bench.put("t", &["fail", "fail", "ok"]);
    let backoff = Backoff::exponential(Duration::from_secs(5));
    bench
        .run(bench.consumer().retry(backoff), 60 * SECOND)
        .await;
    assert_eq!(bench.lab.calls(), ["t/0", "t/1", "t/2"]);
    assert_eq!(seconds(&bench.lab.begins("t")), [0, 5, 15]);
    assert_eq!(bench.lab.kinds(), [ReportKind::Handler; 2]);
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn c_076_attempts_come_from_the_receive_count_and_never_below_the_envelope() {
    let bench = Bench::new();
    bench.put_raw(RawMessage::new(envelope("seen", &["ok"])).receive_count(4));
    bench.put_raw(RawMessage::new(
        envelope("own", &["ok"]).replace("\"attempts\":0", "\"attempts\":7"),
    ));
    bench.run(bench.consumer(), SECOND).await;
    let mut calls = bench.lab.calls();
    calls.sort();
    assert_eq!(calls, ["own/7", "seen/4"]);
    for call in bench.sqs.calls().of(Operation::ReceiveMessage) {
        let request = call.request.clone().unwrap_or_default();
        if !request.is_empty() {
            assert!(request.contains("ApproximateReceiveCount"), "{request}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn c_047_a_permanent_failure_is_settled_at_once() {
    let bench = Bench::new();
    for (name, steps) in [("error", "permanent"), ("outcome", "dead")] {
        bench.put(name, &[steps]);
    }
    let mut bad = envelope("payload", &["ok"]);
    bad = bad.replace("\"name\":\"payload\"", "\"name\":5");
    bench.put_raw(RawMessage::new(bad));
    let consumer = bench
        .consumer()
        .retry(Backoff::fixed(SECOND))
        .max_attempts(5);
    bench
        .run(
            consumer.dead_letter_queue(DeadLetterQueue::default_name()),
            30 * SECOND,
        )
        .await;
    assert_eq!(
        bench
            .sqs
            .calls()
            .count(Operation::ChangeMessageVisibilityBatch),
        0
    );
    assert!(bench.left().is_empty());
    let mut errors: Vec<_> = bench
        .dead_json()
        .iter()
        .map(|body| body["dead_letter"]["error"].as_str().unwrap().to_owned())
        .collect();
    errors.sort();
    assert_eq!(errors[1..], ["error failed", "no use"]);
    assert!(
        errors[0].contains("`data.name` of urn:test:task"),
        "{errors:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn without_a_dead_letter_queue_a_permanent_failure_is_left() {
    let bench = Bench::new();
    bench.put("t", &["permanent"]);
    let consumer = bench.consumer().heartbeat(false).build().unwrap();
    let summary = consumer.poll().await.unwrap();
    assert_eq!((summary.received, summary.failed, summary.left), (1, 1, 1));
    let snapshot = bench.sqs.snapshot("orders");
    assert_eq!(
        snapshot.in_flight.len(),
        1,
        "hidden until its visibility timeout ends"
    );
    assert_eq!(
        bench
            .sqs
            .calls()
            .count(Operation::ChangeMessageVisibilityBatch),
        0
    );
    assert_eq!(bench.sqs.calls().count(Operation::DeleteMessageBatch), 0);
}

#[tokio::test(start_paused = true)]
async fn c_050_no_delay_stated_is_not_a_delay_of_zero() {
    // Per message: what its handler says first, and when its second delivery begins.
    let rows = [
        ("none", "retry", 20),
        ("zero", "now", 0),
        ("fraction", "retry=1500", 2),
        ("small", "retry=400", 1),
        ("error", "later=3000", 3),
    ];
    for (name, steps, expected) in rows {
        let bench = Bench::new();
        bench.put(name, &[steps, "ok"]);
        let backoff = Backoff::fixed(Duration::from_secs(20));
        bench
            .run(bench.consumer().retry(backoff), 40 * SECOND)
            .await;
        assert_eq!(seconds(&bench.lab.begins(name)), [0, expected], "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_release_delay_wins_over_the_backoff() {
    let bench = Bench::new();
    bench.put("t", &["fail", "fail", "ok"]);
    let consumer = bench
        .consumer()
        .retry(Backoff::fixed(Duration::from_secs(20)))
        .release_delay(|attempts| Duration::from_secs(attempts + 2));
    bench.run(consumer, 40 * SECOND).await;
    assert_eq!(seconds(&bench.lab.begins("t")), [0, 2, 5]);
}

#[tokio::test(start_paused = true)]
async fn discard_deletes_without_a_report() {
    let bench = Bench::new();
    bench.put("t", &["discard"]);
    let consumer = bench.consumer().build().unwrap();
    let handle = consumer.handle();
    consumer
        .run_until(tokio::time::sleep(SECOND))
        .await
        .unwrap();
    assert!(bench.left().is_empty() && bench.lab.errors().is_empty());
    assert_eq!((handle.stats().discarded, handle.stats().handled), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_payload_error_can_be_made_retryable() {
    let bench = Bench::new();
    bench.put_raw(RawMessage::new(
        envelope("p", &["ok"]).replace("\"name\":\"p\"", "\"name\":5"),
    ));
    let consumer = bench
        .consumer()
        .retry(Backoff::fixed(SECOND))
        .retry_payload_errors()
        .max_attempts(3)
        .dead_letter_queue(DeadLetterQueue::default_name());
    bench.run(consumer, 10 * SECOND).await;
    assert_eq!(bench.dead_json()[0]["attempts"], 3);
    assert_eq!(bench.lab.kinds(), [ReportKind::Handler; 3]);
}

#[tokio::test(start_paused = true)]
async fn poll_handles_one_receive_to_the_end() {
    let bench = Bench::new();
    bench.put("a", &["sleep=3000 ok"]);
    bench.put("b", &["fail"]);
    bench.put("c", &["ok"]);
    let consumer = bench
        .consumer()
        .retry(Backoff::fixed(5 * SECOND))
        .build()
        .unwrap();
    let summary = consumer.poll().await.unwrap();
    assert_eq!(
        (summary.received, summary.handled, summary.failed),
        (3, 2, 1)
    );
    assert_eq!((summary.deleted, summary.released), (2, 1));
    assert_eq!(bench.sqs.calls().count(Operation::ReceiveMessage), 1);
    let summary = consumer.poll().await.unwrap();
    assert_eq!(
        summary.received, 1,
        "the second one waits for the pause to end"
    );
}
