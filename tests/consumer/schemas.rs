//! Payloads that violate the schema of their URN (SPEC §2.12, §3.6).

use babelqueue::ReportKind;
use babelqueue::idempotency::{IdempotencyStore as _, MemoryStore};
use babelqueue::prelude::*;
use babelqueue::schema::SchemaMap;

use crate::support::{Bench, SECOND};

fn schemas(name_at_least: u32) -> SchemaMap {
    let schema = format!(
        r#"{{"type":"object","required":["name"],
            "properties":{{"name":{{"type":"string","minLength":{name_at_least}}}}}}}"#
    );
    SchemaMap::from_json([("urn:test:task", schema)]).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_payload_that_fits_is_handled() {
    let bench = Bench::new();
    bench.put("abc", &["ok"]);
    bench
        .run(bench.consumer().validate_payloads(schemas(3)), SECOND)
        .await;
    assert_eq!(bench.lab.calls(), ["abc/0"]);
}

#[tokio::test(start_paused = true)]
async fn a_violation_is_retried_and_given_up_like_any_failure() {
    let bench = Bench::new();
    bench.put("abc", &["ok"]);
    let store = MemoryStore::new();
    let consumer = bench
        .consumer()
        .validate_payloads(schemas(4))
        .idempotency(store.clone())
        .max_attempts(2)
        .dead_letter_queue(DeadLetterQueue::default_name());
    bench.run(consumer, SECOND).await;
    assert!(bench.lab.calls().is_empty(), "no handler sees it");
    assert_eq!(
        bench.lab.kinds(),
        [ReportKind::Handler, ReportKind::Handler]
    );
    let dead = bench.dead_json();
    let block = &dead[0]["dead_letter"];
    assert_eq!(
        (&block["reason"], &block["attempts"]),
        (&"failed".into(), &2.into())
    );
    let error = block["error"].as_str().unwrap();
    assert!(
        error.ends_with("urn:test:task is invalid: name: below_min_length"),
        "{error}"
    );
    assert_eq!(block["exception"], "ValidationError");
    // It must be handled when it is redriven after the schema was mended.
    assert!(!store.seen("m-1").await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_violation_may_be_final() {
    let bench = Bench::new();
    bench.put("abc", &["ok"]);
    let consumer = bench
        .consumer()
        .validate_payloads(schemas(4))
        .permanent_schema_errors()
        .dead_letter_queue(DeadLetterQueue::default_name());
    bench.run(consumer, SECOND).await;
    assert_eq!(bench.lab.kinds(), [ReportKind::Handler]);
    assert_eq!(bench.dead_json()[0]["dead_letter"]["attempts"], 1);
}
