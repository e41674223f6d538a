//! What is refused before the network: nothing is sent, and the error names what is wrong.

use babelqueue::PublishError;
use babelqueue::prelude::*;
use serde_json::json;

use crate::support::{order, server, visible};

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
