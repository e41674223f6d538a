//! The buffered publisher: how publishes meet, what each caller learns, and how it ends.

use std::time::Duration;

use babelqueue::local::{LocalSqs, Operation, Refusal};
use babelqueue::prelude::*;
use babelqueue::sqs::BufferedPublisherBuilder;
use babelqueue::{BuildError, PublishError, Published};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::support::{Logged, OrderCreated, order, server, visible};

const MILLIS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

pub fn builder(sqs: &LocalSqs) -> BufferedPublisherBuilder {
    BufferedPublisher::builder(SqsPublisher::new(sqs.client(), sqs.queue_url("orders")))
}

fn buffered(sqs: &LocalSqs) -> BufferedPublisher {
    builder(sqs).build().unwrap()
}

type Results = JoinSet<(u64, Result<Published, PublishError>)>;

/// A task for each message.
fn publish(publisher: &BufferedPublisher, ids: std::ops::Range<u64>) -> Results {
    let mut tasks = JoinSet::new();
    for order_id in ids {
        let publisher = publisher.clone();
        let order = OrderCreated {
            customer: Some(format!("g{}", order_id % 3)),
            order_id,
        };
        tasks.spawn(async move { (order_id, order.publish(&publisher).await) });
    }
    tasks
}

#[tokio::test(start_paused = true)]
async fn publishes_of_many_tasks_leave_in_tens_and_each_gets_its_own_result() {
    let sqs = server();
    let publisher = buffered(&sqs);
    let results = publish(&publisher, 0..100).join_all().await;
    assert_eq!(sqs.calls().total(), 10);
    let queue = visible(&sqs, "orders");
    assert_eq!(queue.len(), 100);
    for (order_id, result) in results {
        let sent = result.unwrap();
        let mine = queue
            .iter()
            .find(|message| Some(&message.message_id) == sent.sqs_message_id.as_ref())
            .unwrap();
        assert!(mine.body.contains(&format!("\"order_id\":{order_id}}}")));
        assert!(mine.body.contains(&sent.message_id));
    }
    publisher.close().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_lone_publish_waits_for_its_linger_at_most() {
    let sqs = server();
    for (linger, most) in [(0, 0), (5, 5), (200, 200)] {
        let publisher = builder(&sqs).linger(linger * MILLIS).build().unwrap();
        let started = Instant::now();
        order().publish(&publisher).await.unwrap();
        assert!(
            started.elapsed() <= most * MILLIS,
            "{:?}",
            started.elapsed()
        );
        publisher.close().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn c_025_closing_the_buffered_publisher() {
    let sqs = server();
    let on = sqs.faults().on(Operation::SendMessageBatch);
    on.delay_response(300 * MILLIS);
    let publisher = builder(&sqs).linger(SECOND).build().unwrap();
    let started = Instant::now();
    let tasks = publish(&publisher, 0..8);
    sleep(100 * MILLIS).await;
    publisher.close().await.unwrap();
    assert_eq!(started.elapsed(), 400 * MILLIS, "no linger, and the answer");
    assert_eq!(
        visible(&sqs, "orders").len(),
        8,
        "each goes out exactly once"
    );
    for (_, result) in tasks.join_all().await {
        result.expect("the result of its own message");
    }
    let late = order().publish(&publisher).await.expect_err("it is closed");
    assert!(
        matches!(late, PublishError::Closed { .. }) && late.is_refused(),
        "{late}"
    );
    publisher
        .close()
        .await
        .expect("closing twice is no mistake");
    publisher.flush().await.expect("nothing is left");
}

#[tokio::test(start_paused = true)]
async fn closing_takes_no_longer_than_the_time_to_send() {
    let sqs = server();
    sqs.faults().on(Operation::SendMessageBatch).hang();
    let publisher = buffered(&sqs);
    let tasks = publish(&publisher, 0..8);
    sleep(SECOND).await;
    let started = Instant::now();
    let error = publisher.close().await.expect_err("nothing was sent");
    assert!(started.elapsed() <= 30 * SECOND);
    assert_eq!((error.refused, error.unknown), (0, 8));
    for (_, result) in tasks.join_all().await {
        assert!(result.expect_err("a call that hangs").is_unknown());
    }
}

#[tokio::test(start_paused = true)]
async fn a_close_within_a_time_gives_up_what_is_left_by_then() {
    let sqs = server();
    sqs.faults().on(Operation::SendMessageBatch).hang();
    let publisher = builder(&sqs).concurrency(1).build().unwrap();
    let tasks = publish(&publisher, 0..14);
    sleep(100 * MILLIS).await;
    let started = Instant::now();
    let error = publisher.close_within(SECOND).await.expect_err("no time");
    assert_eq!(started.elapsed(), SECOND);
    assert_eq!((error.refused, error.unknown), (4, 10));
    let results = tasks.join_all().await;
    let count = |is: fn(&PublishError) -> bool| {
        let errors = results
            .iter()
            .filter_map(|(_, result)| result.as_ref().err());
        errors.filter(|error| is(error)).count()
    };
    assert_eq!(
        count(|error| matches!(error, PublishError::NotAttempted { .. })),
        4
    );
    assert_eq!(
        count(|error| matches!(error, PublishError::Abandoned { refused: false, .. })),
        10
    );
}

#[tokio::test(start_paused = true)]
async fn a_flush_waits_for_what_was_there_and_not_for_what_comes() {
    let sqs = server();
    let publisher = builder(&sqs).linger(10 * SECOND).build().unwrap();
    publisher.flush().await.expect("nothing is there");
    let early = publish(&publisher, 0..3);
    sleep(SECOND).await;
    assert_eq!(sqs.calls().total(), 0);
    let started = Instant::now();
    publisher.flush().await.unwrap();
    assert_eq!(started.elapsed(), Duration::ZERO);
    assert_eq!(early.join_all().await.len(), 3);

    let on = sqs.faults().on(Operation::SendMessageBatch);
    on.fail_entries([0], "InvalidMessageContents", true);
    let unlucky = publish(&publisher, 3..5);
    sleep(SECOND).await;
    let error = publisher.flush().await.expect_err("one was refused");
    assert_eq!((error.refused, error.unknown), (1, 0));
    drop(unlucky);
    publisher.close().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_full_buffer_makes_publishes_wait_and_lets_them_go_in_the_end() {
    let sqs = server();
    sqs.faults().on(Operation::SendMessageBatch).delay(SECOND);
    let publisher = builder(&sqs).capacity(10).build().unwrap();
    let started = Instant::now();
    let results = publish(&publisher, 0..35).join_all().await;
    assert!(results.iter().all(|(_, result)| result.is_ok()));
    let seconds = started.elapsed().as_secs();
    assert_eq!(seconds, 4, "ten at a time");
    assert_eq!(visible(&sqs, "orders").len(), 35);

    // Bytes count too: two messages of more than half the buffer do not fit together.
    let publisher = builder(&sqs).capacity_bytes(1_048_576).build().unwrap();
    let big = serde_json::json!({ "text": "x".repeat(600_000) });
    let send = || publisher.publish_json("urn:x", &big);
    let started = Instant::now();
    let (one, other) = tokio::join!(send().into_future(), send().into_future());
    assert!(one.is_ok() && other.is_ok());
    assert!(started.elapsed() >= 2 * SECOND);
    publisher.close().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_buffer_that_stays_full_is_an_error_in_time() {
    let sqs = server();
    sqs.faults().on_any().hang();
    let builder = SqsPublisher::builder(sqs.client(), sqs.queue_url("orders"));
    let slow = builder.send_timeout(3 * SECOND).build().unwrap();
    let publisher = BufferedPublisher::builder(slow).capacity(10);
    let publisher = publisher.build().unwrap();
    let started = Instant::now();
    let results = publish(&publisher, 0..30).join_all().await;
    assert!(started.elapsed() <= 6 * SECOND, "{:?}", started.elapsed());
    let full = |(_, result): &(_, Result<_, _>)| matches!(result, Err(PublishError::Full { .. }));
    assert!(results.iter().any(full));
    assert!(results.iter().all(|(_, result)| result.is_err()));
    // Those that wait for room when it is closed are told as well.
    let tasks = publish(&publisher, 0..11);
    sleep(SECOND).await;
    let _ = publisher.close().await;
    let closed =
        |(_, result): &(_, Result<_, _>)| matches!(result, Err(PublishError::Closed { .. }));
    assert_eq!(
        tasks
            .join_all()
            .await
            .iter()
            .filter(|one| closed(one))
            .count(),
        1
    );
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_takes_nothing_with_it() {
    let sqs = server();
    let log = Logged::new();
    let publisher = buffered(&sqs);
    let message = order();
    let gone = timeout(MILLIS, message.publish(&publisher).into_future()).await;
    assert!(gone.is_err(), "it lingers");
    drop(order().publish(&publisher)); // Never awaited: nothing is sent.
    publisher.flush().await.unwrap();
    assert_eq!(visible(&sqs, "orders").len(), 1);

    sqs.faults().on_any().refuse(Refusal::AccessDenied);
    let gone = timeout(MILLIS, message.publish(&publisher).into_future()).await;
    assert!(gone.is_err());
    publisher.close().await.expect_err("refused");
    assert_eq!(log.count("does not wait for it any more"), 1);

    // One that waited for room sent nothing, and takes no room.
    sqs.faults().clear();
    sqs.faults().on_any().delay(SECOND);
    let publisher = builder(&sqs).capacity(10).build().unwrap();
    let tasks = publish(&publisher, 0..10);
    sleep(MILLIS).await;
    let waiting = timeout(MILLIS, message.publish(&publisher).into_future()).await;
    assert!(waiting.is_err());
    assert_eq!(tasks.join_all().await.len(), 10);
    assert_eq!(publish(&publisher, 0..10).join_all().await.len(), 10);
    assert_eq!(visible(&sqs, "orders").len(), 21);
    publisher.close().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn dropping_it_without_a_close_is_loud() {
    let sqs = server();
    let log = Logged::new();
    let publisher = buffered(&sqs);
    let clone = publisher.clone();
    for _ in 0..3 {
        let message = order();
        let gone = timeout(MILLIS, message.publish(&publisher).into_future()).await;
        assert!(gone.is_err());
    }
    drop(publisher);
    assert_eq!(log.count("without `close`"), 0, "there is another");
    drop(clone);
    assert_eq!(log.count("dropped without `close`: of these messages"), 1);
    assert_eq!(log.count("messages=3"), 1, "{log:?}");
    sleep(SECOND).await;
    assert_eq!(sqs.calls().total(), 0);

    drop(buffered(&sqs));
    assert_eq!(log.count("nothing was lost this time"), 1);
    let closed = buffered(&sqs);
    closed.close().await.unwrap();
    drop(closed);
    assert_eq!(log.count("without `close`"), 2, "after a close it is quiet");
}

#[tokio::test(start_paused = true)]
async fn a_group_of_a_fifo_queue_keeps_its_order_in_parallel_calls() {
    let sqs = server();
    let on = || sqs.faults().on(Operation::SendMessageBatch);
    on().once().delay(2 * SECOND);
    on().once().lose_request();
    let inner = SqsPublisher::new(sqs.client(), sqs.queue_url("orders.fifo"));
    let publisher = BufferedPublisher::new(inner);
    // One task, so that the order in which messages are given is known.
    let mut tasks = JoinSet::new();
    for order_id in 0..60 {
        let publisher = publisher.clone();
        let customer = Some(format!("g{}", order_id % 4));
        tasks.spawn(async move {
            let order = OrderCreated { customer, order_id };
            order.publish(&publisher).await
        });
    }
    assert!(tasks.join_all().await.iter().all(Result::is_ok));
    let mut queue = visible(&sqs, "orders.fifo");
    queue.sort_by_key(|message| message.sequence_number.clone());
    assert_eq!(queue.len(), 60);
    for group in 0..4 {
        let group = format!("g{group}");
        let of_group = queue.iter().filter(|m| m.group_id.as_ref() == Some(&group));
        let ids: Vec<u64> = of_group
            .map(|m| crate::support::order_id(&m.body))
            .collect();
        assert!(ids.is_sorted() && ids.len() == 15, "{group}: {ids:?}");
    }
    publisher.close().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn mistakes_are_told_before_the_buffer() {
    let sqs = server();
    let publisher = buffered(&sqs);
    let error = order().publish(&publisher).header("bad:key", "v").await;
    assert!(matches!(error, Err(PublishError::Header { .. })));
    for (bad, option) in [
        (builder(&sqs).capacity(9), "capacity"),
        (builder(&sqs).capacity_bytes(1_048_575), "capacity_bytes"),
        (builder(&sqs).concurrency(0), "concurrency"),
        (builder(&sqs).linger(61 * SECOND), "linger"),
    ] {
        let error = bad.build().expect_err(option);
        let named = matches!(&error, BuildError::Range { option: found, .. } if *found == option);
        assert!(named, "{error}");
    }
    publisher.close().await.unwrap();
}
