//! The heartbeat: what is renewed, when, for how long, and what is not.

use std::time::Duration;

use babelqueue::local::{Operation, Refusal};
use babelqueue::prelude::*;

use crate::support::{Bench, SECOND, seconds};

fn beats(bench: &Bench) -> Vec<u64> {
    let calls = bench.sqs.calls();
    let times: Vec<_> = calls
        .of(Operation::ChangeMessageVisibilityBatch)
        .map(|call| call.at)
        .collect();
    seconds(&times)
}

#[tokio::test(start_paused = true)]
async fn c_032_a_long_handler_keeps_its_message() {
    let bench = Bench::new();
    bench.put("t", &["sleep=100000"]);
    bench.run(bench.consumer(), 120 * SECOND).await;
    assert_eq!(bench.lab.calls(), ["t/0"]);
    assert_eq!(beats(&bench), [15, 30, 45, 60, 75, 90]);
    assert!(bench.left().is_empty() && bench.lab.errors().is_empty());
}

#[tokio::test(start_paused = true)]
async fn c_032_a_renewal_is_to_the_full_timeout_and_not_more() {
    let bench = Bench::new();
    bench.put("t", &["sleep=100000"]);
    let consumer = bench.consumer().build().unwrap();
    let run = tokio::spawn(consumer.run());
    tokio::time::sleep(Duration::from_millis(62_000)).await;
    let hidden = bench.sqs.snapshot("orders").in_flight[0].visible_in;
    assert!(hidden <= 30 * SECOND && hidden > 27 * SECOND, "{hidden:?}");
    run.abort();
    let _ = run.await;
    tokio::time::sleep(30 * SECOND).await;
    assert_eq!(
        bench.sqs.snapshot("orders").visible.len(),
        1,
        "back after the kill"
    );
}

