//! Configurations that cannot work are refused when the consumer is built, and say what to change.

use std::time::Duration;

use babelqueue::BuildError;
use babelqueue::prelude::*;
use babelqueue::sqs::SqsConsumerBuilder;

use crate::support::{Bench, Lab, SECOND};

fn refused(builder: SqsConsumerBuilder<impl Routes<Lab>, Lab>) -> BuildError {
    let error = builder.build().map(|_| ()).expect_err("it must be refused");
    assert!(error.to_string().len() > 40, "{error}");
    error
}

#[tokio::test]
async fn numbers_out_of_range() {
    let bench = Bench::new();
    let b = || bench.consumer();
    let half = Duration::from_millis(500);
    let rows = [
        (refused(b().concurrency(0)), "concurrency"),
        (refused(b().max_in_flight(0)), "max_in_flight"),
        (refused(b().max_in_flight_bytes(0)), "max_in_flight_bytes"),
        (refused(b().batch_size(0)), "batch_size"),
        (refused(b().batch_size(11)), "batch_size"),
        (refused(b().max_attempts(0)), "max_attempts"),
        (refused(b().wait_time(21 * SECOND)), "wait_time"),
        (refused(b().wait_time(half)), "wait_time"),
        (
            refused(b().visibility_timeout(43_201 * SECOND)),
            "visibility_timeout",
        ),
        (refused(b().visibility_timeout(half)), "visibility_timeout"),
        (
            refused(b().handler_timeout(Duration::ZERO)),
            "handler_timeout",
        ),
        (
            refused(b().max_handling_time(43_200 * SECOND)),
            "max_handling_time",
        ),
        (
            refused(b().max_handling_time(Duration::ZERO)),
            "max_handling_time",
        ),
        (
            refused(b().shutdown_timeout(Duration::MAX)),
            "shutdown_timeout",
        ),
        (
            refused(b().shutdown_linger(Duration::MAX)),
            "shutdown_linger",
        ),
        (
            refused(b().max_message_bytes(1_048_577)),
            "max_message_bytes",
        ),
    ];
    for (error, expected) in rows {
        let BuildError::Range { option, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!(*option, expected, "{error}");
    }
    let error = refused(b().retry(Backoff::fixed(SECOND).multiplier(-1.0)));
    assert!(matches!(error, BuildError::Backoff(_)), "{error}");
}

#[tokio::test]
async fn what_is_possible_is_accepted() {
    let bench = Bench::new();
    let consumer = bench
        .consumer()
        .concurrency(1)
        .max_in_flight(1)
        .batch_size(1)
        .wait_time(Duration::ZERO)
        .visibility_timeout(43_200 * SECOND)
        .max_attempts(1)
        .dead_letter_queue(DeadLetterQueue::name("elsewhere"))
        .unknown_urn(UnknownUrn::DeadLetter)
        .build();
    assert_eq!(consumer.unwrap().queue(), "orders");
}

#[tokio::test]
async fn dead_letter_queues_that_cannot_be() {
    let bench = Bench::new();
    let b = || bench.consumer();
    let error = refused(b().unknown_urn(UnknownUrn::DeadLetter));
    assert_eq!(error, BuildError::NoDeadLetterQueue);
    for own in [
        DeadLetterQueue::name("orders"),
        DeadLetterQueue::url(&bench.url),
    ] {
        let error = refused(b().dead_letter_queue(own));
        assert!(
            matches!(error, BuildError::OwnDeadLetterQueue { .. }),
            "{error}"
        );
    }
    let error = refused(b().dead_letter_queue(DeadLetterQueue::name("orders-dlq.fifo")));
    assert!(
        matches!(error, BuildError::DeadLetterQueueType { .. }),
        "{error}"
    );
    for dotted in [
        DeadLetterQueue::name("orders.dlq"),
        DeadLetterQueue::with_suffix(".dlq"),
    ] {
        let error = refused(b().dead_letter_queue(dotted));
        assert!(matches!(error, BuildError::Name(_)), "{error}");
    }
    // The other way round, c_011.
    let fifo = Bench::fifo();
    let error = refused(
        fifo.consumer()
            .dead_letter_queue(DeadLetterQueue::name("orders-dlq")),
    );
    assert!(
        matches!(error, BuildError::DeadLetterQueueType { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn c_096_a_queue_url_of_another_host_is_refused() {
    let config = aws_sdk_sqs::Config::builder()
        .behavior_version_latest()
        .region(aws_sdk_sqs::config::Region::new("eu-west-1"))
        .build();
    let client = aws_sdk_sqs::Client::from_conf(config);
    for url in ["http://queue-host:9324/0/q", "orders"] {
        let consumer = SqsConsumer::builder(client.clone(), url, Router::from_handlers![]).build();
        let error = consumer.map(|_| ()).expect_err(url);
        assert!(matches!(error, BuildError::Endpoint(_)), "{error}");
    }
    // Nor may the dead letters go where the client does not call.
    let orders = "https://sqs.eu-west-1.amazonaws.com/123456789012/orders";
    for url in [
        "http://localhost:4566/0/x",
        "https://sqs.us-east-1.amazonaws.com/123456789012/x",
        "x",
    ] {
        let error = SqsConsumer::builder(client.clone(), orders, Router::from_handlers![])
            .dead_letter_queue(DeadLetterQueue::url(url))
            .build()
            .map(|_| ())
            .expect_err(url);
        assert!(matches!(error, BuildError::Endpoint(_)), "{error}");
    }
}

/// `main() -> Result<(), babelqueue::Error>` takes all of them by `?`.
#[test]
fn one_error_for_main() {
    fn build() -> Result<(), babelqueue::Error> {
        Err(BuildError::NoDeadLetterQueue)?
    }
    let error = build().expect_err("refused");
    // What the runtime prints is the text, not a dump of the type.
    assert!(
        format!("{error:?}").starts_with("`UnknownUrn::DeadLetter` needs"),
        "{error:?}"
    );
}
