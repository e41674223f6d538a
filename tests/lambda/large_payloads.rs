//! Records whose bodies point to where the message is: read as the polling consumer reads them.

use babelqueue::ReportKind;
use babelqueue::payload_store::{MemoryPayloadStore, Retrieval};
use serde_json::json;

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
