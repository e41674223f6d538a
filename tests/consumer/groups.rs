//! Several consumers in one process.

use std::time::Duration;

use babelqueue::prelude::*;
use babelqueue::{BuildError, RunError};
use tokio::time::{Instant, sleep};

use crate::support::{Bench, SECOND};

fn group(benches: &[Bench]) -> ConsumerGroup {
    let consumers = benches
        .iter()
        .map(|bench| bench.consumer().build().unwrap());
    consumers.fold(ConsumerGroup::new(), ConsumerGroup::consumer)
}

#[tokio::test(start_paused = true)]
async fn c_022_three_idle_queues_stop_side_by_side() {
    let benches = [Bench::new(), Bench::new(), Bench::new()];
    let start = Instant::now();
    group(&benches).run_until(sleep(SECOND)).await.unwrap();
    let took = start.elapsed();
    assert!(took < Duration::from_millis(1500), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn every_queue_is_handled_and_drained() {
    let benches = [Bench::new(), Bench::fifo(), Bench::new()];
    benches[0].put("a", &["ok"]);
    benches[1].put_in("g", "b", &["sleep=5000"]);
    benches[2].put("c", &["sleep=3000 fail", "ok"]);
    let group = group(&benches);
    let handle = group.handle();
    group.run_until(sleep(4 * SECOND)).await.unwrap();
    for bench in &benches {
        assert!(bench.left().is_empty());
        assert_eq!(bench.lab.running(), 0);
    }
    let queues: Vec<_> = handle.handles().map(|(queue, _)| queue).collect();
    assert_eq!(queues, ["orders", "orders.fifo", "orders"]);
    let handled: u64 = handle.handles().map(|(_, h)| h.stats().handled).sum();
    assert_eq!(handled, 3);
}

#[tokio::test(start_paused = true)]
async fn shared_concurrency_bounds_all_and_starves_nobody() {
    let benches = [Bench::new(), Bench::new(), Bench::new()];
    let lab = &benches[0].lab;
    for bench in &benches {
        for i in 0..20 {
            bench.put(&format!("{i}"), &["sleep=1000"]);
        }
    }
    // All handlers into one lab, to see the sum.
    let consumers = benches
        .iter()
        .map(|bench| bench.consumer().state(lab.clone()).build().unwrap());
    let group = consumers.fold(ConsumerGroup::new(), ConsumerGroup::consumer);
    let group = group.shared_concurrency(4).unwrap();
    let handle = group.handle();
    let run = tokio::spawn(group.run());
    sleep(Duration::from_millis(5500)).await;
    assert_eq!((lab.most_at_once(), lab.running()), (4, 4));
    for (_, handle) in handle.handles() {
        let handled = handle.stats().handled;
        assert!(handled >= 4, "nobody waits for all of another: {handled}");
    }
    sleep(10 * SECOND).await;
    assert_eq!(lab.calls().len(), 60, "15 rounds of four");
    handle.stop();
    run.await.unwrap().unwrap();
    assert!(benches.iter().all(|bench| bench.left().is_empty()));
}

#[tokio::test(start_paused = true)]
async fn permits_come_back_from_panics_timeouts_and_cancelled_handlers() {
    let benches = [Bench::new(), Bench::new()];
    for bench in &benches {
        for (name, steps) in [
            ("panic", "panic"),
            ("slow", "sleep=90000"),
            ("dead", "dead"),
        ] {
            bench.put(name, &[steps, "ok"]);
        }
    }
    let consumers = benches
        .iter()
        .map(|bench| bench.consumer().handler_timeout(SECOND).build().unwrap());
    let group = consumers.fold(ConsumerGroup::new(), ConsumerGroup::consumer);
    let group = group.shared_concurrency(1).unwrap();
    group.run_until(sleep(60 * SECOND)).await.unwrap();
    for bench in &benches {
        assert_eq!(bench.lab.most_at_once(), 1);
        for name in ["panic/1", "slow/1"] {
            let calls = bench.lab.calls();
            assert!(calls.contains(&name.to_owned()), "{calls:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_cannot_run_ends_the_group_after_the_others_have_drained() {
    let bench = Bench::new();
    bench.put("t", &["sleep=5000"]);
    let missing = bench.consumer().queue_url(bench.sqs.queue_url("missing"));
    let group = ConsumerGroup::new()
        .consumer(bench.consumer().build().unwrap())
        .consumer(missing.build().unwrap());
    // Late enough for the good one to have its message.
    let fault = bench.sqs.faults().on_any().queue("missing");
    let _late = fault.delay(SECOND);
    let error = group.run().await.expect_err("no such queue");
    assert!(
        matches!(&error, RunError::QueueDoesNotExist { queue_url, .. } if queue_url.ends_with("missing")),
        "{error}"
    );
    assert_eq!(bench.lab.ends("t").len(), 1);
    assert!(bench.left().is_empty(), "drained");
}

#[tokio::test(start_paused = true)]
async fn one_may_stop_alone_and_an_empty_group_ends_at_once() {
    ConsumerGroup::new().run().await.unwrap();
    let benches = [Bench::new(), Bench::new()];
    let group = group(&benches);
    let handle = group.handle();
    let run = tokio::spawn(group.run());
    sleep(SECOND).await;
    handle.handles().next().unwrap().1.stop();
    sleep(SECOND).await;
    benches[0].put("t", &["ok"]);
    benches[1].put("t", &["ok"]);
    sleep(SECOND).await;
    assert_eq!(benches[0].lab.calls().len(), 0);
    assert_eq!(benches[1].lab.calls().len(), 1);
    handle.pause();
    handle.resume();
    handle.stop();
    run.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_dropped_group_leaves_no_handler_running() {
    let benches = [Bench::new(), Bench::new()];
    benches[0].put("t", &["sleep=60000"]);
    let run = tokio::spawn(group(&benches).run());
    sleep(SECOND).await;
    assert_eq!(benches[0].lab.running(), 1);
    run.abort();
    let _ = run.await;
    // Aborted tasks end with their next poll.
    tokio::task::yield_now().await;
    sleep(Duration::from_millis(1)).await;
    assert_eq!(benches[0].lab.running(), 0);
}

#[test]
fn a_shared_concurrency_of_nothing_is_refused() {
    let error = ConsumerGroup::new()
        .shared_concurrency(0)
        .expect_err("refused");
    let BuildError::Range { option, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(option, "shared_concurrency");
}
