//! A dead letter of a large message keeps its pointer, and its object is there to be read.

use babelqueue::local::{MessageSnapshot, RawMessage};
use babelqueue::prelude::*;
use serde_json::{Value, json};

use crate::support::{Bench, Note, SECOND, envelope, stub};

const JAVA: &str = "software.amazon.payloadoffloading.PayloadS3Pointer";

fn lost_cause(name: &str) -> String {
    let mut note = Note::new(name, "x".repeat(100));
    note.permanent = true;
    envelope(&note)
}

/// Sends a dead letter back as it is.
fn redrive(bench: &Bench, message: &MessageSnapshot) {
    let mut again = RawMessage::new(&message.body);
    for (name, value) in &message.attributes {
        again = again.attribute(name, &value.data_type, value.text().unwrap());
    }
    bench.sqs.inject_raw(bench.queue, again);
}

#[tokio::test(start_paused = true)]
async fn a_copy_keeps_the_pointer_and_its_object() {
    let bench = Bench::new();
    let pointer = bench.store.keep("1", &lost_cause("n"));
    let message = RawMessage::new(&pointer).attribute("tenant", "String", "acme");
    bench.sqs.inject_raw("orders", message);
    let consumer = || {
        let retrieval = bench.retrieval().delete_when_handled(true);
        bench.plain().payload_store(retrieval)
    };
    bench.run(consumer(), SECOND).await;
    assert!(bench.left().is_empty());
    assert_eq!(bench.store.memory.len(), 1, "the copy points to it");
    let dead = bench.dead();
    let body: Value = serde_json::from_str(&dead[0].body).unwrap();
    let given: Value = serde_json::from_str(&pointer).unwrap();
    assert_eq!(body["contentS3Location"], given["contentS3Location"]);
    assert!(
        dead[0].body.starts_with(pointer.strip_suffix('}').unwrap()),
        "every byte kept"
    );
    let block = &body["dead_letter"];
    assert_eq!(
        (&block["reason"], &block["attempts"]),
        (&json!("failed"), &json!(1))
    );
    assert_eq!(block["error"], "it is no use");
    let attributes = &dead[0].attributes;
    assert_eq!(
        attributes.get("bq-job").and_then(|value| value.text()),
        Some(Note::URN)
    );
    assert_eq!(
        attributes.get("tenant").and_then(|value| value.text()),
        Some("acme")
    );

    // Redriven, it fails again: one block, and still a pointer.
    redrive(&bench, &dead[0]);
    bench.run(consumer(), SECOND).await;
    assert_eq!(bench.log.names(), ["n", "n"]);
    let dead = bench.dead_json();
    assert_eq!(dead.len(), 2);
    assert_eq!(dead[1]["contentS3Location"], given["contentS3Location"]);
    assert_eq!(dead[1]["dead_letter"]["reason"], "failed");

    // Put right and redriven, it is handled, and its object goes.
    bench
        .store
        .keep("1", &envelope(&Note::new("n", "put right")));
    redrive(&bench, &bench.dead()[1]);
    bench.run(consumer(), SECOND).await;
    assert_eq!(bench.log.text("n").as_deref(), Some("put right"));
    assert!(bench.store.memory.is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_pointer_of_the_extended_clients_is_copied_as_it_is() {
    let bench = Bench::new();
    let content = lost_cause("n");
    bench.store.keep("1", &content);
    let pointer = json!([JAVA, { "s3BucketName": "memory", "s3Key": "payloads/1" }]).to_string();
    let size = content.len().to_string();
    let message = RawMessage::new(&pointer).attribute("ExtendedPayloadSize", "Number", &size);
    bench.sqs.inject_raw("orders", message);
    // Nothing to be had, and yet a pointer: it can be redriven when the object is back.
    let missing = json!([JAVA, { "s3BucketName": "memory", "s3Key": "payloads/2" }]).to_string();
    bench.put(&*missing);
    bench.run(bench.consumer(), SECOND).await;
    let dead = bench.dead();
    let copy = |body: &str| dead.iter().find(|message| message.body == body);
    assert!(copy(&missing).is_some());
    let kept = copy(&pointer).expect("byte for byte");
    let size_kept = kept.attributes.get("ExtendedPayloadSize");
    assert_eq!(size_kept.and_then(|value| value.text()), Some(&*size));
}

#[tokio::test(start_paused = true)]
async fn an_unsupported_version_inside_goes_on_as_it_came() {
    let bench = Bench::new();
    let version =
        envelope(&Note::new("n", "")).replace("\"schema_version\":1", "\"schema_version\":2");
    let pointer = bench.store.keep("1", &version);
    bench.put(&*pointer);
    bench.run(bench.consumer(), SECOND).await;
    assert_eq!(bench.dead()[0].body, pointer);
}

#[tokio::test(start_paused = true)]
async fn a_missing_object_is_told_in_the_copy() {
    let bench = Bench::new();
    bench.put(stub("memory", "payloads/gone"));
    bench.run(bench.consumer(), SECOND).await;
    let dead = bench.dead_json();
    assert_eq!(dead[0]["contentS3Location"]["path"], "payloads/gone");
    let block = &dead[0]["dead_letter"];
    assert_eq!(
        (&block["reason"], &block["exception"]),
        (&json!("poison"), &json!("PayloadMissing"))
    );
    assert!(
        block["error"]
            .as_str()
            .unwrap()
            .contains("memory/payloads/gone")
    );
}
