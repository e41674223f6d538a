//! The function's deadline: what is not done by then is reported, and the report gets out.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use babelqueue::idempotency::{Idempotency, MemoryStore};
use babelqueue::local::Operation;
use babelqueue::prelude::*;
use babelqueue::{LambdaConsumer, ReportKind};
use tokio::time::{Instant, sleep};

use crate::support::{
    Bench, Lab, SECOND, Task, consumer, event, failures, failures_within, fifo_tasks, many_does,
    record, tasks,
};

#[tokio::test(start_paused = true)]
async fn c_110_the_deadline_falls_in_the_middle_of_a_batch() {
    let lab = Lab::default();
    let guard = Idempotency::claims(MemoryStore::new());
    let first = consumer(&lab)
        .idempotency(guard.clone())
        .concurrency(2)
        .build()
        .unwrap();
    let stalls = [
        ("a", "ok"),
        ("b", "sleep=600 ok"),
        ("c", "sleep=600 ok"),
        ("d", "ok"),
    ];
    let begun = Instant::now();
    let failed = failures_within(&first, tasks(&stalls), Some(10 * SECOND)).await;
    assert_eq!(
        failed,
        ["b", "c", "d"],
        "unfinished and unstarted ones are named"
    );
    let took = begun.elapsed();
    assert!(
        took >= 9 * SECOND && took < 10 * SECOND,
        "before the deadline: {took:?}"
    );
    assert_eq!(lab.kinds(), [ReportKind::Handler; 2]);
    assert!(
        lab.errors()[0].contains("about to end"),
        "{:?}",
        lab.errors()
    );
    // The lease is over with the invocation: the next delivery runs.
    sleep(60 * SECOND).await;
    lab.take();
    let again = tasks(&[("b", "ok"), ("c", "ok"), ("d", "ok")]);
    assert!(failures(&first, again).await.is_empty());
    assert_eq!(lab.calls(), ["b", "c", "d"]);
}

