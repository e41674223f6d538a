//! SQS in trouble: nothing ends the loop, nothing is lost, nothing piles up.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::config::interceptors::BeforeTransmitInterceptorContextRef;
use aws_sdk_sqs::config::retry::RetryPartition;
use aws_sdk_sqs::config::{ConfigBag, Intercept, RuntimeComponents};
use babelqueue::local::{Operation, Refusal};
use babelqueue::prelude::DeadLetterQueue;
use babelqueue::sqs::{HealthState, RunError};
use babelqueue::{BoxError, ReportKind};
use tokio::time::sleep;

use crate::support::{Bench, SECOND};

#[tokio::test(start_paused = true)]
async fn c_093_polling_goes_on_after_every_kind_of_error() {
    let bench = Bench::new();
    let faults = bench.sqs.faults();
    let on = || faults.on(Operation::ReceiveMessage).once();
    let _planned = [
        on().reset(),
        on().lose_request(),
        on().refuse(Refusal::InternalError),
        on().refuse(Refusal::AccessDenied),
        on().refuse(Refusal::Throttled),
        on().garbage(),
    ];
    let consumer = bench.consumer().build().unwrap();
    let handle = consumer.handle();
    let run = tokio::spawn(consumer.run());
    bench.put("t", &["ok"]);
    sleep(Duration::from_millis(800)).await;
    let health = handle.health();
    assert_eq!(health.state, HealthState::Stalled);
    assert!(health.last_error.is_some() && health.failed_receives >= 1);
    sleep(400 * SECOND).await;
    // The unreadable answer had the message in it, so that this is its second delivery.
    assert_eq!(bench.lab.calls(), ["t/1"]);
    assert_eq!(bench.lab.kinds(), [ReportKind::Receive; 6]);
    assert_eq!(handle.health().state, HealthState::Polling);
    assert_eq!(handle.health().last_error, None);
    handle.stop();
    run.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn c_091_a_receive_that_never_answers_is_given_up() {
    let bench = Bench::new();
    bench.put("t", &["ok"]);
    let fault = bench.sqs.faults().on(Operation::ReceiveMessage).once();
    let _fault = fault.hang();
    bench.run(bench.consumer(), 60 * SECOND).await;
    assert_eq!(bench.lab.kinds(), [ReportKind::Receive]);
    let begun = bench.lab.begins("t")[0];
    assert!((25..28).contains(&begun.as_secs()), "{begun:?}");
}

#[tokio::test(start_paused = true)]
async fn c_091_a_short_timeout_of_the_users_does_not_cut_long_polls() {
    use aws_sdk_sqs::config::timeout::TimeoutConfig;
    let bench = Bench::new();
    let timeouts = TimeoutConfig::builder()
        .operation_timeout(3 * SECOND)
        .read_timeout(SECOND);
    let timeouts = timeouts.operation_attempt_timeout(2 * SECOND).build();
    let config = bench.sqs.client_config().timeout_config(timeouts).build();
    let client = aws_sdk_sqs::Client::from_conf(config);
    let consumer = babelqueue::SqsConsumer::builder(client, &bench.url, crate::support::router())
        .state(bench.lab.clone())
        .on_error(bench.lab.hook());
    bench.run(consumer, 100 * SECOND).await;
    assert!(bench.lab.errors().is_empty(), "{:?}", bench.lab.errors());
    assert!(bench.sqs.calls().count(Operation::ReceiveMessage) <= 6);
}

#[tokio::test(start_paused = true)]
async fn c_039_part_of_a_batch_delete_fails() {
    let bench = Bench::new();
    for i in 0..4 {
        bench.put(&format!("t{i}"), &["ok"]);
    }
    let faults = bench.sqs.faults();
    let _own = faults
        .on(Operation::DeleteMessageBatch)
        .once()
        .fail_entries([2], "InternalError", false);
    bench.run(bench.consumer(), 5 * SECOND).await;
    assert!(bench.lab.errors().is_empty());
    assert!(bench.left().is_empty());
    assert_eq!(bench.sqs.calls().count(Operation::DeleteMessageBatch), 2);
    assert_eq!(
        bench.lab.calls().len(),
        4,
        "a failed delete is no failed handler"
    );

    let bench = Bench::new();
    for i in 0..4 {
        bench.put(&format!("t{i}"), &["ok"]);
    }
    let faults = bench.sqs.faults();
    let code = "ReceiptHandleIsInvalid";
    let _senders = faults
        .on(Operation::DeleteMessageBatch)
        .once()
        .fail_entries([3], code, true);
    bench.run(bench.consumer(), 5 * SECOND).await;
    assert_eq!(bench.lab.kinds(), [ReportKind::Delete], "reported once");
    assert!(bench.lab.errors()[0].2.contains(code));
    assert_eq!(
        bench.sqs.calls().count(Operation::DeleteMessageBatch),
        1,
        "and not repeated"
    );
    assert_eq!(bench.left().len(), 1, "not released either");
}

#[tokio::test(start_paused = true)]
async fn c_039_an_entry_in_neither_list_counts_as_failed() {
    let bench = Bench::new();
    for i in 0..3 {
        bench.put(&format!("t{i}"), &["ok"]);
    }
    let _omitted = bench
        .sqs
        .faults()
        .on(Operation::DeleteMessageBatch)
        .once()
        .omit_entries([1]);
    bench.run(bench.consumer(), 5 * SECOND).await;
    assert_eq!(
        bench.sqs.calls().count(Operation::DeleteMessageBatch),
        2,
        "tried again alone"
    );
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn c_040_two_deliveries_of_one_message_in_one_batch() {
    let bench = Bench::new();
    let _twice = bench
        .sqs
        .faults()
        .on(Operation::ReceiveMessage)
        .once()
        .duplicate();
    for i in 0..5 {
        bench.put(&format!("t{i}"), &["ok"]);
    }
    bench.run(bench.consumer(), 5 * SECOND).await;
    assert!(bench.left().is_empty());
    assert!(bench.lab.errors().is_empty(), "{:?}", bench.lab.errors());
}

#[tokio::test(start_paused = true)]
async fn c_097_acknowledgements_do_not_pile_up() {
    let bench = Bench::new();
    for i in 0..500 {
        bench.put(&format!("t{i}"), &["ok"]);
    }
    let _never = bench.sqs.faults().on(Operation::DeleteMessageBatch).hang();
    let consumer = bench.consumer().max_in_flight(40).build().unwrap();
    let handle = consumer.handle();
    let run = tokio::spawn(consumer.run());
    sleep(10 * SECOND).await;
    assert_eq!(bench.lab.calls().len(), 40, "intake stops at the bound");
    assert_eq!(handle.stats().in_flight, 40);
    handle.stop();
    run.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_poll_returns_the_error_of_its_receive() {
    let bench = Bench::new();
    let fault = bench.sqs.faults().on(Operation::ReceiveMessage);
    let _fault = fault.refuse(Refusal::AccessDenied);
    let error = bench
        .consumer()
        .build()
        .unwrap()
        .poll()
        .await
        .expect_err("refused");
    assert!(matches!(error, RunError::Receive { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn c_095_expired_credentials_recover() {
    let bench = Bench::new();
    bench.put("t", &["ok"]);
    let fault = bench.sqs.faults().on(Operation::ReceiveMessage).times(3);
    let _fault = fault.refuse(Refusal::ExpiredToken);
    bench.run(bench.consumer(), 60 * SECOND).await;
    assert_eq!(bench.lab.calls(), ["t/0"]);
    assert!(
        bench
            .lab
            .kinds()
            .iter()
            .all(|kind| *kind == ReportKind::Receive)
    );
}

#[tokio::test(start_paused = true)]
async fn c_078_a_request_does_not_grow_with_the_polls() {
    let sqs = babelqueue::local::LocalSqs::builder()
        .record_requests(true)
        .build();
    let url = sqs.create_queue("orders");
    let bench = Bench::new();
    let consumer = babelqueue::SqsConsumer::builder(sqs.client(), url, crate::support::router());
    bench
        .run(consumer.state(bench.lab.clone()), 2000 * SECOND)
        .await;
    let calls = sqs.calls();
    let mut sizes: Vec<_> = calls
        .of(Operation::ReceiveMessage)
        .filter_map(|call| call.request.as_ref().map(String::len))
        .collect();
    assert!(sizes.len() > 90, "{}", sizes.len());
    sizes.dedup();
    assert_eq!(sizes.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn c_043_a_handle_that_has_expired_is_one_event() {
    let bench = Bench::named(
        "orders.fifo",
        [("FifoQueue", "true"), ("VisibilityTimeout", "2")],
    );
    bench.put_in("g", "t", &["sleep=3000 ok", "ok"]);
    bench
        .run(bench.consumer().heartbeat(false), 10 * SECOND)
        .await;
    assert_eq!(bench.lab.kinds(), [ReportKind::Delete]);
    let deletes = bench.sqs.calls().count(Operation::DeleteMessageBatch);
    assert_eq!(deletes, 2, "the refused one is not repeated");
    assert!(bench.left().is_empty(), "the second delivery was deleted");
}

#[tokio::test(start_paused = true)]
async fn c_095_static_credentials_that_expired_are_told_by_the_health_answer() {
    let bench = Bench::new();
    let fault = bench.sqs.faults().on(Operation::ReceiveMessage);
    let _fault = fault.refuse(Refusal::ExpiredToken);
    let consumer = bench.consumer().build().unwrap();
    let handle = consumer.handle();
    let run = tokio::spawn(consumer.run());
    sleep(120 * SECOND).await;
    let health = handle.health();
    assert_eq!(health.state, HealthState::Stalled);
    assert!(health.stalled_for.unwrap() > 100 * SECOND);
    let error = health.last_error.unwrap();
    assert!(error.contains("ExpiredToken"), "{error}");
    handle.stop();
    run.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn c_095_deletes_and_heartbeats_recover_from_expired_credentials_too() {
    let bench = Bench::new();
    bench.put("t", &["sleep=40000", "ok"]);
    let faults = bench.sqs.faults();
    let _refused = [
        Operation::DeleteMessageBatch,
        Operation::ChangeMessageVisibilityBatch,
    ]
    .map(|operation| faults.on(operation).once().refuse(Refusal::ExpiredToken));
    bench.run(bench.consumer(), 200 * SECOND).await;
    assert!(bench.left().is_empty());
    let kinds = bench.lab.kinds();
    assert!(
        kinds
            .iter()
            .all(|kind| matches!(kind, ReportKind::Release | ReportKind::Delete)),
        "{kinds:?}"
    );
}

/// An outage uses up the SDK's retry tokens, which all clients of a partition share. Deletes have
/// tokens of their own. (The partition is the test's, because other tests refill that of the
/// process.)
#[tokio::test(start_paused = true)]
async fn an_outage_elsewhere_leaves_deletes_their_retries() {
    let bench = Bench::new();
    let other = bench.sqs.create_queue("other");
    let own = RetryPartition::new("an outage elsewhere");
    let config = bench
        .sqs
        .client()
        .config()
        .to_builder()
        .retry_partition(own);
    let client = Client::from_conf(config.build());
    let faults = bench.sqs.faults();
    // Another part of the service fails until its bucket is empty.
    let outage = faults.on(Operation::GetQueueUrl);
    let outage = outage.refuse(Refusal::InternalError);
    for _ in 0..120 {
        let call = client.get_queue_url().queue_name("other").send().await;
        call.expect_err("an outage");
    }
    drop(outage);
    faults.clear();
    // So does the consumer's own polling.
    let polls = faults.on(Operation::ReceiveMessage).times(200);
    let _polls = polls.refuse(Refusal::InternalError);
    let requests = |operation| bench.sqs.calls().count(operation);
    let failing = faults.on(Operation::PurgeQueue).once();
    let _failing = failing.refuse(Refusal::InternalError);
    client
        .purge_queue()
        .queue_url(&other)
        .send()
        .await
        .expect_err("no token is left for a retry");
    assert_eq!(requests(Operation::PurgeQueue), 1);

    let _deletes = faults
        .on(Operation::DeleteMessageBatch)
        .times(2)
        .refuse(Refusal::InternalError);
    bench.put("t", &["ok"]);
    bench.run(bench.consumer_of(client), 7200 * SECOND).await;
    assert!(requests(Operation::ReceiveMessage) > 200);
    assert_eq!(bench.lab.calls(), ["t/0"]);
    assert_eq!(requests(Operation::DeleteMessageBatch), 3, "two retries");
    assert!(!bench.lab.kinds().contains(&ReportKind::Delete));
    assert!(bench.left().is_empty());
}

/// Panics once in each operation's first attempt.
#[derive(Debug, Default)]
struct Panics(Mutex<BTreeSet<String>>);

impl Intercept for Panics {
    fn name(&self) -> &'static str {
        "panics"
    }

    fn read_before_transmit(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let target = context.request().headers().get("x-amz-target").unwrap();
        let first = self.0.lock().unwrap().insert(target.to_owned());
        assert!(!first, "{target} panicked");
        Ok(())
    }
}

/// Credentials providers, interceptors and HTTP clients are the user's code, too.
#[tokio::test(start_paused = true)]
async fn a_panic_inside_of_the_client_is_a_failed_call() {
    let bench = Bench::new();
    bench.put("good", &["ok"]);
    bench.put("bad", &["fail", "ok"]);
    bench.put("dead", &["permanent"]);
    let config = bench.sqs.client().config().to_builder();
    let client = Client::from_conf(config.interceptor(Panics::default()).build());
    let consumer = bench
        .consumer_of(client)
        .dead_letter_queue(DeadLetterQueue::default_name());
    bench.run(consumer, 100 * SECOND).await;
    assert!(bench.left().is_empty());
    assert_eq!(bench.dead().len(), 1);
    let kinds: BTreeSet<_> = bench.lab.kinds().into_iter().map(|k| k.as_str()).collect();
    assert_eq!(
        kinds.into_iter().collect::<Vec<_>>(),
        ["dead_letter", "delete", "handler", "receive", "release"]
    );
}
