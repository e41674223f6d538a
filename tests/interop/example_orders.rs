//! `cargo run --example orders`.

use std::process::Output;

use serde_json::json;

use crate::peer::{Meeting, example};

fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!(
        "{}\n{}",
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    )
}

#[tokio::test]
async fn orders_runs_with_nothing_around_it() {
    let output = example("orders").output().await.expect("cargo starts");
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    for line in [
        "2 orders created, 1 paid, parcel P-1 packed, then sent",
        "order_paid      order 1042, on its retry",
        r#""reason":"unknown_urn""#,
        r#"{"raw":"{\"job\":\"urn:babel:orders:created\",\"trace_id\":","dead_letter":{"reason":"poison""#,
    ] {
        assert!(text.contains(line), "{line} is not in:\n{text}");
    }
}

#[tokio::test]
async fn orders_runs_against_a_server_on_messages_of_the_python_sdk() {
    let meeting = Meeting::local().await;
    meeting.create_queue("orders").await;
    let message = |order_id: u64| {
        json!({"queue": "orders", "urn": "urn:babel:orders:created", "trace_id": "t",
               "headers": {},
               "data": {"customer_id": 9, "order_id": order_id, "note": "grüße 🐍"}})
    };
    meeting.publish(&[message(2001), message(2002)]).await;

    let output = example("orders")
        .env("BABELQUEUE_ENDPOINT", meeting.endpoint())
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .output()
        .await
        .expect("cargo starts");
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    for line in [
        "order 2001 by python: grüße 🐍",
        "order 2002 by python: grüße 🐍",
        "4 orders created, 1 paid",
    ] {
        assert!(text.contains(line), "{line} is not in:\n{text}");
    }
}

#[tokio::test]
async fn orders_says_what_is_wrong_with_an_endpoint_that_does_not_answer() {
    let output = example("orders")
        .env("BABELQUEUE_ENDPOINT", "http://127.0.0.1:1")
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .output()
        .await
        .expect("cargo starts");
    let text = text(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("orders: "), "{text}");
    assert!(text.contains("http://127.0.0.1:1"), "{text}");
}