#[tokio::test(start_paused = true)]
async fn c_110_a_lease_ends_with_the_deadline_when_the_process_is_killed() {
    let lab = Lab::default();
    // A guard whose own lease would be longer by far.
    let guard = Idempotency::claims(MemoryStore::new()).lease(3600 * SECOND);
    let consumer = consumer(&lab).idempotency(guard).build().unwrap();
    let stalled = failures_within(
        &consumer,
        tasks(&[("a", "sleep=600 ok")]),
        Some(30 * SECOND),
    );
    // Killed in the middle: nothing is given back.
    assert!(tokio::time::timeout(5 * SECOND, stalled).await.is_err());
    lab.take();
    let second = failures_within(&consumer, tasks(&[("a", "ok")]), Some(30 * SECOND)).await;
    assert_eq!(
        (second.len(), lab.calls().len()),
        (1, 0),
        "the lease still runs"
    );
    sleep(26 * SECOND).await;
    assert!(failures(&consumer, tasks(&[("a", "ok")])).await.is_empty());
    assert_eq!(lab.calls(), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn c_110_the_lease_of_a_record_that_had_to_wait_ends_with_the_deadline_too() {
    let lab = Lab::default();
    let guard = Idempotency::claims(MemoryStore::new()).lease(3600 * SECOND);
    let consumer = consumer(&lab)
        .idempotency(guard)
        .concurrency(1)
        .build()
        .unwrap();
    let two = tasks(&[("a", "sleep=20 ok"), ("b", "sleep=600 ok")]);
    let killed = failures_within(&consumer, two, Some(30 * SECOND));
    // In the middle of the second one: nothing is given back.
    assert!(tokio::time::timeout(25 * SECOND, killed).await.is_err());
    assert_eq!(lab.take(), ["a", "b"]);
    sleep(6 * SECOND).await;
    assert!(failures(&consumer, tasks(&[("b", "ok")])).await.is_empty());
    assert_eq!(lab.calls(), ["b"]);
}

#[tokio::test(start_paused = true)]
async fn c_111_a_live_in_progress_mark_is_taken_for_an_orphan() {
    let bench = Bench::new();
    let guard = Idempotency::claims(MemoryStore::new());
    let consumer = bench.consumer().idempotency(guard).build().unwrap();
    bench.put("a", "sleep=20 ok");
    bench.put("a", "sleep=20 ok");
    let both = bench.receive().await;
    let ids: Vec<_> = both
        .records()
        .iter()
        .map(|r| r.message_id().to_owned())
        .collect();
    let failed = failures_within(&consumer, both, Some(60 * SECOND)).await;
    assert_eq!(bench.lab.calls(), ["a"], "one of them runs");
    assert!(
        failed.len() == 1 && ids.contains(&failed[0]),
        "the other is not acknowledged"
    );
    let [wait] = bench.changes()[..] else {
        panic!("one is released: {:?}", bench.changes())
    };
    assert!((1..=60).contains(&wait), "until the lease is over: {wait}");
    assert!(bench.lab.kinds().is_empty(), "and not reported as an error");
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_cancelled_as_a_whole_and_a_group_stops() {
    let lab = Lab::default();
    let consumer = consumer(&lab).deadline_margin(4 * SECOND).build().unwrap();
    let many = ["a", "b"].map(|name| record("orders", name, &many_does(name, "sleep=7 ok")));
    let begun = Instant::now();
    assert_eq!(
        failures_within(&consumer, event(many), Some(10 * SECOND)).await,
        ["a", "b"]
    );
    assert_eq!(begun.elapsed().as_secs(), 6);
    lab.take();
    let group = fifo_tasks(&[
        ("A1", "sleep=3 ok"),
        ("A2", "sleep=9 ok"),
        ("A3", "ok"),
        ("B1", "ok"),
    ]);
    let failed = failures_within(&consumer, group, Some(10 * SECOND)).await;
    assert_eq!(failed, ["A2", "A3"]);
    assert_eq!(lab.calls(), ["A1", "B1", "A2"]);
}

#[tokio::test(start_paused = true)]
async fn the_margin_is_at_most_half_of_what_there_is_and_no_deadline_is_no_limit() {
    let lab = Lab::default();
    let consumer = consumer(&lab).deadline_margin(60 * SECOND).build().unwrap();
    let begun = Instant::now();
    let two = Duration::from_secs(2);
    assert_eq!(
        failures_within(&consumer, tasks(&[("a", "sleep=5 ok")]), Some(two)).await,
        ["a"]
    );
    assert_eq!(begun.elapsed(), SECOND);
    assert!(
        failures(&consumer, tasks(&[("a", "sleep=5000 ok")]))
            .await
            .is_empty()
    );
    // Over already: nothing runs, all is reported.
    lab.take();
    let over = failures_within(&consumer, tasks(&[("a", "ok")]), Some(Duration::ZERO)).await;
    assert_eq!((over, lab.calls().len()), (vec!["a".to_owned()], 0));
}

#[tokio::test(start_paused = true)]
async fn backoff_is_applied_in_what_is_left_and_sqs_cannot_hold_the_answer_up() {
    let bench = Bench::new();
    let consumer = bench
        .consumer()
        .retry_backoff(true)
        .concurrency(1)
        .build()
        .unwrap();
    bench.put("a", "sleep=600 ok");
    bench.put("b", "ok");
    let event = bench.receive().await;
    let failed = failures_within(&consumer, event.clone(), Some(10 * SECOND)).await;
    assert_eq!(failed.len(), 2);
    let [delay] = bench.changes()[..] else {
        panic!("the one that was cancelled, not the one that was never started")
    };
    assert!((60..=72).contains(&delay), "{delay}");

    bench.sqs.clear_calls();
    bench
        .sqs
        .faults()
        .on(Operation::ChangeMessageVisibilityBatch)
        .once()
        .hang();
    let begun = Instant::now();
    let failed = failures_within(&consumer, event, Some(10 * SECOND)).await;
    assert_eq!(failed.len(), 2);
    assert!(begun.elapsed() < 10 * SECOND, "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn the_deadline_of_the_runtimes_context_counts() {
    let lab = Lab::default();
    let consumer = consumer(&lab).build().unwrap();
    let mut context = lambda_runtime::Context::default();
    let now = std::time::SystemTime::now();
    let now = now.duration_since(std::time::UNIX_EPOCH).unwrap();
    context.deadline = (now + 10 * SECOND).as_millis() as u64;
    let begun = Instant::now();
    let event = lambda_runtime::LambdaEvent::new(tasks(&[("a", "sleep=600 ok")]), context);
    let answer = consumer.handle(event).await.unwrap();
    assert_eq!(answer.batch_item_failures.len(), 1);
    let took = begun.elapsed();
    assert!(took > 8 * SECOND && took < 10 * SECOND, "{took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handler_that_blocks_its_thread_is_answered_for() {
    #[derive(Clone)]
    struct Gate(Arc<Mutex<mpsc::Receiver<()>>>);
    #[babel_handler]
    async fn blocks(_: Task, State(gate): State<Gate>) {
        let _ = gate.0.lock().unwrap().recv();
    }
    let (open, gate) = mpsc::channel();
    let consumer = LambdaConsumer::builder(Router::from_handlers![blocks])
        .state(Gate(Arc::new(Mutex::new(gate))))
        .build()
        .unwrap();
    let time = Some(Duration::from_millis(200));
    // It ends only after the answer is there.
    let failed = failures_within(&consumer, tasks(&[("a", "")]), time).await;
    assert_eq!(failed, ["a"]);
    drop(open);
}
