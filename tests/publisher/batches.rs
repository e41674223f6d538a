//! `publish_batch`: how it is split, what each message's caller learns, and what is tried again.

use std::collections::BTreeSet;
use std::time::Duration;

use babelqueue::local::{LocalSqs, Operation, Refusal};
use babelqueue::prelude::*;
use babelqueue::{BatchError, PublishError, Published};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::{OrderCreated, attributes, order, order_id, server, visible};

fn orders(count: u64) -> Vec<OrderCreated> {
    let order = |order_id| OrderCreated {
        customer: None,
        order_id,
    };
    (0..count).map(order).collect()
}

/// The `order_id`s on a queue, in its order.
fn on_queue(sqs: &LocalSqs, queue: &str) -> Vec<u64> {
    let all = visible(sqs, queue);
    all.iter().map(|message| order_id(&message.body)).collect()
}

/// How many entries each call had.
fn entries(sqs: &LocalSqs) -> Vec<usize> {
    let calls = sqs.calls();
    calls
        .of(Operation::SendMessageBatch)
        .map(|call| {
            let request: Value = serde_json::from_str(call.request.as_ref().unwrap()).unwrap();
            request["Entries"].as_array().unwrap().len()
        })
        .collect()
}

fn recording() -> LocalSqs {
    let sqs = LocalSqs::builder().record_requests(true).build();
    sqs.create_queue("orders");
    sqs.create_queue("orders.fifo");
    sqs.clear_calls();
    sqs
}

fn publisher(sqs: &LocalSqs) -> SqsPublisher {
    SqsPublisher::new(sqs.client(), sqs.queue_url("orders"))
}

/// One that tries nothing twice.
fn once(sqs: &LocalSqs) -> SqsPublisher {
    let builder = SqsPublisher::builder(sqs.client(), sqs.queue_url("orders"));
    builder.max_attempts(1).build().unwrap()
}

/// A letter per message: sent, refused, unknown, not attempted.
fn letters(results: &[Result<Published, PublishError>]) -> String {
    let letter = |result: &Result<_, PublishError>| match result {
        Ok(_) => 's',
        Err(PublishError::NotAttempted { .. }) => 'n',
        Err(error) if error.is_refused() => 'r',
        Err(_) => 'u',
    };
    results.iter().map(letter).collect()
}

fn failed(result: Result<Vec<Published>, BatchError>) -> BatchError {
    result.expect_err("not everything was sent")
}

