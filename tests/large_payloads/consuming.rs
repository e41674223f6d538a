//! Following pointers: which bodies are some, within which bounds, and when the object goes.

use babelqueue::ReportKind;
use babelqueue::decode::Sns;
use babelqueue::local::{Operation, RawMessage, Refusal};
use babelqueue::prelude::*;
use serde_json::json;

use crate::support::{Bench, Note, SECOND, Whim, envelope, stub};

#[tokio::test(start_paused = true)]
async fn pointers_of_both_shapes_lead_to_the_envelope() {
    let bench = Bench::new();
    bench.put(
        bench
            .store
            .keep("1", &envelope(&Note::new("stub", "by stub"))),
    );
    bench
        .store
        .keep("2", &envelope(&Note::new("java", "by array")));
    for class in [
        "software.amazon.payloadoffloading.PayloadS3Pointer",
        "com.amazon.sqs.javamessaging.MessageS3Pointer",
    ] {
        let pointer = json!([class, { "s3BucketName": "memory", "s3Key": "payloads/2" }]);
        bench.put(pointer.to_string());
    }
    bench.put(r#"{"contentS3Path":"payloads/1"}"#);
    bench.run(bench.consumer(), SECOND).await;
    assert_eq!(bench.log.sorted(), ["java", "java", "stub", "stub"]);
    assert_eq!(bench.log.text("stub").as_deref(), Some("by stub"));
    assert_eq!(bench.log.errors(), []);
    assert!(bench.left().is_empty() && bench.dead().is_empty());
    assert_eq!(bench.store.memory.len(), 2, "kept unless said otherwise");
}

#[tokio::test(start_paused = true)]
async fn an_envelope_is_no_pointer_whatever_stands_in_it() {
    let bench = Bench::new();
    let mut body: serde_json::Value =
        serde_json::from_str(&envelope(&Note::new("inline", "here"))).unwrap();
    body["contentS3Location"] = json!({ "bucketName": "memory", "path": "payloads/1" });
    bench.put(body.to_string());
    bench.run(bench.consumer(), SECOND).await;
    assert_eq!(bench.log.names(), ["inline"]);
    assert_eq!(bench.store.reads(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_version_gate_comes_before_any_read() {
    let bench = Bench::new();
    let pointer = bench.store.keep("1", &envelope(&Note::new("gated", "")));
    let message = RawMessage::new(&pointer).attribute("bq-schema-version", "Number", "2");
    bench.sqs.inject_raw("orders", message);
    bench.run(bench.consumer(), SECOND).await;
    assert_eq!((bench.store.reads(), bench.log.names().len()), (0, 0));
    let dead = bench.dead();
    assert_eq!(dead.iter().map(|m| &*m.body).collect::<Vec<_>>(), [pointer]);
}

#[tokio::test(start_paused = true)]
async fn a_pointer_inside_of_a_notification_is_followed() {
    let bench = Bench::new();
    let pointer = bench
        .store
        .keep("1", &envelope(&Note::new("wrapped", "by SNS")));
    let notification = json!({
        "Type": "Notification",
        "MessageId": "n-1",
        "TopicArn": "arn:aws:sns:eu-west-1:1234:orders",
        "Message": pointer,
        "Timestamp": "2026-01-01T00:00:00.000Z",
        "SignatureVersion": "1",
        "MessageAttributes": { "tenant": { "Type": "String", "Value": "acme" } },
    });
    bench.put(notification.to_string());
    bench.run(bench.consumer().decoder(Sns), SECOND).await;
    assert_eq!(bench.log.text("wrapped").as_deref(), Some("by SNS"));
    assert!(bench.left().is_empty() && bench.dead().is_empty());
}

#[tokio::test(start_paused = true)]
async fn c_084_the_object_goes_after_the_delete_of_its_message_and_never_before() {
    let bench = Bench::new();
    bench.put(bench.store.keep("1", &envelope(&Note::new("n", "text"))));
    let deletes = bench.sqs.faults().on(Operation::DeleteMessageBatch);
    let refused = deletes.refuse(Refusal::AccessDenied);
    let consumer = || {
        let retrieval = bench.retrieval().delete_when_handled(true);
        bench.plain().payload_store(retrieval)
    };
    bench.run(consumer(), SECOND).await;
    assert_eq!(bench.log.names(), ["n"]);
    assert!(refused.hits() > 0);
    assert_eq!(bench.store.memory.len(), 1, "the message will come again");

    refused.lift();
    bench.run(consumer(), 60 * SECOND).await;
    assert_eq!(
        bench.log.names(),
        ["n", "n"],
        "the redelivered message found its object"
    );
    assert!(bench.left().is_empty() && bench.store.memory.is_empty());
    assert_eq!(bench.log.reports(ReportKind::Poison, ""), 0);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_cannot_be_deleted_holds_up_a_stop_for_five_seconds_and_nothing_else() {
    for (whim, seconds) in [(Whim::Refuse, 0), (Whim::Panic, 0), (Whim::Hang, 5)] {
        let bench = Bench::new();
        bench.put(bench.store.keep("1", &envelope(&Note::new("a", ""))));
        bench.put(bench.store.keep("2", &envelope(&Note::new("b", ""))));
        bench.store.whim("delete", whim);
        let retrieval = bench
            .retrieval()
            .delete_when_handled(true)
            .timeout(60 * SECOND);
        let consumer = bench.plain().payload_store(retrieval).build().unwrap();
        let begun = tokio::time::Instant::now();
        consumer.poll().await.unwrap();
        assert_eq!(begun.elapsed().as_secs(), seconds);
        assert_eq!(bench.log.sorted(), ["a", "b"]);
        assert!(bench.left().is_empty());
        assert_eq!(bench.store.memory.len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn objects_are_read_side_by_side_within_the_bound() {
    let bench = Bench::new();
    for i in 0..20 {
        let name = format!("n{i}");
        bench.put(bench.store.keep(&name, &envelope(&Note::new(&name, ""))));
    }
    bench.store.whim("payloads/", Whim::Wait(SECOND));
    let consumer = bench
        .plain()
        .concurrency(20)
        .payload_store(bench.retrieval().concurrency(3));
    bench.run(consumer, 30 * SECOND).await;
    assert_eq!(bench.log.names().len(), 20);
    assert_eq!(bench.store.most_at_once(), 3);
}

#[tokio::test(start_paused = true)]
async fn the_bytes_that_are_read_count_as_in_flight() {
    let begun_in_two_seconds = async |bound: usize| {
        let bench = Bench::new();
        for i in 0..12 {
            let name = format!("n{i:02}");
            let mut note = Note::new(&name, "x".repeat(10_000));
            note.seconds = 5;
            bench.put(bench.store.keep(&name, &envelope(&note)));
        }
        let receives = bench.sqs.faults().on(Operation::ReceiveMessage);
        let _slow = receives.delay_response(SECOND / 10);
        // The pointers themselves take a hundred bytes each.
        let consumer = bench.consumer().batch_size(1).concurrency(20);
        bench
            .run(consumer.max_in_flight_bytes(bound), 2 * SECOND)
            .await;
        bench.log.names().len()
    };
    assert_eq!(begun_in_two_seconds(1_000_000).await, 12);
    // The one that fills the bound, and those of the two polls that are open by then.
    assert_eq!(begun_in_two_seconds(10_000).await, 3);
}

#[tokio::test(start_paused = true)]
async fn a_slow_object_of_a_group_holds_up_its_group_and_no_other() {
    let bench = Bench::fifo();
    for (group, name) in [("a", "a1"), ("a", "a2"), ("b", "b1")] {
        let pointer = bench.store.keep(name, &envelope(&Note::new(name, "")));
        let message = RawMessage::new(pointer)
            .group_id(group)
            .deduplication_id(name);
        bench.sqs.inject_raw(bench.queue, message);
    }
    bench.store.whim("a1", Whim::Refuse);
    let consumer = || bench.consumer().retry(Backoff::fixed(2 * SECOND));
    bench.run(consumer(), SECOND).await;
    assert_eq!(bench.log.names(), ["b1"], "a2 must not overtake a1");
    bench.store.calm();
    bench.run(consumer(), 30 * SECOND).await;
    assert_eq!(bench.log.names(), ["b1", "a1", "a2"]);
    assert!(bench.left().is_empty() && bench.dead().is_empty());
}

#[tokio::test(start_paused = true)]
async fn without_a_store_a_pointer_is_a_body_like_any_other() {
    let bench = Bench::new();
    bench.put(bench.store.keep("1", &envelope(&Note::new("n", ""))));
    let java = r#"["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3Key":"k"}]"#;
    bench.put(java);
    bench.put(stub("other", "../x"));
    bench.run(bench.plain(), SECOND).await;
    assert_eq!((bench.store.reads(), bench.log.names().len()), (0, 0));
    let dead = bench.dead_json();
    assert_eq!(dead.len(), 3);
    assert!(
        dead.iter()
            .all(|body| body["dead_letter"]["reason"] == "poison")
    );
    assert!(dead.iter().any(|body| body["raw"] == java));
}
