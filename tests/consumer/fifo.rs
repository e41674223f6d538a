//! FIFO queues: order within a group, whatever happens to its head.

use babelqueue::local::Operation;
use babelqueue::prelude::*;

use crate::support::{Bench, SECOND, seconds};

#[tokio::test(start_paused = true)]
async fn c_001_serial_within_a_group_and_parallel_across() {
    let bench = Bench::fifo();
    bench.put_in("A", "A1", &["sleep=300"]);
    bench.put_in("B", "B1", &["sleep=100"]);
    bench.put_in("A", "A2", &["ok"]);
    bench.put_in("B", "B2", &["ok"]);
    bench.put_in("A", "A3", &["ok"]);
    bench.run(bench.consumer().concurrency(5), 5 * SECOND).await;
    let log = bench.lab.log();
    let order: Vec<_> = log
        .iter()
        .map(|e| format!("{} {}", e.what, e.name))
        .collect();
    assert_eq!(
        order,
        [
            "begin A1", "begin B1", "end B1", "begin B2", "end B2", "end A1", "begin A2", "end A2",
            "begin A3", "end A3"
        ]
    );
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn c_001_the_next_one_starts_after_the_delete() {
    let bench = Bench::fifo();
    bench.put_in("A", "A1", &["ok"]);
    bench.put_in("A", "A2", &["ok"]);
    let slow = bench.sqs.faults().on(Operation::DeleteMessageBatch).once();
    let _slow = slow.delay(2 * SECOND);
    bench.run(bench.consumer(), 5 * SECOND).await;
    assert_eq!(seconds(&bench.lab.begins("A2")), [2]);
}

#[tokio::test(start_paused = true)]
async fn c_002_the_rest_of_a_group_waits_for_its_failed_head() {
    let bench = Bench::fifo();
    for name in ["A1", "A2", "A3"] {
        let first = if name == "A1" { "fail" } else { "ok" };
        bench.put_in("A", name, &[first, "ok"]);
    }
    bench
        .run(
            bench.consumer().retry(Backoff::fixed(5 * SECOND)),
            30 * SECOND,
        )
        .await;
    assert_eq!(bench.lab.calls(), ["A1/0", "A1/1", "A2/1", "A3/1"]);
    assert_eq!(seconds(&bench.lab.begins("A1")), [0, 5]);
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn c_004_waiting_behind_a_failing_head_costs_one_receive() {
    let bench = Bench::fifo();
    bench.put_in("G", "m1", &["fail"]);
    bench.put_in("G", "m2", &["ok"]);
    let consumer = bench
        .consumer()
        .retry(Backoff::fixed(SECOND))
        .max_attempts(3)
        .dead_letter_queue(DeadLetterQueue::default_name());
    bench.run(consumer, 60 * SECOND).await;
    // m2 was received once together with m1, and then not again before its own turn.
    assert_eq!(bench.lab.calls(), ["m1/0", "m1/1", "m1/2", "m2/1"]);
    assert_eq!(bench.dead().len(), 1);
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn c_005_the_rest_comes_back_behind_its_head_also_to_others() {
    let bench = Bench::fifo();
    bench.put_in("A", "A1", &["fail", "ok"]);
    bench.put_in("A", "A2", &["ok"]);
    let first = bench
        .consumer()
        .retry(Backoff::fixed(SECOND))
        .build()
        .unwrap();
    first.poll().await.unwrap();
    // The first consumer is gone; another one takes over.
    bench.run(bench.consumer(), 20 * SECOND).await;
    assert_eq!(bench.lab.calls(), ["A1/0", "A1/1", "A2/1"]);
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn c_029_a_skipped_message_is_never_extended_again() {
    let bench = Bench::fifo();
    bench.put_in("A", "A1", &["fail", "ok"]);
    bench.put_in("A", "A2", &["ok"]);
    let consumer = bench.consumer().retry(Backoff::fixed(100 * SECOND));
    bench.run(consumer, 90 * SECOND).await;
    // The release of the head, then that of the rest, and no renewals.
    assert_eq!(
        bench
            .sqs
            .calls()
            .count(Operation::ChangeMessageVisibilityBatch),
        2
    );
    assert_eq!(bench.lab.calls(), ["A1/0"]);
}

#[tokio::test(start_paused = true)]
async fn a_left_head_keeps_the_rest_behind_it() {
    let bench = Bench::fifo();
    bench.put_in("A", "A1", &["permanent", "ok"]);
    bench.put_in("A", "A2", &["ok"]);
    bench.run(bench.consumer(), 60 * SECOND).await;
    assert_eq!(bench.lab.calls(), ["A1/0", "A1/1", "A2/1"]);
    assert_eq!(seconds(&bench.lab.begins("A1")), [0, 30]);
}

#[tokio::test(start_paused = true)]
async fn a_dead_lettered_head_lets_the_group_go_on() {
    let bench = Bench::fifo();
    bench.put_in("A", "A1", &["permanent"]);
    bench.put_in("A", "A2", &["ok"]);
    let consumer = bench
        .consumer()
        .dead_letter_queue(DeadLetterQueue::default_name());
    bench.run(consumer, 10 * SECOND).await;
    assert_eq!(bench.lab.calls(), ["A1/0", "A2/0"]);
    assert_eq!((bench.left().len(), bench.dead().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn many_groups_keep_their_order_under_failures() {
    let bench = Bench::fifo();
    for i in 0..8 {
        for group in ["A", "B", "C", "D", "E"] {
            let first = if i % 3 == 1 {
                "sleep=50 fail"
            } else {
                "sleep=20 ok"
            };
            bench.put_in(group, &format!("{group}{i}"), &[first, "ok"]);
        }
    }
    bench
        .run(bench.consumer().retry(Backoff::fixed(SECOND)), 300 * SECOND)
        .await;
    assert!(bench.left().is_empty(), "{:?}", bench.left().len());
    for group in ["A", "B", "C", "D", "E"] {
        let mut done = bench.lab.log();
        done.retain(|e| e.what == "end" && e.name.starts_with(group));
        let mut names: Vec<_> = done.iter().map(|e| e.name.clone()).collect();
        names.dedup();
        let expected: Vec<_> = (0..8).map(|i| format!("{group}{i}")).collect();
        assert_eq!(
            names, expected,
            "a message never runs before the one ahead of it is done"
        );
    }
}
