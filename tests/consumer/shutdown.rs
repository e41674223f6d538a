//! Stopping: idle, busy, in the middle of a receive, and by force.

use std::time::Duration;

use babelqueue::local::{LocalSqs, Operation};
use tokio::time::{Instant, sleep};

use crate::support::{Bench, SECOND};

#[tokio::test(start_paused = true)]
async fn c_022_an_idle_consumer_is_gone_within_half_a_second() {
    let benches = [Bench::new(), Bench::new(), Bench::new()];
    let mut runs = Vec::new();
    for bench in &benches {
        let consumer = bench.consumer().build().unwrap();
        runs.push(tokio::spawn(async move {
            consumer.run_until(sleep(SECOND)).await.unwrap();
            Instant::now()
        }));
    }
    let start = Instant::now();
    for run in runs {
        let ended = run.await.unwrap();
        assert!(
            ended - start < Duration::from_millis(1500),
            "{:?}",
            ended - start
        );
    }
}

/// A run uses its consumer up (the documentation of `run` has it not compile); a second consumer
/// of the same settings, started before the first has ended, is the only one to poll after that.
#[tokio::test(start_paused = true)]
async fn c_023_stop_and_start_leaves_one_poll_loop() {
    let bench = Bench::new();
    let builder = bench.consumer();
    let first = builder.clone().build().unwrap();
    let stop_first = first.handle();
    let first = tokio::spawn(first.run());
    sleep(SECOND).await;
    stop_first.stop();
    let second = builder.build().unwrap();
    let stop_second = second.handle();
    let second = tokio::spawn(second.run());
    sleep(10 * SECOND).await;
    assert!(first.is_finished());
    bench.sqs.clear_calls();
    sleep(60 * SECOND).await;
    assert_eq!(bench.sqs.calls().count(Operation::ReceiveMessage), 3);
    stop_second.stop();
    first.await.unwrap().unwrap();
    second.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn c_019_acknowledgements_are_not_lost_while_draining() {
    let bench = Bench::new();
    bench.put("t", &["sleep=2000"]);
    let start = Instant::now();
    let consumer = bench
        .consumer()
        .shutdown_timeout(10 * SECOND)
        .build()
        .unwrap();
    consumer.run_until(sleep(SECOND / 2)).await.unwrap();
    assert_eq!(bench.lab.ends("t"), [2 * SECOND]);
    assert!(bench.left().is_empty(), "deleted before the run returned");
    assert!(start.elapsed() < 3 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn c_020_messages_that_arrive_while_stopping_go_back_at_once() {
    let bench = Bench::new();
    let delayed = bench.sqs.faults().on(Operation::ReceiveMessage);
    let _delayed = delayed.delay_response(Duration::from_millis(1200));
    for i in 0..10 {
        bench.put(&format!("t{i}"), &["ok"]);
    }
    bench.run(bench.consumer(), SECOND).await;
    assert!(bench.lab.calls().is_empty());
    let snapshot = bench.sqs.snapshot(&bench.queue);
    assert_eq!((snapshot.visible.len(), snapshot.in_flight.len()), (10, 0));
}

#[tokio::test(start_paused = true)]
async fn messages_that_no_handler_has_begun_with_go_back_unhandled() {
    let bench = Bench::new();
    for i in 0..5 {
        bench.put(&format!("t{i}"), &["sleep=3000"]);
    }
    bench.run(bench.consumer().concurrency(2), SECOND).await;
    assert_eq!(bench.lab.calls().len(), 2);
    let snapshot = bench.sqs.snapshot(&bench.queue);
    assert_eq!((snapshot.visible.len(), snapshot.in_flight.len()), (3, 0));
}

#[tokio::test(start_paused = true)]
async fn when_the_grace_is_over_handlers_are_cancelled_and_their_messages_released() {
    let bench = Bench::new();
    bench.put("stuck", &["sleep=3600000"]);
    bench.put("quick", &["sleep=2500"]);
    let start = Instant::now();
    bench
        .run(bench.consumer().shutdown_timeout(2 * SECOND), SECOND)
        .await;
    assert_eq!(start.elapsed().as_secs(), 3);
    assert_eq!(bench.lab.running(), 0, "no handler runs after the return");
    let snapshot = bench.sqs.snapshot(&bench.queue);
    assert_eq!((snapshot.visible.len(), snapshot.in_flight.len()), (1, 0));
    assert_eq!(snapshot.visible[0].receive_count, 1);
    assert!(
        bench.lab.errors().is_empty(),
        "a cancelled handler is no failure"
    );
}

#[tokio::test(start_paused = true)]
async fn a_grace_of_zero_cancels_at_once() {
    let bench = Bench::new();
    bench.put("stuck", &["sleep=3600000"]);
    let start = Instant::now();
    bench
        .run(bench.consumer().shutdown_timeout(Duration::ZERO), SECOND)
        .await;
    assert!(start.elapsed() < Duration::from_millis(1500));
    assert_eq!(bench.sqs.snapshot(&bench.queue).visible.len(), 1);
}

/// A poll that lingers must not receive what the same stop releases: it would cost the message a
/// receive, and a visibility timeout when the poll is dropped just then.
#[tokio::test(start_paused = true)]
async fn what_a_stop_releases_is_not_received_by_its_own_lingering_poll() {
    use babelqueue::prelude::*;
    for grace in [Duration::ZERO, SECOND / 10, SECOND] {
        let bench = Bench::new();
        bench.put("stuck", &["sleep=3600000"]);
        bench.put("failing", &["sleep=1100 now"]);
        for i in 0..3 {
            bench.put(&format!("waiting{i}"), &["sleep=3600000"]);
        }
        let consumer = bench
            .consumer()
            .concurrency(2)
            .shutdown_timeout(grace)
            .retry(Backoff::none());
        let start = Instant::now();
        bench.run(consumer, SECOND).await;
        assert!(start.elapsed() < 3 * SECOND);
        let snapshot = bench.sqs.snapshot(&bench.queue);
        assert_eq!((snapshot.visible.len(), snapshot.in_flight.len()), (5, 0));
        for message in &snapshot.visible {
            assert_eq!(message.receive_count, 1, "grace {grace:?}: {message:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_fails_during_the_stop_is_released_with_its_backoff() {
    use babelqueue::prelude::*;
    let bench = Bench::new();
    bench.put("t", &["sleep=2000 fail"]);
    bench
        .run(bench.consumer().retry(Backoff::fixed(40 * SECOND)), SECOND)
        .await;
    let snapshot = bench.sqs.snapshot(&bench.queue);
    assert!(snapshot.in_flight[0].visible_in > 39 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_stop_before_the_run_is_honoured() {
    let bench = Bench::new();
    bench.put("t", &["ok"]);
    let consumer = bench.consumer().build().unwrap();
    let handle = consumer.handle();
    handle.stop();
    handle.stop();
    consumer.run().await.unwrap();
    assert_eq!(bench.sqs.calls().count(Operation::ReceiveMessage), 0);
    assert!(bench.lab.calls().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_queue_that_does_not_exist_ends_the_run() {
    let bench = Bench::new();
    let sqs = LocalSqs::new();
    let url = sqs.queue_url("missing");
    let consumer = babelqueue::SqsConsumer::builder(sqs.client(), url, crate::support::router());
    let consumer = consumer.state(bench.lab.clone()).build().unwrap();
    let error = consumer.run().await.expect_err("no such queue");
    assert!(
        matches!(error, babelqueue::RunError::QueueDoesNotExist { .. }),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_missing_queue_is_noticed_without_the_start_up_checks_too() {
    let bench = Bench::new();
    let sqs = LocalSqs::new();
    let url = sqs.queue_url("missing");
    let consumer = babelqueue::SqsConsumer::builder(sqs.client(), url, crate::support::router())
        .state(bench.lab.clone())
        .startup_checks(false)
        .visibility_timeout(30 * SECOND)
        .build()
        .unwrap();
    let error = consumer.run().await.expect_err("no such queue");
    assert!(
        matches!(error, babelqueue::RunError::QueueDoesNotExist { .. }),
        "{error}"
    );
}

/// Real signals and real time: the first stops, the second forces.
#[cfg(unix)]
#[tokio::test]
async fn a_second_signal_forces_the_end() {
    let signal = || {
        let pid = std::process::id().to_string();
        let kill = std::process::Command::new("kill")
            .args(["-TERM", &pid])
            .status();
        assert!(kill.expect("kill runs").success());
    };
    let bench = Bench::new();
    bench.put("stuck", &["sleep=3600000"]);
    let consumer = bench.consumer().build().unwrap();
    let handle = consumer.handle();
    let run = tokio::spawn(consumer.run_until(babelqueue::shutdown_signal()));
    let until = async |state: fn(&babelqueue::Handle) -> bool| {
        while !state(&handle) {
            sleep(Duration::from_millis(1)).await;
        }
    };
    until(|handle| handle.stats().running == 1).await;
    signal();
    until(|handle| handle.health().state == babelqueue::sqs::HealthState::Stopping).await;
    assert!(!run.is_finished(), "the handler has its grace");
    signal();
    run.await.unwrap().unwrap();
    assert_eq!(bench.sqs.snapshot(&bench.queue).visible.len(), 1);
    assert_eq!(bench.lab.running(), 0);
}

#[tokio::test(start_paused = true)]
async fn stopping_a_fifo_consumer_keeps_the_order() {
    use babelqueue::prelude::*;
    let bench = Bench::fifo();
    bench.put_in("A", "A1", &["sleep=2000 fail", "ok"]);
    bench.put_in("A", "A2", &["ok"]);
    bench.put_in("A", "A3", &["ok"]);
    bench
        .run(bench.consumer().retry(Backoff::fixed(SECOND)), SECOND)
        .await;
    assert_eq!(bench.lab.calls(), ["A1/0"]);
    bench.run(bench.consumer(), 10 * SECOND).await;
    assert_eq!(bench.lab.calls(), ["A1/0", "A1/1", "A2/1", "A3/1"]);
    assert!(bench.left().is_empty() && bench.lab.kinds().len() == 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_there_when_the_polls_are_dropped_goes_back_at_once() {
    let bench = Bench::new();
    let delayed = bench.sqs.faults().on(Operation::ReceiveMessage);
    let _delayed = delayed.delay_response(SECOND);
    bench.put("t", &["ok"]);
    // The answer and the stop come in the same instant.
    let consumer = bench.consumer().shutdown_linger(Duration::ZERO);
    bench.run(consumer, SECOND).await;
    assert_eq!(bench.lab.calls(), [""; 0]);
    assert_eq!(bench.sqs.snapshot("orders").visible.len(), 1);
}