#[tokio::test(start_paused = true)]
async fn c_028_heartbeats_end_with_their_messages_and_are_batched() {
    let bench = Bench::named("orders", [("VisibilityTimeout", "2")]);
    for i in 0..10 {
        bench.put(&format!("t{i}"), &["sleep=1500"]);
    }
    bench.run(bench.consumer(), 10 * SECOND).await;
    assert_eq!(
        beats(&bench),
        [1],
        "one call for all ten, none after the last delete"
    );
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn c_027_an_extension_in_flight_at_the_delete_leaves_no_error() {
    let bench = Bench::named("orders", [("VisibilityTimeout", "2")]);
    bench.put("t", &["sleep=1100"]);
    let slow = bench
        .sqs
        .faults()
        .on(Operation::ChangeMessageVisibilityBatch);
    let _slow = slow.delay(Duration::from_millis(500));
    bench.run(bench.consumer(), 5 * SECOND).await;
    assert!(bench.left().is_empty());
    assert!(bench.lab.errors().is_empty(), "{:?}", bench.lab.errors());
}

#[tokio::test(start_paused = true)]
async fn c_033_short_visibility_timeouts_work() {
    for timeout in ["5", "1"] {
        let bench = Bench::named("orders", [("VisibilityTimeout", timeout)]);
        bench.put("t", &["sleep=20000"]);
        bench.run(bench.consumer(), 30 * SECOND).await;
        assert_eq!(bench.lab.calls(), ["t/0"], "{timeout}");
        assert!(bench.left().is_empty());
    }
    let bench = Bench::named("orders", [("VisibilityTimeout", "0")]);
    bench.put("t", &["ok"]);
    // One at a time: every receive makes the handles of the earlier ones worthless.
    bench
        .run(bench.consumer().concurrency(1).max_in_flight(1), SECOND)
        .await;
    assert!(
        bench.lab.calls().contains(&"t/0".to_owned()),
        "the handler always runs"
    );
    assert!(beats(&bench).is_empty());
}

#[tokio::test(start_paused = true)]
async fn c_035_waiting_messages_are_kept_too() {
    let bench = Bench::new();
    for i in 0..10 {
        bench.put(&format!("t{i}"), &["sleep=10000"]);
    }
    let consumers = [(); 2].map(|()| bench.consumer().concurrency(1).build().unwrap());
    let runs = consumers
        .map(|consumer| tokio::spawn(consumer.run_until(tokio::time::sleep(150 * SECOND))));
    for run in runs {
        run.await.unwrap().unwrap();
    }
    let mut calls = bench.lab.calls();
    calls.sort();
    calls.dedup();
    assert_eq!(
        (calls.len(), bench.lab.calls().len()),
        (10, 10),
        "nothing is handled twice"
    );
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn c_035_without_a_heartbeat_an_expired_message_is_not_started() {
    let bench = Bench::new();
    for i in 0..5 {
        bench.put(&format!("t{i}"), &["sleep=20000"]);
    }
    let consumer = bench
        .consumer()
        .concurrency(1)
        .heartbeat(false)
        .visibility_timeout(30 * SECOND);
    bench.run(consumer, 45 * SECOND).await;
    // Started at 0 and 20 s; at 40 s the others have long expired and are fetched anew.
    let calls = bench.lab.calls();
    assert_eq!(
        calls.iter().filter(|call| call.ends_with("/0")).count(),
        2,
        "{calls:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_configured_timeout_is_sent_and_the_queue_is_left_alone() {
    let bench = Bench::new();
    bench.put("t", &["sleep=100000"]);
    let consumer = bench
        .consumer()
        .visibility_timeout(60 * SECOND)
        .startup_checks(false);
    bench.run(consumer, 110 * SECOND).await;
    assert_eq!(beats(&bench), [30, 60, 90]);
    assert_eq!(bench.sqs.calls().count(Operation::GetQueueAttributes), 0);
}

#[tokio::test(start_paused = true)]
async fn the_heartbeat_ends_at_its_cap() {
    let bench = Bench::new();
    bench.put("hung", &["sleep=36000000", "ok"]);
    let consumer = bench.consumer().max_handling_time(50 * SECOND);
    bench
        .run(consumer.shutdown_timeout(SECOND), 100 * SECOND)
        .await;
    assert_eq!(
        bench.lab.calls(),
        ["hung/0", "hung/1"],
        "another delivery gets its chance"
    );
}

#[tokio::test(start_paused = true)]
async fn a_failed_renewal_is_reported_once_and_tried_again() {
    let bench = Bench::new();
    bench.put("t", &["sleep=60000"]);
    let fault = bench
        .sqs
        .faults()
        .on(Operation::ChangeMessageVisibilityBatch)
        .times(2);
    let _fault = fault.fail_entries([0], "InternalError", false);
    bench
        .run(bench.consumer().retry(Backoff::none()), 80 * SECOND)
        .await;
    assert_eq!(bench.lab.kinds(), [babelqueue::ReportKind::Release]);
    assert_eq!(bench.lab.calls(), ["t/0"]);
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn unreadable_attributes_stop_nothing() {
    let bench = Bench::new();
    bench.put("t", &["ok"]);
    let fault = bench.sqs.faults().on(Operation::GetQueueAttributes);
    let _fault = fault.refuse(Refusal::AccessDenied);
    bench.run(bench.consumer(), 5 * SECOND).await;
    assert_eq!(bench.lab.calls(), ["t/0"]);
    assert!(bench.lab.errors().is_empty());
}

/// Renewals go out side by side: one call that hangs costs no other message its lease.
#[tokio::test(start_paused = true)]
async fn a_renewal_that_hangs_costs_no_message_its_lease() {
    let bench = Bench::named("orders", [("VisibilityTimeout", "10")]);
    for i in 0..25 {
        bench.put(&format!("t{i}"), &["sleep=15000"]);
    }
    bench
        .sqs
        .faults()
        .on(Operation::ChangeMessageVisibilityBatch)
        .once()
        .hang_after_effect();
    bench
        .run(bench.consumer().concurrency(25), 60 * SECOND)
        .await;
    assert_eq!(bench.lab.calls().len(), 25, "{:?}", bench.lab.calls());
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn messages_are_kept_that_came_before_the_queues_attributes() {
    let bench = Bench::new();
    bench.put("t", &["sleep=100000"]);
    let slow = bench.sqs.faults().on(Operation::GetQueueAttributes);
    let _slow = slow.delay(SECOND);
    // The timeout is known from the start here, and yet the checks read the attributes.
    let consumer = bench.consumer().visibility_timeout(20 * SECOND);
    bench.run(consumer, 50 * SECOND).await;
    assert_eq!(bench.lab.calls(), ["t/0"]);
    assert_eq!(beats(&bench)[..4], [10, 20, 30, 40]);
}

#[tokio::test(start_paused = true)]
async fn an_outage_at_the_start_does_not_cost_the_heartbeat() {
    let bench = Bench::new();
    let outage = bench.sqs.faults().on(Operation::GetQueueAttributes);
    let _outage = outage.times(12).refuse(Refusal::InternalError);
    let consumer = bench.consumer().build().unwrap();
    let run = tokio::spawn(consumer.run_until(tokio::time::sleep(400 * SECOND)));
    tokio::time::sleep(200 * SECOND).await;
    bench.put("t", &["sleep=100000"]);
    run.await.unwrap().unwrap();
    assert_eq!(bench.lab.calls(), ["t/0"]);
    assert!(bench.left().is_empty());
}
