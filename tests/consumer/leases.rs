//! Leases that are lost while a handler runs: told to the handler and to `on_error`.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use babelqueue::local::{Operation, RawMessage};
use babelqueue::prelude::*;
use babelqueue::sqs::{SettleError, SqsConsumerBuilder};
use babelqueue::{ReportKind, SqsConsumer};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::support::{Bench, SECOND, body, seconds};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:test:watch"]
struct Watch {}

/// When a handler lost its message, from the start.
#[derive(Clone)]
struct Losses {
    start: Instant,
    at: Arc<Mutex<Vec<Duration>>>,
    errors: Arc<Mutex<Vec<(ReportKind, String)>>>,
}

impl Losses {
    fn at(&self) -> Vec<u64> {
        seconds(&self.at.lock().unwrap())
    }

    fn errors(&self) -> Vec<(ReportKind, String)> {
        self.errors.lock().unwrap().clone()
    }
}

/// Works for 100 s, unless its message is lost.
#[babel_handler]
async fn watch(_: Watch, ctx: &Context, State(losses): State<Losses>) -> Result<(), HandlerError> {
    assert!(!ctx.lease().is_lost());
    tokio::select! {
        () = ctx.lease().lost() => {
            assert!(ctx.lease().is_lost());
            losses.at.lock().unwrap().push(losses.start.elapsed());
            Err(HandlerError::new("lost"))
        }
        () = sleep(100 * SECOND) => Ok(()),
    }
}

fn consumer(bench: &Bench) -> (SqsConsumerBuilder<impl Routes<Losses>, Losses>, Losses) {
    bench.put_raw(RawMessage::new(body("urn:test:watch", &json!({}))));
    let losses = Losses {
        start: Instant::now(),
        at: Arc::default(),
        errors: Arc::default(),
    };
    let errors = Arc::clone(&losses.errors);
    let builder = SqsConsumer::builder(
        bench.sqs.client(),
        &bench.url,
        Router::from_handlers![watch],
    )
    .state(losses.clone())
    .retry(Backoff::fixed(3600 * SECOND))
    .on_error(move |event| {
        if event.kind == ReportKind::Release {
            assert!(event.error.is::<SettleError>(), "{event:?}");
        }
        let error = (event.kind, event.error.to_string());
        errors.lock().unwrap().push(error);
    });
    (builder, losses)
}

async fn run(builder: SqsConsumerBuilder<impl Routes<Losses>, Losses>) {
    let consumer = builder.build().unwrap();
    consumer.run_until(sleep(150 * SECOND)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_renewed_is_not_lost() {
    let bench = Bench::new();
    let (consumer, losses) = consumer(&bench);
    run(consumer).await;
    assert_eq!(losses.at(), [] as [u64; 0]);
    assert!(losses.errors().is_empty(), "{:?}", losses.errors());
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_refused_renewal_is_a_lost_lease() {
    let bench = Bench::new();
    let fault = bench
        .sqs
        .faults()
        .on(Operation::ChangeMessageVisibilityBatch)
        .once();
    let _refused = fault.fail_entries([0], "ReceiptHandleIsInvalid", true);
    let (consumer, losses) = consumer(&bench);
    run(consumer).await;
    assert_eq!(losses.at()[0], 15, "told at once");
    let errors = losses.errors();
    assert_eq!(errors[0].0, ReportKind::Release);
    assert!(errors[0].1.contains("ReceiptHandleIsInvalid"), "{errors:?}");
}

#[tokio::test(start_paused = true)]
async fn renewals_that_fail_until_the_end_lose_it() {
    let bench = Bench::new();
    let fault = bench
        .sqs
        .faults()
        .on(Operation::ChangeMessageVisibilityBatch);
    let fault = fault.fail_entries([0], "InternalError", false);
    let (consumer, losses) = consumer(&bench);
    run(consumer).await;
    drop(fault);
    assert_eq!(losses.at()[0], 30, "when SQS shows it to others");
    let errors = losses.errors();
    assert!(errors[0].1.contains("InternalError"), "{errors:?}");
    assert_eq!(errors[1].0, ReportKind::Release);
    assert!(
        errors[1].1.contains("the lease was lost after 30"),
        "{errors:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_cap_of_renewals_is_told() {
    let bench = Bench::new();
    let (consumer, losses) = consumer(&bench);
    run(consumer.max_handling_time(50 * SECOND)).await;
    // The last renewal at 45 s holds it until 75 s; so does the second delivery's, from there.
    assert_eq!(losses.at()[0], 75);
    assert!(losses.errors()[0].1.contains("`max_handling_time`"));
}

#[tokio::test(start_paused = true)]
async fn without_a_heartbeat_the_handler_is_told_and_nothing_is_reported() {
    let bench = Bench::new();
    let (consumer, losses) = consumer(&bench);
    run(consumer.heartbeat(false).retry(Backoff::fixed(SECOND))).await;
    assert_eq!(losses.at()[0], 30);
    assert!(
        losses
            .errors()
            .iter()
            .all(|(_, text)| !text.contains("the lease was lost")),
        "{:?}",
        losses.errors()
    );
}

#[tokio::test(start_paused = true)]
async fn the_age_of_the_oldest_message_in_flight() {
    let bench = Bench::new();
    let consumer = bench.consumer().build().unwrap();
    let handle = consumer.handle();
    assert_eq!(handle.stats().oldest_in_flight, None);
    let run = tokio::spawn(consumer.run());
    bench.put("slow", &["sleep=60000"]);
    sleep(10 * SECOND).await;
    bench.put("slower", &["sleep=60000"]);
    sleep(10 * SECOND).await;
    assert_eq!(handle.stats().oldest_in_flight.unwrap().as_secs(), 20);
    sleep(45 * SECOND).await;
    assert_eq!(handle.stats().oldest_in_flight.unwrap().as_secs(), 55);
    sleep(10 * SECOND).await;
    assert_eq!(handle.stats().oldest_in_flight, None);
    handle.stop();
    run.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_is_answered_too_late_starts_no_handler() {
    let bench = Bench::named("orders", [("VisibilityTimeout", "2")]);
    bench.put("first", &["sleep=2300"]);
    bench.put("second", &["sleep=1500"]);
    let late = bench
        .sqs
        .faults()
        .on(Operation::ChangeMessageVisibilityBatch);
    let _late = late.once().delay_response(Duration::from_millis(1200));
    // The lease of the second was taken for lost while it waited, and is renewed no more: it would
    // come again while its handler runs.
    bench
        .run(bench.consumer().concurrency(1), 20 * SECOND)
        .await;
    let calls = bench.lab.calls();
    let second = calls.iter().filter(|call| call.starts_with("second"));
    assert_eq!(second.count(), 1, "{calls:?}");
    assert!(bench.left().is_empty());
}
