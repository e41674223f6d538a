//! Batches to a FIFO queue: groups, and the order inside each of them whatever fails.

use std::time::Duration;

use babelqueue::local::{LocalSqs, Operation};
use babelqueue::prelude::*;
use babelqueue::{BatchError, PublishError, Published};

use crate::support::{OrderCreated, order_id, server, visible};

/// 25 messages of two groups in turn, `a` and `b`.
fn orders() -> Vec<OrderCreated> {
    let order = |order_id| OrderCreated {
        customer: Some(["a", "b"][(order_id % 2) as usize].to_owned()),
        order_id,
    };
    (0..25).map(order).collect()
}

fn publisher(sqs: &LocalSqs) -> SqsPublisher {
    SqsPublisher::new(sqs.client(), sqs.queue_url("orders.fifo"))
}

/// Group and order id of what is on the queue, in its order.
fn on_queue(sqs: &LocalSqs) -> Vec<(String, u64)> {
    let mut all = visible(sqs, "orders.fifo");
    all.sort_by_key(|message| message.sequence_number.clone());
    all.into_iter()
        .map(|message| {
            let id = order_id(&message.body);
            (message.group_id.unwrap(), id)
        })
        .collect()
}

fn of_group(sqs: &LocalSqs, group: &str) -> Vec<u64> {
    let all = on_queue(sqs).into_iter();
    all.filter(|(other, _)| other == group)
        .map(|(_, id)| id)
        .collect()
}

fn failed(result: Result<Vec<Published>, BatchError>) -> BatchError {
    result.expect_err("not everything was sent")
}

#[tokio::test(start_paused = true)]
async fn c_058_a_missing_group_is_found_before_the_network() {
    let sqs = server();
    let groupless = orders().into_iter().map(|order| OrderCreated {
        customer: None,
        ..order
    });
    let error = failed(publisher(&sqs).publish_batch(groupless).await);
    let all_missing = error
        .failures()
        .all(|(_, error)| matches!(error, PublishError::MissingGroup { .. }));
    assert!(all_missing && error.failures().count() == 25);
    assert_eq!(sqs.calls().total(), 0);
}

#[tokio::test(start_paused = true)]
async fn c_058_groups_are_kept_across_requests() {
    let sqs = server();
    let sent = publisher(&sqs).publish_batch(orders()).await.unwrap();
    assert_eq!(sqs.calls().count(Operation::SendMessageBatch), 3);
    let expected: Vec<_> = orders()
        .into_iter()
        .map(|order| (order.customer.unwrap(), order.order_id))
        .collect();
    assert_eq!(on_queue(&sqs), expected);
    let numbers: Vec<_> = sent
        .iter()
        .map(|sent| sent.sequence_number.clone().unwrap())
        .collect();
    assert!(numbers.is_sorted());
}

#[tokio::test(start_paused = true)]
async fn c_058_no_later_entry_of_a_group_overtakes_on_a_retry() {
    let sqs = server();
    // The last two of the first request, one of each group: nothing of it comes behind them.
    let on = sqs.faults().on(Operation::SendMessageBatch);
    on.times(1).fail_entries([8, 9], "InternalError", false);
    publisher(&sqs).publish_batch(orders()).await.unwrap();
    assert_eq!(of_group(&sqs, "a"), (0..25).step_by(2).collect::<Vec<_>>());
    assert_eq!(of_group(&sqs, "b"), (1..25).step_by(2).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn c_058_an_entry_that_was_overtaken_inside_sqs_is_told_and_stops_its_group() {
    let sqs = server();
    let on = sqs.faults().on(Operation::SendMessageBatch);
    on.once().fail_entries([2], "InternalError", false);
    let error = failed(publisher(&sqs).publish_batch(orders()).await);
    let results = error.results();
    assert_eq!(
        results[2].as_ref().unwrap_err().code(),
        Some("InternalError")
    );
    for (place, result) in results.iter().enumerate() {
        let is_a = place % 2 == 0;
        match result {
            Ok(_) => assert!(!is_a || place < 10, "place {place}"),
            Err(PublishError::NotAttempted { .. }) => assert!(is_a && place >= 10),
            Err(_) => assert_eq!(place, 2),
        }
    }
    assert_eq!(of_group(&sqs, "a"), [0, 4, 6, 8]);
    assert_eq!(of_group(&sqs, "b").len(), 12, "the other group goes on");
    // Whoever can live with the gap sends the rest.
    error.retry().await.unwrap();
    let expected = [0, 4, 6, 8, 2, 10, 12, 14, 16, 18, 20, 22, 24];
    assert_eq!(of_group(&sqs, "a"), expected);
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_brings_nothing_twice() {
    let sqs = server();
    let on = || sqs.faults().on(Operation::SendMessageBatch);
    on().once().lose_response();
    on().once().hang_after_effect();
    let sent = publisher(&sqs).publish_batch(orders()).await.unwrap();
    assert_eq!((sent.len(), on_queue(&sqs).len()), (25, 25));
    let ids = on_queue(&sqs).into_iter().map(|(_, id)| id);
    assert!(ids.eq(0..25));
}

#[tokio::test(start_paused = true)]
async fn calls_to_a_fifo_queue_follow_each_other() {
    let sqs = server();
    let on = sqs.faults().on(Operation::SendMessageBatch);
    on.delay(Duration::from_secs(1));
    let started = tokio::time::Instant::now();
    let batch = publisher(&sqs).publish_batch(orders()).concurrency(8);
    batch.await.unwrap();
    assert_eq!(started.elapsed(), Duration::from_secs(3));
}
