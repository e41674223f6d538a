//! The retry backoff as it is applied: who gets which delay, what SQS may answer, what is logged.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use babelqueue::lambda::{RetryBackoff, attempt_of};
use babelqueue::local::{LocalSqs, Operation, RawMessage, Refusal};
use babelqueue::{Backoff, prelude::*};
use serde_json::json;
use tracing::Level;

use crate::capture::Capture;
use crate::support::{Bench, Lab, consumer, does, event, failures, many_does, record, tasks};

/// Without jitter.
fn plain() -> RetryBackoff {
    RetryBackoff::new().jitter_ratio(0.0)
}

#[tokio::test(start_paused = true)]
async fn b7_off_means_no_call_and_no_log() {
    let (capture, _guard) = Capture::begin();
    let bench = Bench::new();
    bench.put("a", "fail");
    bench.put("b", "report=70");
    let event = bench.receive().await;
    let off = [
        bench.consumer(),
        bench.consumer().retry_backoff(false),
        bench.consumer().retry_backoff(None),
        bench.consumer().retry_backoff(json!(null)),
    ];
    for consumer in off {
        assert_eq!(
            failures(&consumer.build().unwrap(), event.clone())
                .await
                .len(),
            2
        );
    }
    assert_eq!(bench.sqs.calls().total(), 0);
    assert!(capture.of(Level::INFO, "").is_empty() && capture.of(Level::WARN, "").is_empty());
    // It needs no client either.
    let lab = Lab::default();
    let without = consumer(&lab).retry_backoff(false).build().unwrap();
    assert_eq!(failures(&without, tasks(&[("a", "fail")])).await, ["a"]);
}

#[tokio::test(start_paused = true)]
async fn b8_b10_b19_only_failed_messages_wait_by_their_attempt() {
    for setting in [json!(true), json!({})] {
        let bench = Bench::new();
        let consumer = bench.consumer().retry_backoff(setting).build().unwrap();
        for (name, what, receives) in [
            ("a", "ok", 0),
            ("b", "fail", 0),
            ("c", "panic", 1),
            ("d", "report", 2),
        ] {
            bench.put_raw(RawMessage::new(does(name, what)).receive_count(receives));
        }
        let event = bench.receive().await;
        assert_eq!(event.records()[3].attempt(), 3);
        assert_eq!(failures(&consumer, event).await.len(), 3);
        assert_eq!(bench.sqs.calls().total(), 1, "one call for all of them");
        let ranges = [60..=72, 120..=144, 240..=288];
        for (delay, range) in bench.changes().into_iter().zip(ranges) {
            assert!(range.contains(&delay), "{delay}");
        }
        let hidden = bench.sqs.snapshot("orders").in_flight.len();
        assert_eq!(hidden, 4, "deleting is the mapping's part");
    }
}

#[test]
fn b17_the_attempt_of_a_record() {
    let rows = [
        (json!("1"), 1),
        (json!("3"), 3),
        (json!("0"), 1),
        (json!("-2"), 1),
        (json!("x"), 1),
        (json!("1.5"), 1),
        (json!(""), 1),
        (json!(null), 1),
    ];
    for (count, expected) in rows {
        let mut one = record("orders", "a", "{}");
        one["attributes"]["ApproximateReceiveCount"] = count.clone();
        assert_eq!(
            event([one.clone()]).records()[0].attempt(),
            expected,
            "{count}"
        );
        if let Ok(typed) = serde_json::from_value(one) {
            assert_eq!(attempt_of(&typed), expected, "{count}");
        }
    }
    assert_eq!(attempt_of(&Default::default()), 1);
}

#[tokio::test(start_paused = true)]
async fn b12_b13_minimum_and_exact_delays_of_single_messages() {
    let bench = Bench::new();
    let consumer = bench.consumer().retry_backoff(plain()).build().unwrap();
    for what in [
        "least=300",
        "report=100",
        "least=300 report=100",
        "report=5",
        "report=5000",
        "later=7",
    ] {
        bench.put(what, what);
    }
    let event = bench.receive().await;
    assert_eq!(failures(&consumer, event).await.len(), 6);
    // The last one is an error that asks for a delay: it is taken as it is.
    assert_eq!(bench.changes(), [300, 100, 100, 60, 900, 7]);
}

#[tokio::test(start_paused = true)]
async fn b12_single_messages_of_a_batch_have_delays_of_their_own() {
    let bench = Bench::new();
    let consumer = bench.consumer().retry_backoff(plain()).build().unwrap();
    for what in ["later=11", "least=300", "ok", "fail"] {
        bench.put_raw(RawMessage::new(many_does(what, what)));
    }
    assert_eq!(failures(&consumer, bench.receive().await).await.len(), 3);
    assert_eq!(bench.changes(), [11, 300, 60]);
}

