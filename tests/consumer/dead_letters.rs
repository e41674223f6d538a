//! What goes to the dead-letter queue, to the byte, and in which order.

use babelqueue::ReportKind;
use babelqueue::local::{Operation, RawMessage, Refusal};
use babelqueue::prelude::*;

use crate::support::{Bench, SECOND, attributes, envelope};

fn dlq() -> DeadLetterQueue {
    DeadLetterQueue::default_name()
}

#[tokio::test(start_paused = true)]
async fn a_failed_message_is_copied_exactly() {
    let bench = Bench::new();
    let raw =
        envelope("t", &["permanent"]).replace("\"trace_id\"", "\"kept\" : 1.50, \"trace_id\"");
    let message = RawMessage::new(raw.clone())
        .attribute("bq-job", "String", "stale")
        .attribute(
            "traceparent",
            "String",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        )
        .attribute("weight", "Number.kg", "1e40")
        .binary_attribute("blob", "Binary.png", vec![0, 159]);
    bench.put_raw(message);
    bench
        .run(bench.consumer().dead_letter_queue(dlq()).lang("go"), SECOND)
        .await;
    assert!(bench.left().is_empty());
    let dead = bench.dead();
    assert_eq!(dead.len(), 1);
    // Everything but the attempts stays as it was, and the block is the last member.
    let (copied, block) = dead[0].body.split_once(r#","dead_letter":"#).unwrap();
    assert!(copied.contains(r#""kept" : 1.50"#), "{copied}");
    assert!(
        block.starts_with(
            r#"{"reason":"failed","error":"t failed","exception":"TaskError","failed_at":"#
        ),
        "{block}"
    );
    assert!(
        block.ends_with(r#","original_queue":"orders","attempts":1,"lang":"go"}}"#),
        "{block}"
    );
    let attributes = attributes(&dead[0]);
    assert_eq!(attributes["bq-job"], "urn:test:task");
    assert_eq!(attributes["bq-trace-id"], "trace-1");
    assert_eq!(attributes["bq-message-id"], "m-1");
    assert_eq!(attributes["bq-source-lang"], "php");
    assert!(attributes["traceparent"].starts_with("00-4bf9"));
    assert_eq!(dead[0].attributes["weight"].data_type, "Number.kg");
    assert_eq!(dead[0].attributes["blob"].value, [0, 159]);
}

#[tokio::test(start_paused = true)]
async fn c_059_a_huge_error_text_is_redacted_then_cut() {
    let bench = Bench::new();
    let name = format!("secret-{}", "é".repeat(150_000));
    bench.put(&name, &["permanent"]);
    let consumer = bench
        .consumer()
        .redact(|text| text.replace("secret", "***"))
        .dead_letter_queue(dlq());
    bench.run(consumer, SECOND).await;
    let dead = bench.dead_json();
    let error = dead[0]["dead_letter"]["error"].as_str().unwrap();
    assert!(
        error.len() <= 1024 && error.starts_with("***-é"),
        "{}",
        error.len()
    );
}

#[tokio::test(start_paused = true)]
async fn c_060_a_message_full_of_attributes_is_dead_lettered() {
    for riders in [4, 9, 10] {
        let bench = Bench::new();
        let mut message = RawMessage::new(envelope("t", &["permanent"]));
        for i in 0..riders {
            message = message.attribute(format!("h{i}"), "String", "v");
        }
        bench.put_raw(message);
        bench
            .run(bench.consumer().dead_letter_queue(dlq()), SECOND)
            .await;
        let dead = bench.dead();
        assert_eq!((dead.len(), dead[0].attributes.len()), (1, 10), "{riders}");
        let dropped = bench.lab.kinds().contains(&ReportKind::Dropped);
        assert_eq!(dropped, riders > 4, "what does not fit is reported");
    }
}

#[tokio::test(start_paused = true)]
async fn c_061_no_call_names_a_queue_that_was_not_configured() {
    let bench = Bench::new();
    bench.put("t", &["permanent"]);
    bench.put_raw(RawMessage::new("junk"));
    bench.run(bench.consumer(), 5 * SECOND).await;
    assert!(
        bench
            .sqs
            .calls()
            .iter()
            .all(|call| call.queue.as_deref() == Some("orders"))
    );
    assert_eq!(bench.left().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn c_011_dead_letters_of_a_fifo_queue() {
    let bench = Bench::fifo();
    let nobody = crate::support::body("urn:nobody", &serde_json::json!({}));
    let id = bench.put_raw(
        RawMessage::new(nobody)
            .group_id("g-1")
            .deduplication_id("d"),
    );
    let consumer = bench.consumer().unknown_urn(UnknownUrn::DeadLetter);
    bench.run(consumer.dead_letter_queue(dlq()), SECOND).await;
    let dead = bench.dead();
    assert_eq!(dead[0].group_id.as_deref(), Some("g-1"));
    assert_eq!(dead[0].deduplication_id, Some(id));
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_send_that_fails_leaves_the_message_and_is_tried_again() {
    let bench = Bench::new();
    bench.put_raw(RawMessage::new("junk"));
    let fault = bench
        .sqs
        .faults()
        .on(Operation::SendMessage)
        .refuse(Refusal::AccessDenied);
    let consumer = bench.consumer().dead_letter_queue(dlq()).build().unwrap();
    let summary = consumer.poll().await.unwrap();
    assert_eq!(
        (summary.left, summary.dead_lettered, summary.deleted),
        (1, 0, 0)
    );
    assert_eq!(
        bench.lab.kinds(),
        [ReportKind::Poison, ReportKind::DeadLetter]
    );
    assert_eq!(bench.sqs.calls().count(Operation::DeleteMessageBatch), 0);
    assert_eq!(
        bench
            .sqs
            .calls()
            .count(Operation::ChangeMessageVisibilityBatch),
        0
    );
    fault.lift();
    tokio::time::sleep(31 * SECOND).await;
    let summary = consumer.poll().await.unwrap();
    assert_eq!((summary.dead_lettered, summary.deleted), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn c_062_a_redelivery_after_a_failed_delete_only_repeats_the_delete() {
    let bench = Bench::new();
    bench.put("t", &["permanent"]);
    let fault = bench
        .sqs
        .faults()
        .on(Operation::DeleteMessageBatch)
        .times(9);
    let fault = fault.refuse(Refusal::InternalError);
    let consumer = bench.consumer().dead_letter_queue(dlq());
    bench.run(consumer, 300 * SECOND).await;
    assert_eq!(
        fault.hits(),
        9,
        "three attempts of the SDK, three times over"
    );
    assert_eq!(bench.lab.calls(), ["t/0"], "handled once");
    assert_eq!(bench.dead().len(), 1, "copied once");
    assert!(bench.left().is_empty(), "deleted in the end");
}

#[tokio::test(start_paused = true)]
async fn a_record_that_is_too_large_is_left_and_reported() {
    let bench = Bench::new();
    bench.put("t", &["permanent"]);
    let consumer = bench
        .consumer()
        .dead_letter_queue(dlq())
        .max_message_bytes(200)
        .build()
        .unwrap();
    let summary = consumer.poll().await.unwrap();
    assert_eq!((summary.left, summary.dead_lettered), (1, 0));
    assert_eq!(
        bench.lab.kinds(),
        [ReportKind::Handler, ReportKind::DeadLetter]
    );
}