#[tokio::test(start_paused = true)]
async fn c_055_any_number_of_messages() {
    for (count, calls) in [(0, 0), (1, 1), (10, 1), (11, 2), (100, 10)] {
        let sqs = server();
        let sent = publisher(&sqs).publish_batch(orders(count)).await.unwrap();
        assert_eq!(sqs.calls().total(), calls, "{count} messages");
        let queue = visible(&sqs, "orders");
        assert_eq!(on_queue(&sqs, "orders"), (0..count).collect::<Vec<_>>());
        let ids = sent.iter().map(|sent| sent.sqs_message_id.as_deref());
        let expected = queue.iter().map(|message| Some(&*message.message_id));
        assert!(ids.eq(expected), "results line up with the input");
        for (sent, message) in sent.iter().zip(&queue) {
            assert!(message.body.contains(&sent.message_id));
            assert_eq!(attributes(message)["bq-message-id"].1, sent.message_id);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn c_052_failed_entries_are_told_and_only_they_are_sent_again() {
    let sqs = recording();
    let faults = sqs.faults();
    let on = |after| faults.on(Operation::SendMessageBatch).after(after).once();
    // Each rule counts the requests that came by it.
    on(1).fail_entries([3, 7], "InternalError", false);
    on(1).reset();
    let batch = orders(25);
    let error = failed(once(&sqs).publish_batch(&batch).await);
    assert_eq!(letters(error.results()), "sssssssssssssrsssrssuuuuu");
    for (place, failure) in error.failures() {
        match place {
            13 | 17 => assert_eq!(failure.code(), Some("InternalError")),
            _ => assert!(format!("{failure:?}").contains("Reset"), "{failure:?}"),
        }
        assert!(failure.is_retryable());
    }
    assert_eq!(entries(&sqs), [10, 10, 5]);
    assert!(error.to_string().contains("7 of 25"), "{error}");

    let before: Vec<_> = error.results().iter().flatten().cloned().collect();
    let sent = error.retry().await.expect("SQS works again");
    assert_eq!(entries(&sqs), [10, 10, 5, 7], "just those seven");
    assert_eq!(sent.len(), 25, "again one result per message");
    assert!(before.iter().all(|before| sent.contains(before)));
    let arrived: BTreeSet<_> = on_queue(&sqs, "orders").into_iter().collect();
    assert_eq!((arrived.len(), visible(&sqs, "orders").len()), (25, 25));
}

#[tokio::test(start_paused = true)]
async fn c_052_what_may_pass_is_tried_again_by_itself() {
    let sqs = recording();
    let faults = sqs.faults();
    let on = |after| faults.on(Operation::SendMessageBatch).after(after).once();
    on(1).fail_entries([3, 7], "InternalError", false);
    on(1).reset();
    let batch = orders(25);
    let sent = publisher(&sqs).publish_batch(&batch).await.unwrap();
    assert_eq!(sent.len(), 25);
    assert_eq!(entries(&sqs).iter().sum::<usize>(), 25 + 7);
    let mut arrived = on_queue(&sqs, "orders");
    arrived.sort_unstable();
    assert_eq!(arrived, (0..25).collect::<Vec<_>>(), "none twice");
    for (sent, order) in sent.iter().zip(&batch) {
        let queue = visible(&sqs, "orders");
        let message = queue.iter().find(|m| order_id(&m.body) == order.order_id);
        assert_eq!(sent.sqs_message_id, message.map(|m| m.message_id.clone()));
    }
}

#[tokio::test(start_paused = true)]
async fn c_053_an_entry_that_the_answer_does_not_mention_is_unknown() {
    let sqs = server();
    let on = || sqs.faults().on(Operation::SendMessageBatch);
    on().once().omit_entries([4]);
    let error = failed(once(&sqs).publish_batch(orders(5)).await);
    assert_eq!(letters(error.results()), "ssssu");
    assert_eq!(visible(&sqs, "orders").len(), 5, "this one was taken");

    // An entry that failed beside it, and with retries: until the time is over.
    on().omit_entries([0]);
    let started = Instant::now();
    let error = failed(publisher(&sqs).publish_batch(orders(1)).await);
    assert_eq!(letters(error.results()), "u");
    assert!(started.elapsed() <= Duration::from_secs(30));
}

#[tokio::test(start_paused = true)]
async fn a_refused_entry_is_not_tried_again() {
    let sqs = server();
    let on = sqs.faults().on(Operation::SendMessageBatch);
    on.fail_entries([1], "InvalidMessageContents", true);
    let error = failed(publisher(&sqs).publish_batch(orders(3)).await);
    assert_eq!(letters(error.results()), "srs");
    assert_eq!(sqs.calls().total(), 1);
    assert!(!error.is_retryable());
    let again = failed(error.retry().await);
    assert_eq!(letters(again.results()), "srs", "nothing more can be done");
    assert_eq!(sqs.calls().total(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_outage_ends_with_the_time_to_send_however_long_the_batch_is() {
    let sqs = server();
    let throttled = sqs.faults().on_any().refuse(Refusal::Throttled);
    let builder = SqsPublisher::builder(sqs.client(), sqs.queue_url("orders"));
    let publisher = builder
        .send_timeout(Duration::from_secs(10))
        .build()
        .unwrap();
    let started = Instant::now();
    let error = failed(publisher.publish_batch(orders(500)).await);
    assert!(started.elapsed() <= Duration::from_secs(10));
    assert!(error.failures().all(|(_, error)| error.is_refused()));
    assert_eq!(error.failures().count(), 500);
    assert!(
        throttled.hits() < 60,
        "SQS is left alone: {}",
        throttled.hits()
    );

    // A call that hangs ends as well, and nobody knows what became of it.
    sqs.faults().clear();
    sqs.faults().on_any().hang();
    let started = Instant::now();
    let error = failed(publisher.publish_batch(orders(20)).await);
    assert!(started.elapsed() <= Duration::from_secs(10));
    assert_eq!(letters(error.results()), "u".repeat(10) + &"n".repeat(10));
}

#[tokio::test(start_paused = true)]
async fn an_unknown_fate_stays_unknown_after_a_refusal() {
    let sqs = server();
    let faults = sqs.faults();
    faults.on_any().once().lose_response();
    faults.on_any().refuse(Refusal::Throttled);
    let error = failed(publisher(&sqs).publish_batch(orders(1)).await);
    assert_eq!(letters(error.results()), "u");
    let error = order()
        .publish(&publisher(&sqs))
        .await
        .expect_err("refused");
    assert!(error.is_refused());
    faults.clear();
    faults.on_any().once().lose_response();
    faults.on_any().refuse(Refusal::Throttled);
    let error = order()
        .publish(&publisher(&sqs))
        .await
        .expect_err("unknown");
    assert!(error.is_unknown(), "the single publish as well");
}

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:test:text"]
struct Text {
    text: String,
}

fn text(bytes: usize) -> Text {
    Text {
        text: "x".repeat(bytes),
    }
}

#[tokio::test(start_paused = true)]
async fn c_054_a_batch_too_large_although_each_entry_fits() {
    let sqs = recording();
    let limit = 1_048_576;
    let publisher = publisher(&sqs);
    // What a message takes beside its text.
    let builder = SqsPublisher::builder(sqs.client(), sqs.queue_url("orders"));
    let tiny = builder.max_message_bytes(1).build().unwrap();
    let error = text(0).publish(&tiny).await.expect_err("too large");
    let PublishError::TooLarge { actual: extra, .. } = error else {
        panic!("{error}")
    };
    let ten = |last: usize| {
        let each = (limit - 10 * extra) / 10;
        let mut all: Vec<_> = (0..9).map(|_| text(each)).collect();
        all.push(text(limit - 10 * extra - 9 * each + last));
        all
    };
    publisher.publish_batch(ten(0)).await.unwrap();
    assert_eq!(
        entries(&sqs),
        [10],
        "exactly at the limit, attributes counted"
    );
    publisher.publish_batch(ten(1)).await.unwrap();
    assert_eq!(entries(&sqs), [10, 9, 1], "one byte over");
    let large = limit * 6 / 10;
    let both = [text(large), text(large)];
    publisher.publish_batch(&both).await.unwrap();
    assert_eq!(entries(&sqs), [10, 9, 1, 1, 1]);
    let all = sqs.calls();
    assert!(
        all.iter()
            .all(|call| call.outcome == babelqueue::local::CallOutcome::Done)
    );
}

#[tokio::test(start_paused = true)]
async fn c_083_ten_times_150_kib() {
    let sqs = recording();
    sqs.create_queue_with("small", [("MaximumMessageSize", "262144")])
        .unwrap();
    let batch: Vec<_> = (0..10).map(|_| text(150 * 1024)).collect();
    publisher(&sqs).publish_batch(&batch).await.unwrap();
    assert_eq!(entries(&sqs), [6, 4]);
    let builder = SqsPublisher::builder(sqs.client(), sqs.queue_url("small"));
    let small = builder.max_message_bytes(262_144).build().unwrap();
    small.publish_batch(&batch).await.unwrap();
    assert_eq!(
        entries(&sqs)[2..],
        [1; 10],
        "one limit for message and request"
    );
}

#[tokio::test(start_paused = true)]
async fn messages_of_several_types_and_what_is_said_of_one() {
    let sqs = server();
    let publisher = publisher(&sqs);
    let minute = Duration::from_secs(60);
    let batch = publisher
        .batch()
        .push(order())
        .push(text(3))
        .push_publish(order().publish(&publisher).delay(minute).header("a", "1"))
        .push_publish(publisher.publish_json("urn:x", &json!({})).trace_id("t-9"));
    assert_eq!(batch.len(), 4);
    let sent = batch.concurrency(4).await.unwrap();
    assert_eq!(sent[3].trace_id, "t-9");
    let queue = sqs.snapshot("orders");
    let urns: Vec<_> = queue
        .visible
        .iter()
        .map(|message| attributes(message)["bq-job"].1)
        .collect();
    assert_eq!(urns, [OrderCreated::URN, Text::URN, "urn:x"]);
    assert_eq!(queue.delayed[0].visible_in, minute);
    assert_eq!(attributes(&queue.delayed[0])["a"].1, "1");
    assert_eq!(sqs.calls().total(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_mistake_in_one_message_is_found_before_any_is_sent() {
    let sqs = server();
    let publisher = publisher(&sqs);
    let batch = publisher
        .batch()
        .push(order())
        .push_publish(order().publish(&publisher).header("bad:key", "v"))
        .push(order());
    let error = failed(batch.await);
    assert_eq!(letters(error.results()), "nrn");
    assert!(error.to_string().contains("place 1") && error.to_string().contains("bad:key"));
    assert_eq!(sqs.calls().total(), 0);
    // The caller may go on without it.
    let error = failed(error.retry().await);
    assert_eq!(letters(error.results()), "srs");
    assert_eq!(visible(&sqs, "orders").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn c_008_a_delay_on_one_entry_of_a_fifo_batch() {
    let sqs = recording();
    let publisher = SqsPublisher::new(sqs.client(), sqs.queue_url("orders.fifo"));
    let entry = |delay| order().publish(&publisher).group_id("g").delay(delay);
    let batch = publisher
        .batch()
        .push_publish(entry(Duration::ZERO))
        .push_publish(entry(Duration::from_secs(3)));
    let error = failed(batch.await);
    let failures: Vec<_> = error.failures().collect();
    assert!(
        matches!(failures[1], (1, PublishError::Delay { .. })),
        "{failures:?}"
    );
    assert_eq!(sqs.calls().total(), 0, "before any request goes out");
    let batch = publisher.batch().push_publish(entry(Duration::ZERO));
    batch.await.expect("no delay at all");
    let calls = sqs.calls();
    let request = calls.iter().next().unwrap().request.as_ref().unwrap();
    assert!(!request.contains("DelaySeconds"), "{request}");
}
