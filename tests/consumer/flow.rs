//! How much runs, how much is fetched, and how many calls that takes.

use std::time::Duration;

use babelqueue::local::{Operation, RawMessage};

use crate::support::{Bench, SECOND, envelope};

#[tokio::test(start_paused = true)]
async fn no_more_handlers_run_than_allowed_and_no_more_is_fetched() {
    let bench = Bench::new();
    for i in 0..60 {
        bench.put(&format!("t{i}"), &["sleep=1000"]);
    }
    let consumer = bench
        .consumer()
        .concurrency(5)
        .max_in_flight(12)
        .build()
        .unwrap();
    let watched = bench.sqs.clone();
    let watch = tokio::spawn(async move {
        let mut most = 0;
        for _ in 0..100 {
            tokio::time::sleep(Duration::from_millis(93)).await;
            most = most.max(watched.snapshot("orders").in_flight.len());
        }
        most
    });
    consumer
        .run_until(tokio::time::sleep(13 * SECOND))
        .await
        .unwrap();
    assert_eq!(bench.lab.most_at_once(), 5);
    assert_eq!(watch.await.unwrap(), 12);
    assert!(
        bench.left().is_empty(),
        "all sixty are done in twelve seconds"
    );
}

#[tokio::test(start_paused = true)]
async fn with_one_handler_messages_are_handled_in_the_order_of_receipt() {
    let bench = Bench::new();
    for i in 0..9 {
        bench.put(&format!("t{i}"), &["sleep=10"]);
    }
    bench.run(bench.consumer().concurrency(1), SECOND).await;
    assert_eq!(bench.lab.most_at_once(), 1);
    assert_eq!(bench.lab.calls().len(), 9);
}

#[tokio::test(start_paused = true)]
async fn c_100_one_slow_message_stops_nobody_else() {
    let bench = Bench::new();
    bench.put("slow", &["sleep=60000"]);
    for i in 0..200 {
        bench.put(&format!("t{i}"), &["sleep=10"]);
    }
    bench
        .run(bench.consumer().concurrency(20), 70 * SECOND)
        .await;
    let log = bench.lab.log();
    let last = log
        .iter()
        .filter(|e| e.what == "end" && e.name != "slow")
        .map(|e| e.at)
        .max();
    assert!(last.unwrap() < 2 * SECOND, "{last:?}");
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn under_load_a_message_takes_a_fifth_of_a_call() {
    let bench = Bench::new();
    for i in 0..1000 {
        bench.put(&format!("t{i}"), &["sleep=5"]);
    }
    bench
        .run(bench.consumer().concurrency(50), 30 * SECOND)
        .await;
    assert!(bench.left().is_empty());
    let calls = bench.sqs.calls().total();
    assert!(calls <= 210, "{calls} calls for 1000 messages");
}

#[tokio::test(start_paused = true)]
async fn an_idle_consumer_makes_three_calls_a_minute() {
    let bench = Bench::new();
    bench.run(bench.consumer(), 600 * SECOND).await;
    let calls = bench.sqs.calls().count(Operation::ReceiveMessage);
    assert!((30..=31).contains(&calls), "{calls}");
    assert_eq!(bench.sqs.calls().count(Operation::GetQueueAttributes), 1);
}

#[tokio::test(start_paused = true)]
async fn in_flight_bytes_hold_receives_back() {
    let bench = Bench::new();
    for i in 0..30 {
        let body = envelope(&format!("t{i}"), &["sleep=1000"]);
        bench.put_raw(RawMessage::new(format!("{body}{}", " ".repeat(1000))));
    }
    let consumer = bench.consumer().concurrency(30).max_in_flight_bytes(2000);
    bench.run(consumer, 10 * SECOND).await;
    // One receive for each open poll may go over the bound; without it all thirty would run.
    assert!(
        bench.lab.most_at_once() <= 20,
        "{}",
        bench.lab.most_at_once()
    );
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_paused_consumer_receives_nothing_until_it_is_resumed() {
    let bench = Bench::new();
    let consumer = bench.consumer().build().unwrap();
    let handle = consumer.handle();
    handle.pause();
    bench.put("t", &["ok"]);
    let run = tokio::spawn(consumer.run());
    tokio::time::sleep(5 * SECOND).await;
    assert!(bench.lab.calls().is_empty());
    assert_eq!(handle.health().state, babelqueue::sqs::HealthState::Paused);
    handle.resume();
    tokio::time::sleep(SECOND).await;
    assert_eq!(bench.lab.calls(), ["t/0"]);
    handle.stop();
    run.await.unwrap().unwrap();
    assert_eq!(handle.health().state, babelqueue::sqs::HealthState::Stopped);
}

#[tokio::test(start_paused = true)]
async fn c_099_permits_do_not_leak() {
    use babelqueue::local::Refusal;
    use babelqueue::prelude::*;

    let bench = Bench::new();
    let refused = bench.sqs.faults().on(Operation::ReceiveMessage).times(20);
    let refused = refused.refuse(Refusal::InternalError);
    let consumer = bench
        .consumer()
        .concurrency(10)
        .handler_timeout(2 * SECOND)
        .retry(Backoff::fixed(SECOND))
        .build()
        .unwrap();
    let handle = consumer.handle();
    let run = tokio::spawn(consumer.run());
    tokio::time::sleep(1200 * SECOND).await;
    assert_eq!(refused.hits(), 20);
    for i in 0..5 {
        bench.put(&format!("panic{i}"), &["panic", "ok"]);
        bench.put(&format!("slow{i}"), &["sleep=5000", "ok"]);
    }
    tokio::time::sleep(60 * SECOND).await;
    assert!(bench.left().is_empty());
    assert_eq!((handle.stats().in_flight, handle.stats().running), (0, 0));
    for i in 0..100 {
        bench.put(&format!("t{i}"), &["sleep=100"]);
    }
    tokio::time::sleep(30 * SECOND).await;
    assert_eq!(bench.lab.most_at_once(), 10);
    assert!(bench.left().is_empty());
    handle.stop();
    run.await.unwrap().unwrap();
}
