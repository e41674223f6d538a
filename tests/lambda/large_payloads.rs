//! Records whose bodies point to where the message is: read as the polling consumer reads them.

use babelqueue::ReportKind;
use babelqueue::decode::Sns;
use babelqueue::payload_store::{MemoryPayloadStore, Retrieval};
use serde_json::{Value, json};
use tracing::Level;

use crate::capture::Capture;
use crate::support::{Lab, consumer, does, event, failures, in_group, many_does, record};

/// A store with this body in it, and a stub that points there.
fn keep(store: &MemoryPayloadStore, name: &str, body: &str) -> String {
    let key = format!("payloads/{name}");
    store.insert("memory", &key, body);
    json!({ "contentS3Location": { "bucketName": "memory", "path": key } }).to_string()
}

#[tokio::test(start_paused = true)]
async fn b3_a_stub_is_read_in_its_place_and_a_bad_one_fails_alone() {
    let (lab, store) = (Lab::default(), MemoryPayloadStore::new());
    let retrieval = Retrieval::from_store(store.clone()).delete_when_handled(true);
    let consumer = consumer(&lab).payload_store(retrieval).build().unwrap();
    let records = [
        record(
            "orders",
            "large",
            &keep(&store, "large", &does("large", "ok")),
        ),
        record("orders", "inline", &does("inline", "ok")),
        record(
            "orders",
            "missing",
            r#"{"contentS3Path":"payloads/missing"}"#,
        ),
        record(
            "orders",
            "fails",
            &keep(&store, "fails", &does("fails", "fail")),
        ),
        record(
            "orders",
            "many",
            &keep(&store, "many", &many_does("many", "ok")),
        ),
    ];
    let failed = failures(&consumer, event(records)).await;
    assert_eq!(failed, ["missing", "fails"]);
    let mut calls = lab.calls();
    calls.sort();
    assert_eq!(calls.len(), 4, "{calls:?}");
    let mut kinds = lab.kinds();
    kinds.sort_by_key(|kind| kind.as_str());
    assert_eq!(kinds, [ReportKind::Handler, ReportKind::Poison]);
    assert_eq!(
        store.len(),
        3,
        "nothing confirms the deletes of the service"
    );
}

#[tokio::test(start_paused = true)]
async fn a_record_that_cannot_be_read_holds_back_its_group() {
    let (lab, store) = (Lab::default(), MemoryPayloadStore::new());
    let consumer = consumer(&lab).payload_store(store.clone()).build().unwrap();
    let missing = r#"{"contentS3Path":"payloads/missing"}"#;
    let records = [
        in_group("a", record("orders.fifo", "a1", missing)),
        in_group(
            "b",
            record("orders.fifo", "b1", &keep(&store, "b1", &does("b1", "ok"))),
        ),
        in_group("a", record("orders.fifo", "a2", &does("a2", "ok"))),
    ];
    assert_eq!(failures(&consumer, event(records)).await, ["a1", "a2"]);
    assert_eq!(lab.calls(), ["b1"]);
}

#[tokio::test(start_paused = true)]
async fn b34_what_the_emitters_of_large_sns_and_sqs_messages_leave_is_read() {
    let (lab, store) = (Lab::default(), MemoryPayloadStore::new());
    let consumer = consumer(&lab)
        .payload_store(store.clone())
        .decoder(Sns)
        .build()
        .unwrap();
    let keep = |name: &str| {
        let key = format!("payloads/{name}");
        store.insert("memory", &key, does(name, "ok"));
        key
    };
    let of = |name: &str| json!({ "bucketName": "memory", "path": keep(name), "region": "x" });
    let wrapped = |message: &Value| {
        json!({
            "Type": "Notification", "MessageId": "sns-1",
            "TopicArn": "arn:aws:sns:eu-west-1:1:topic", "Message": message.to_string(),
            "Timestamp": "2026-01-01T00:00:00.000Z",
        })
    };
    let bodies = [
        (
            "a location",
            json!({ "contentS3Location": of("a location") }),
        ),
        ("a path", json!({ "contentS3Path": of("a path") })),
        ("a key", json!({ "contentS3Path": keep("a key") })),
        (
            "of both the location",
            json!({
                "contentS3Path": "payloads/nowhere",
                "contentS3Location": of("of both the location"),
            }),
        ),
        (
            "the other when one is empty",
            json!({
                "contentS3Location": {},
                "contentS3Path": of("the other when one is empty"),
            }),
        ),
        (
            "fixed properties beside it",
            json!({
                "id": 7, "status": "active",
                "contentS3Location": of("fixed properties beside it"),
            }),
        ),
        (
            "by sns",
            wrapped(&json!({ "contentS3Location": of("by sns") })),
        ),
    ];
    let records = bodies
        .iter()
        .map(|(name, body)| record("orders", name, &body.to_string()));
    assert!(failures(&consumer, event(records)).await.is_empty());
    let mut expected: Vec<_> = bodies.iter().map(|(name, _)| *name).collect();
    let mut calls = lab.calls();
    expected.sort_unstable();
    calls.sort();
    assert_eq!(calls, expected);
}

#[tokio::test(start_paused = true)]
async fn b3_whatever_is_wrong_with_it_the_error_has_the_code() {
    let (capture, _guard) = Capture::begin();
    let (lab, store) = (Lab::default(), MemoryPayloadStore::new());
    let consumer = consumer(&lab)
        .payload_store(Retrieval::from_store(store.clone()).max_bytes(1000))
        .build()
        .unwrap();
    let records = [
        (
            "missing",
            r#"{"contentS3Path":"payloads/missing"}"#.to_owned(),
        ),
        (
            "elsewhere",
            r#"{"contentS3Location":{"bucketName":"other","path":"payloads/x"}}"#.to_owned(),
        ),
        ("malformed", r#"{"contentS3Location":7}"#.to_owned()),
        ("empty", keep(&store, "empty", "")),
        ("text", keep(&store, "text", "no json")),
        ("large", keep(&store, "large", &" ".repeat(1001))),
        // Read, and no message all the same: that is no matter of the store.
        ("null", keep(&store, "null", "null")),
        ("inline", "no json".to_owned()),
    ];
    let names = records.each_ref().map(|(name, _)| *name);
    let events = records.map(|(name, body)| record("orders", name, &body));
    assert_eq!(failures(&consumer, event(events)).await, names);
    for name in names {
        let all = capture.of(Level::ERROR, "message error");
        let of = |field: &str| {
            let logged = all.iter().find(|one| one.fields["message_id"] == name);
            logged.unwrap().fields.get(field).cloned()
        };
        let expected = !matches!(name, "null" | "inline");
        let code = of("code");
        assert_eq!(code.as_deref(), expected.then_some("S3_ERROR"), "{name}");
        assert_eq!(of("settlement").as_deref(), Some("leave"));
    }
}
