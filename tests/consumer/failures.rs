//! Failing handlers: panics, timeouts, attempts that run out, and an end to every loop.

use std::time::Duration;

use babelqueue::ReportKind;
use babelqueue::local::Operation;
use babelqueue::prelude::*;

use crate::support::{Bench, SECOND, seconds};

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_failure_of_that_one_message() {
    let bench = Bench::new();
    bench.put("bad", &["panic", "ok"]);
    bench.put("good", &["ok"]);
    bench
        .run(bench.consumer().retry(Backoff::fixed(SECOND)), 5 * SECOND)
        .await;
    assert_eq!(bench.lab.begins("bad").len(), 2);
    assert!(bench.left().is_empty());
    let errors = bench.lab.errors();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].2.contains("bad panicked"), "{errors:?}");
}

#[tokio::test(start_paused = true)]
async fn a_timeout_cancels_the_handler_and_fails_the_message() {
    let bench = Bench::new();
    bench.put("slow", &["sleep=60000", "ok"]);
    let consumer = bench
        .consumer()
        .handler_timeout(2 * SECOND)
        .retry(Backoff::fixed(SECOND));
    bench.run(consumer, 10 * SECOND).await;
    assert_eq!(seconds(&bench.lab.begins("slow")), [0, 3]);
    assert_eq!(seconds(&bench.lab.ends("slow")), [2, 3]);
    assert_eq!(bench.lab.kinds(), [ReportKind::Handler]);
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn c_048_exhausted_attempts_go_to_the_dead_letter_queue() {
    let bench = Bench::new();
    bench.put("t", &["fail"]);
    let consumer = bench
        .consumer()
        .retry(Backoff::fixed(SECOND))
        .max_attempts(3)
        .dead_letter_queue(DeadLetterQueue::default_name());
    bench.run(consumer, 30 * SECOND).await;
    assert_eq!(bench.lab.calls(), ["t/0", "t/1", "t/2"]);
    let dead = bench.dead_json();
    assert_eq!(dead.len(), 1);
    assert_eq!(dead[0]["attempts"], 3);
    assert_eq!(dead[0]["dead_letter"]["reason"], "failed");
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn c_048_without_a_dead_letter_queue_they_are_left_and_never_deleted() {
    let bench = Bench::new();
    bench.put("t", &["fail"]);
    let consumer = bench
        .consumer()
        .retry(Backoff::fixed(SECOND))
        .max_attempts(2);
    bench.run(consumer, 20 * SECOND).await;
    // The second delivery is left: back only after the visibility timeout of 30 s.
    assert_eq!(bench.lab.calls(), ["t/0", "t/1"]);
    assert_eq!(bench.left().len(), 1);
    assert_eq!(bench.sqs.calls().count(Operation::DeleteMessageBatch), 0);
}

#[tokio::test(start_paused = true)]
async fn c_049_with_backoff_a_failing_handler_makes_no_hot_loop() {
    let bench = Bench::new();
    bench.put("t", &["fail"]);
    let backoff = Backoff::exponential(SECOND).max(900 * SECOND);
    bench
        .run(bench.consumer().retry(backoff), 10 * SECOND)
        .await;
    assert_eq!(seconds(&bench.lab.begins("t")), [0, 1, 3, 7]);
}

#[tokio::test(start_paused = true)]
async fn c_037_two_calls_of_one_message_never_overlap() {
    let bench = Bench::named("orders", [("VisibilityTimeout", "5")]);
    bench.put("t", &["sleep=2000 fail", "sleep=2000 ok"]);
    bench
        .run(
            bench.consumer().retry(Backoff::fixed(8 * SECOND)),
            30 * SECOND,
        )
        .await;
    assert_eq!(seconds(&bench.lab.begins("t")), [0, 10]);
    assert_eq!(bench.lab.most_at_once(), 1);
}

#[tokio::test(start_paused = true)]
async fn c_038_a_backoff_beyond_twelve_hours_is_clamped_and_accepted() {
    let bench = Bench::new();
    bench.put("t", &["sleep=30000 fail", "ok"]);
    let backoff = Backoff::fixed(Duration::from_secs(43_200));
    let consumer = bench.consumer().retry(backoff).build().unwrap();
    let summary = consumer.poll().await.unwrap();
    assert_eq!((summary.released, summary.left), (1, 0));
    assert_eq!(
        bench.lab.kinds(),
        [ReportKind::Handler],
        "the release itself is not refused"
    );
    let hidden = bench.sqs.snapshot("orders").in_flight[0]
        .visible_in
        .as_secs();
    assert!((43_100..43_170).contains(&hidden), "{hidden}");
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_a_policy_of_the_users_harms_only_its_message_which_has_an_end() {
    let bench = Bench::named("orders", [("VisibilityTimeout", "0")]);
    bench.put("bad", &["fail"]);
    bench.put("good", &["sleep=100 ok"]);
    let consumer = bench
        .consumer()
        .release_delay(|_| panic!("no delay"))
        .visibility_timeout(60 * SECOND)
        .max_attempts(3)
        .dead_letter_queue(DeadLetterQueue::default_name());
    bench.run(consumer, 100 * SECOND).await;
    // Not at once, whatever the timeouts are, and counted like any other failure.
    assert_eq!(seconds(&bench.lab.begins("bad")), [0, 30, 60]);
    assert_eq!(bench.dead().len(), 1);
    assert!(bench.left().is_empty());
    assert_eq!(bench.lab.kinds(), [ReportKind::Handler; 5]);
    assert!(bench.lab.errors()[1].2.contains("no delay"));
}

/// An error that cannot be told.
#[derive(Debug)]
struct Unspeakable;

impl std::fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("no words")
    }
}

impl std::error::Error for Unspeakable {}

#[babel_handler]
async fn unspeakable(_: crate::support::Task) -> Result<(), Unspeakable> {
    Err(Unspeakable)
}

#[tokio::test(start_paused = true)]
async fn an_error_whose_text_panics_fails_its_message_like_any_other() {
    let bench = Bench::new();
    bench.put("t", &["ok"]);
    let router = Router::from_handlers![unspeakable];
    let consumer = SqsConsumer::builder(bench.sqs.client(), &bench.url, router)
        .on_error(|event| drop(event.to_string()))
        .retry(Backoff::fixed(SECOND))
        .max_attempts(3)
        .dead_letter_queue(DeadLetterQueue::default_name())
        .build()
        .unwrap();
    let handle = consumer.handle();
    consumer
        .run_until(tokio::time::sleep(20 * SECOND))
        .await
        .unwrap();
    assert_eq!((handle.stats().failed, handle.stats().retried), (3, 2));
    let dead = bench.dead_json();
    assert_eq!(dead.len(), 1);
    let error = dead[0]["dead_letter"]["error"].as_str().unwrap();
    assert!(error.contains("Display panicked: no words"), "{error}");
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_on_error_is_ignored() {
    let bench = Bench::new();
    bench.put("bad", &["fail", "ok"]);
    let consumer = bench.consumer().on_error(|_| panic!("hook"));
    bench
        .run(consumer.retry(Backoff::fixed(SECOND)), 5 * SECOND)
        .await;
    assert!(bench.left().is_empty());
}
