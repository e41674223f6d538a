//! What is refused before the network: nothing is sent, and the error names what is wrong.

use babelqueue::PublishError;
use babelqueue::local::{LocalSqs, Operation, Refusal};
use babelqueue::prelude::*;
use serde_json::json;

use crate::support::{Logged, order, server, visible};

#[tokio::test(start_paused = true)]
async fn c_083_a_body_over_the_limit() {
    let sqs = server();
    let big = json!({ "text": "x".repeat(300 * 1024) });
    let publisher = SqsPublisher::new(sqs.client(), sqs.queue_url("orders"));
    publisher
        .publish_json("urn:x", &big)
        .await
        .expect("1 MiB is the default");
    let builder = SqsPublisher::builder(sqs.client(), sqs.queue_url("orders"));
    let small = builder.max_message_bytes(262_144).build().unwrap();
    let error = small
        .publish_json("urn:x", &big)
        .await
        .expect_err("256 KiB");
    let PublishError::TooLarge { actual, allowed } = error else {
        panic!("{error}")
    };
    assert!(actual > 300 * 1024 && allowed == 262_144);
    assert_eq!(visible(&sqs, "orders").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn c_075_headers_that_sqs_does_not_allow() {
    let sqs = server();
    let publisher = SqsPublisher::new(sqs.client(), sqs.queue_url("orders"));
    let long = "n".repeat(300);
    for bad in ["bad:key", "two words", ".dot", "AWS.mine", &long] {
        let error = order()
            .publish(&publisher)
            .header(bad, "v")
            .await
            .expect_err(bad);
        assert!(matches!(error, PublishError::Header { .. }), "{error}");
    }
    let error = order()
        .publish(&publisher)
        .header("x", "\u{1}")
        .await
        .expect_err("control");
    assert!(matches!(error, PublishError::Header { .. }), "{error}");
    let mut many = order().publish(&publisher);
    for name in ["a", "b", "c", "d", "e"] {
        many = many.header(name, "v");
    }
    let error = many.await.expect_err("five do not fit beside the six");
    assert!(
        matches!(error, PublishError::TooManyHeaders { .. }),
        "{error}"
    );
    assert_eq!(sqs.calls().total(), 0);
}

#[tokio::test(start_paused = true)]
async fn c_066_rare_characters_arrive() {
    let sqs = server();
    let publisher = SqsPublisher::new(sqs.client(), sqs.queue_url("orders"));
    let text = "\0\u{7}\u{fffe}\u{ffff}🦀\t\r\n\u{7f}ü";
    publisher
        .publish_json("urn:x", &json!({ "text": text }))
        .await
        .unwrap();
    let body = &visible(&sqs, "orders")[0].body;
    let parsed: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(parsed["data"]["text"], text);
    let bad = order()
        .publish(&publisher)
        .trace_id("a\u{ffff}")
        .await
        .expect_err("attribute");
    assert!(
        matches!(
            bad,
            PublishError::Character {
                field: "bq-trace-id",
                ..
            }
        ),
        "{bad}"
    );
}

#[tokio::test(start_paused = true)]
async fn c_075_a_blank_value_is_left_out() {
    let sqs = server();
    let publisher = SqsPublisher::new(sqs.client(), sqs.queue_url("orders"));
    let publish = order().publish(&publisher).header("valid", "");
    publish.await.unwrap();
    let message = &visible(&sqs, "orders")[0];
    assert!(!message.attributes.contains_key("valid"));
}

/// A server with a queue that takes 64 KiB.
fn with_small() -> LocalSqs {
    let sqs = server();
    sqs.create_queue_with("small", [("MaximumMessageSize", "65536")])
        .unwrap();
    sqs.clear_calls();
    sqs
}

fn text(bytes: usize) -> serde_json::Value {
    json!({ "text": "x".repeat(bytes) })
}

#[tokio::test(start_paused = true)]
async fn c_082_a_limit_above_what_the_queue_takes() {
    let sqs = with_small();
    let builder = || SqsPublisher::builder(sqs.client(), sqs.queue_url("small"));
    for bytes in [2 * 1_048_576, 0] {
        let error = builder().max_message_bytes(bytes).build();
        let error = error.expect_err("out of range").to_string();
        assert!(error.contains("1 to 1048576 bytes"), "{error}");
    }
    // Nobody told the publisher: SQS refuses, and the error says what it is.
    let unaware = builder().build().unwrap();
    let error = unaware.publish_json("urn:x", &text(70_000)).await;
    let error = error.expect_err("too large for the queue");
    assert!(
        matches!(error, PublishError::TooLargeForQueue { .. }),
        "{error}"
    );
    assert!(error.is_too_large() && error.is_refused() && !error.is_retryable());
    let batch = unaware
        .batch()
        .push_publish(unaware.publish_json("urn:x", &text(70_000)))
        .push_publish(unaware.publish_json("urn:x", &text(1)));
    let error = batch.await.expect_err("one of them");
    let failures: Vec<_> = error.failures().collect();
    assert!(
        failures.len() == 1 && failures[0].1.is_too_large(),
        "{failures:?}"
    );

    sqs.clear_calls();
    let told = builder().max_message_bytes(65_536).build().unwrap();
    let error = told.publish_json("urn:x", &text(70_000)).await;
    assert!(matches!(
        error,
        Err(PublishError::TooLarge {
            allowed: 65_536,
            ..
        })
    ));
    assert_eq!(sqs.calls().total(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_the_queue_is_read_once() {
    let sqs = with_small();
    let builder = |queue| SqsPublisher::builder(sqs.client(), sqs.queue_url(queue));
    let small = builder("small").read_queue_limit(true).build().unwrap();
    for _ in 0..3 {
        let error = small.publish_json("urn:x", &text(70_000)).await;
        assert!(matches!(
            error,
            Err(PublishError::TooLarge {
                allowed: 65_536,
                ..
            })
        ));
        small.publish_json("urn:x", &text(1_000)).await.unwrap();
    }
    // It is the limit of a request too.
    let each = || small.publish_json("urn:x", &text(30_000));
    let batch = small.batch().push_publish(each());
    batch
        .push_publish(each())
        .push_publish(each())
        .await
        .unwrap();
    assert_eq!(sqs.calls().count(Operation::SendMessageBatch), 2);
    let buffered = BufferedPublisher::new(small.clone());
    let each = || buffered.publish_json("urn:x", &text(30_000)).into_future();
    let (a, b, c) = tokio::join!(each(), each(), each());
    assert!(a.is_ok() && b.is_ok() && c.is_ok());
    assert_eq!(sqs.calls().count(Operation::SendMessageBatch), 4);
    buffered.close().await.unwrap();
    assert_eq!(sqs.calls().count(Operation::GetQueueAttributes), 1);

    // The publisher's own limit stands where it is lower, and where the queue cannot be asked.
    let own = builder("small")
        .read_queue_limit(true)
        .max_message_bytes(500);
    let error = own.build().unwrap().publish_json("urn:x", &text(500)).await;
    assert!(matches!(
        error,
        Err(PublishError::TooLarge { allowed: 500, .. })
    ));
    let log = Logged::new();
    let refused = sqs.faults().on(Operation::GetQueueAttributes);
    let refused = refused.refuse(Refusal::AccessDenied);
    let unasked = builder("orders").read_queue_limit(true).build().unwrap();
    for _ in 0..3 {
        unasked.publish_json("urn:x", &text(70_000)).await.unwrap();
    }
    assert_eq!(
        (refused.hits(), log.count("sqs:GetQueueAttributes")),
        (1, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn c_080_the_limit_is_that_of_sqs_to_the_byte() {
    let sqs = server();
    let publisher = SqsPublisher::new(sqs.client(), sqs.queue_url("orders"));
    let publish = |bytes| publisher.publish_json("urn:x", &text(bytes));
    let error = publish(1_048_576).header("k", "v").await.expect_err("over");
    let PublishError::TooLarge { actual, allowed } = error else {
        panic!("{error}")
    };
    let room = 1_048_576 - (actual - allowed);
    publish(room - 1).header("k", "v").await.unwrap();
    publish(room).header("k", "v").await.expect("exactly at it");
    let error = publish(room + 1).header("k", "v").await.expect_err("over");
    assert!(matches!(
        error,
        PublishError::TooLarge {
            actual: 1_048_577,
            ..
        }
    ));
    // SQS would say the same: the library's own attributes count.
    assert_eq!(sqs.calls().count(Operation::SendMessage), 2);
}

#[test]
fn retries_that_cannot_work() {
    let sqs = LocalSqs::new();
    let builder = || SqsPublisher::builder(sqs.client(), sqs.queue_url("orders"));
    let second = std::time::Duration::from_secs(1);
    for bad in [
        builder().max_attempts(0),
        builder().send_timeout(std::time::Duration::ZERO),
        builder().send_timeout(241 * second),
        builder().retry(Backoff::from_seconds(-1.0, 2.0, 0.0, Jitter::None)),
    ] {
        assert!(bad.build().is_err());
    }
    builder().send_timeout(240 * second).build().unwrap();
}