#[tokio::test(start_paused = true)]
async fn b14_the_cap_counts_from_the_start_of_the_invocation() {
    let bench = Bench::new();
    let long = plain().max_delay_seconds(43_200.0);
    let consumer = bench.consumer().retry_backoff(long).build().unwrap();
    bench.put("a", "sleep=100 report=43200");
    bench.put("b", "later=43200");
    assert_eq!(failures(&consumer, bench.receive().await).await.len(), 2);
    assert_eq!(bench.changes(), [42_770, 42_770]);
}

#[tokio::test(start_paused = true)]
async fn changes_go_out_in_tens_and_each_message_once() {
    let bench = Bench::new();
    let consumer = bench
        .consumer()
        .retry_backoff(true)
        .concurrency(50)
        .build()
        .unwrap();
    for i in 0..23 {
        bench.put(&i.to_string(), "report fail");
    }
    let event = bench.receive().await;
    assert_eq!(failures(&consumer, event).await.len(), 23);
    assert_eq!(
        bench
            .sqs
            .calls()
            .count(Operation::ChangeMessageVisibilityBatch),
        3
    );
    assert_eq!(bench.changes().len(), 23);
}

#[tokio::test(start_paused = true)]
async fn b15_b20_a_refused_change_is_a_warning_and_the_rest_a_summary() {
    let (capture, _guard) = Capture::begin();
    let bench = Bench::new();
    let consumer = bench.consumer().retry_backoff(plain()).build().unwrap();
    for i in 0..8 {
        bench.put_raw(RawMessage::new(does(&i.to_string(), "fail")).receive_count(i % 2));
    }
    let event = bench.receive().await;
    let fault = bench
        .sqs
        .faults()
        .on(Operation::ChangeMessageVisibilityBatch)
        .once();
    fault.fail_entries(0..6, "InternalError", false);
    let failed = failures(&consumer, event).await;
    assert_eq!(failed.len(), 8, "still reported");
    assert_eq!(bench.sqs.calls().total(), 1, "and not tried again");
    let warnings = capture.of(Level::WARN, "could not be set");
    assert_eq!(warnings.len(), 1);
    let named = &warnings[0].fields["messages"];
    assert_eq!(named.matches("InternalError").count(), 5, "{named}");
    assert_eq!(warnings[0].fields["omitted"], "1");
    let summary = capture.of(Level::INFO, "retry backoff");
    assert_eq!(summary.len(), 1);
    let field = |name: &str| summary[0].fields[name].as_str();
    assert_eq!((field("applied"), field("failures")), ("2", "6"));
    assert_eq!((field("min_attempt"), field("max_attempt")), ("1", "2"));
    assert_eq!((field("min_delay"), field("max_delay")), ("60", "120"));
    // Without failures nothing is said.
    bench.put("fine", "ok");
    let event = bench.receive().await;
    assert!(failures(&consumer, event).await.is_empty());
    assert_eq!(capture.of(Level::INFO, "retry backoff").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_fails_as_a_whole_is_not_repeated() {
    let (capture, _guard) = Capture::begin();
    let bench = Bench::new();
    let consumer = bench.consumer().retry_backoff(true).build().unwrap();
    bench.put("a", "fail");
    let event = bench.receive().await;
    bench
        .sqs
        .faults()
        .on(Operation::ChangeMessageVisibilityBatch)
        .refuse(Refusal::ServiceUnavailable);
    assert_eq!(failures(&consumer, event.clone()).await.len(), 1);
    assert_eq!(bench.sqs.calls().total(), 1);
    assert_eq!(capture.of(Level::WARN, "could not be set").len(), 1);
    assert_eq!(failures(&consumer, event).await.len(), 1);
    assert_eq!(
        bench.sqs.calls().total(),
        2,
        "the next invocation tries again"
    );
}

#[tokio::test(start_paused = true)]
async fn b21_on_fifo_no_visibility_is_changed_and_one_warning_given() {
    let (capture, _guard) = Capture::begin();
    let bench = Bench::fifo();
    let consumer = bench.consumer().retry_backoff(true).build().unwrap();
    bench.put("a", "later=30");
    bench.put("b", "ok");
    let event = bench.receive().await;
    for _ in 0..2 {
        assert_eq!(failures(&consumer, event.clone()).await.len(), 2);
    }
    assert_eq!(bench.sqs.calls().total(), 0);
    assert_eq!(capture.of(Level::WARN, "FIFO").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn b22_an_invalid_setting_is_one_error_and_no_backoff() {
    type Make = fn() -> Result<serde_json::Value, &'static str>;
    let makes: [Make; 4] = [
        || Ok(json!({ "baseDelaySeconds": 1000 })),
        || Ok(json!("soon")),
        || Err("no configuration"),
        || panic!("no configuration"),
    ];
    for make in makes {
        let (capture, _guard) = Capture::begin();
        let bench = Bench::new();
        bench.put("a", "fail");
        let event = bench.receive().await;
        let consumer = bench.consumer().retry_backoff_with(make).build().unwrap();
        for _ in 0..2 {
            assert_eq!(failures(&consumer, event.clone()).await.len(), 1);
        }
        assert_eq!(bench.sqs.calls().total(), 0);
        assert_eq!(capture.of(Level::ERROR, "retry backoff is off").len(), 1);
    }
    assert!(
        RetryBackoff::new()
            .base_delay_seconds(1000.0)
            .validate()
            .is_err()
    );
}

#[tokio::test(start_paused = true)]
async fn b23_the_setting_is_read_once_at_the_first_failure() {
    let bench = Bench::new();
    let read = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&read);
    let provider = move || {
        count.fetch_add(1, Ordering::Relaxed);
        Ok::<_, babelqueue::BoxError>(true)
    };
    let consumer = bench
        .consumer()
        .retry_backoff_with(provider)
        .build()
        .unwrap();
    let lab = bench.lab.clone();
    bench.put("a", "ok");
    let fine = bench.receive().await;
    assert!(failures(&consumer, fine).await.is_empty());
    assert_eq!((read.load(Ordering::Relaxed), lab.calls().len()), (0, 1));
    bench.put("b", "fail");
    let failing = bench.receive().await;
    for _ in 0..3 {
        assert_eq!(failures(&consumer, failing.clone()).await.len(), 1);
    }
    assert_eq!(read.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn b24_denied_access_ends_it_for_the_container() {
    let (capture, _guard) = Capture::begin();
    let bench = Bench::new();
    let consumer = bench.consumer().retry_backoff(true).build().unwrap();
    bench.put("a", "fail");
    let event = bench.receive().await;
    bench
        .sqs
        .faults()
        .on(Operation::ChangeMessageVisibilityBatch)
        .refuse(Refusal::AccessDenied);
    for _ in 0..3 {
        assert_eq!(failures(&consumer, event.clone()).await.len(), 1);
    }
    assert_eq!(bench.sqs.calls().total(), 1);
    assert_eq!(
        capture
            .of(Level::ERROR, "sqs:ChangeMessageVisibility")
            .len(),
        1
    );
    assert_eq!(
        capture
            .of(Level::INFO, "retry backoff")
            .last()
            .unwrap()
            .fields["failures"],
        "1"
    );
}

#[tokio::test(start_paused = true)]
async fn b24_access_may_be_denied_to_single_entries() {
    for code in ["AccessDenied", "AccessDeniedException"] {
        let (capture, _guard) = Capture::begin();
        let bench = Bench::new();
        let consumer = bench.consumer().retry_backoff(true).build().unwrap();
        bench.put("a", "fail");
        bench.put("b", "fail");
        let event = bench.receive().await;
        let fault = bench
            .sqs
            .faults()
            .on(Operation::ChangeMessageVisibilityBatch);
        fault.fail_entries([0], code, true);
        for _ in 0..3 {
            assert_eq!(failures(&consumer, event.clone()).await.len(), 2);
        }
        assert_eq!(bench.sqs.calls().total(), 1, "{code}");
        let denied = capture.of(Level::ERROR, "sqs:ChangeMessageVisibility");
        assert_eq!(denied.len(), 1, "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_arn_that_is_none_and_an_id_that_is_not_there_are_told() {
    let (capture, _guard) = Capture::begin();
    let bench = Bench::new();
    let consumer = bench.consumer().retry_backoff(true).build().unwrap();
    bench.put("a", "fail");
    let odd = bench.receive_as("arn:aws:sqs:eu-west-1:orders").await;
    assert_eq!(failures(&consumer, odd).await.len(), 1);
    assert_eq!(bench.sqs.calls().total(), 0);
    let warning = &capture.of(Level::WARN, "could not be set")[0];
    assert!(warning.fields["messages"].contains("InvalidEventSourceARN"));

    #[babel_handler]
    async fn foreign(_: crate::support::Task, invocation: &babelqueue::lambda::Invocation) {
        invocation.add_failed_message("foreign");
    }
    let consumer = babelqueue::LambdaConsumer::builder(Router::from_handlers![foreign]);
    let consumer = consumer
        .client(bench.sqs.client())
        .retry_backoff(true)
        .build()
        .unwrap();
    assert!(failures(&consumer, tasks(&[("a", "ok")])).await.is_empty());
    assert_eq!(
        capture.of(Level::WARN, "not a message of this event").len(),
        1
    );
    let named = capture.of(Level::WARN, "could not be set");
    assert!(named[1].fields["messages"].contains("foreign RecordNotFound"));
}

#[tokio::test(start_paused = true)]
async fn errors_can_be_left_to_the_queue() {
    let bench = Bench::new();
    let consumer = bench
        .consumer()
        .retry_backoff(plain())
        .backoff_on_error(false)
        .build()
        .unwrap();
    for what in ["fail", "report", "panic", "later=9"] {
        bench.put(what, what);
    }
    assert_eq!(failures(&consumer, bench.receive().await).await.len(), 4);
    assert_eq!(
        bench.changes(),
        [60, 9],
        "what was reported, and what asked for a delay"
    );
}

#[tokio::test(start_paused = true)]
async fn the_familys_backoff_is_the_alternative() {
    let bench = Bench::new();
    let backoff = Backoff::exponential(Duration::from_secs(5)).max(Duration::from_secs(30));
    let consumer = bench.consumer().retry(backoff).build().unwrap();
    for (what, receives) in [
        ("fail", 0),
        ("fail", 1),
        ("fail", 9),
        ("report", 1),
        ("report=77", 0),
        ("least=8", 0),
    ] {
        bench.put_raw(RawMessage::new(does(what, what)).receive_count(receives));
    }
    assert_eq!(failures(&consumer, bench.receive().await).await.len(), 6);
    assert_eq!(bench.changes(), [5, 10, 30, 10, 77, 8]);

    let bench = Bench::new();
    let delay = |attempts| Duration::from_secs(100 + attempts);
    let consumer = bench.consumer().release_delay(delay).build().unwrap();
    bench.put_raw(RawMessage::new(does("a", "fail")).receive_count(2));
    assert_eq!(failures(&consumer, bench.receive().await).await.len(), 1);
    assert_eq!(bench.changes(), [102]);
}

#[tokio::test(start_paused = true)]
async fn an_explicit_delay_is_set_without_any_backoff() {
    let bench = Bench::new();
    let consumer = bench.consumer().build().unwrap();
    for what in ["fail", "later=40", "report", "panic"] {
        bench.put(what, what);
    }
    let event = bench.receive().await;
    assert_eq!(failures(&consumer, event.clone()).await.len(), 4);
    assert_eq!(bench.changes(), [40]);
    // Nobody can set it without a client; that is said once.
    let (capture, _guard) = Capture::begin();
    let without = consumer_without_client(&bench);
    for _ in 0..2 {
        assert_eq!(failures(&without, event.clone()).await.len(), 4);
    }
    assert_eq!(capture.of(Level::WARN, "no client").len(), 1);
}

fn consumer_without_client(bench: &Bench) -> babelqueue::LambdaConsumer {
    consumer(&bench.lab).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_queues_url_is_that_of_the_sdk_in_every_region_and_partition() {
    let sqs = LocalSqs::builder().record_requests(true).build();
    // As a service has it: a client of its own region, and no endpoint.
    let config = aws_sdk_sqs::Config::builder()
        .behavior_version_latest()
        .region(aws_sdk_sqs::config::Region::new("us-east-1"));
    let local = sqs.client();
    let mut config = config;
    config.set_http_client(local.config().http_client());
    config.set_credentials_provider(Some(aws_sdk_sqs::config::SharedCredentialsProvider::new(
        aws_sdk_sqs::config::Credentials::new("k", "s", None, None, "test"),
    )));
    let client = aws_sdk_sqs::Client::from_conf(config.build());
    let lab = Lab::default();
    let consumer = consumer(&lab)
        .client(client)
        .retry_backoff(true)
        .build()
        .unwrap();
    let rows = [
        (
            "arn:aws:sqs:eu-west-1:1234:q",
            "https://sqs.eu-west-1.amazonaws.com/1234/q",
        ),
        (
            "arn:aws-cn:sqs:cn-north-1:1234:q",
            "https://sqs.cn-north-1.amazonaws.com.cn/1234/q",
        ),
        (
            "arn:aws-us-gov:sqs:us-gov-west-1:1:q",
            "https://sqs.us-gov-west-1.amazonaws.com/1/q",
        ),
        (
            "arn:aws-iso:sqs:us-iso-east-1:1:q",
            "https://sqs.us-iso-east-1.c2s.ic.gov/1/q",
        ),
        (
            "arn:aws-eusc:sqs:eusc-de-east-1:1:q",
            "https://sqs.eusc-de-east-1.amazonaws.eu/1/q",
        ),
    ];
    for (arn, url) in rows {
        sqs.clear_calls();
        let mut failing = record("q", "a", &does("a", "fail"));
        failing["eventSourceARN"] = json!(arn);
        assert_eq!(failures(&consumer, event([failing])).await, ["a"]);
        let calls = sqs.calls();
        let call = calls
            .of(Operation::ChangeMessageVisibilityBatch)
            .next()
            .expect(arn);
        let request: serde_json::Value =
            serde_json::from_str(call.request.as_deref().unwrap()).unwrap();
        assert_eq!(request["QueueUrl"], url);
    }
}
