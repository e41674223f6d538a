//! Offloading: what goes to the store and what goes to the queue, and that it arrives.

use babelqueue::local::Operation;
use babelqueue::payload_store::{Offload, PointerFormat};
use babelqueue::prelude::*;
use babelqueue::sqs::SqsPublisherBuilder;
use babelqueue::{BufferedPublisher, PublishError};
use serde_json::Value;

use crate::support::{Bench, Note, SECOND, Whim};

const MIB: usize = 1_048_576;

fn publisher(bench: &Bench) -> SqsPublisherBuilder {
    SqsPublisher::builder(bench.sqs.client(), &bench.url)
}

fn offload(bench: &Bench) -> Offload {
    Offload::to(bench.store.clone()).timeout(5 * SECOND)
}

/// A message of so many MiB and a bit.
fn large(name: &str, mib: usize) -> Note {
    Note::new(name, "x".repeat(mib * MIB))
}

#[tokio::test(start_paused = true)]
async fn what_sqs_does_not_take_arrives_all_the_same() {
    for format in [
        PointerFormat::ContentLocation,
        PointerFormat::ExtendedClient,
    ] {
        let bench = Bench::new();
        let publisher = publisher(&bench).offload(offload(&bench).pointer(format));
        let publisher = publisher.build().unwrap();
        large("three", 3)
            .publish(&publisher)
            .header("tenant", "acme")
            .await
            .unwrap();
        Note::new("small", "x").publish(&publisher).await.unwrap();

        let left = bench.left();
        let inline = left
            .iter()
            .filter(|message| message.body.contains("urn:test:note"));
        assert_eq!(inline.count(), 1, "what fits stays");
        let pointer = left
            .iter()
            .find(|message| !message.body.contains("urn:test:note"));
        let pointer = pointer.expect("a pointer");
        let attribute = |name: &str| pointer.attributes.get(name)?.text().map(str::to_owned);
        assert_eq!(attribute("bq-job").as_deref(), Some(Note::URN));
        assert_eq!(attribute("tenant").as_deref(), Some("acme"));
        let body: Value = serde_json::from_str(&pointer.body).unwrap();
        let length = match format {
            PointerFormat::ExtendedClient => {
                assert_eq!(
                    body[0],
                    "software.amazon.payloadoffloading.PayloadS3Pointer"
                );
                assert_eq!(body[1]["s3BucketName"], "memory");
                attribute("ExtendedPayloadSize")
                    .unwrap()
                    .parse::<usize>()
                    .unwrap()
            }
            _ => {
                assert_eq!(body["contentS3Location"]["bucketName"], "memory");
                assert_eq!(body["contentS3Location"]["region"], "local");
                usize::try_from(body["contentLength"].as_u64().unwrap()).unwrap()
            }
        };
        assert!(length > 3 * MIB);

        let retrieval = bench.retrieval().delete_when_handled(true);
        bench
            .run(bench.plain().payload_store(retrieval), SECOND)
            .await;
        assert_eq!(bench.log.sorted(), ["small", "three"]);
        assert_eq!(
            bench.log.text("three").map(|text| text.len()),
            Some(3 * MIB)
        );
        assert!(bench.left().is_empty() && bench.store.memory.is_empty());
        assert_eq!(bench.log.errors(), []);
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_and_a_buffer_offload_too() {
    let bench = Bench::fifo();
    let publisher = publisher(&bench).offload(offload(&bench)).build().unwrap();
    let mut notes: Vec<_> = (0..25)
        .map(|i| Note::new(&format!("n{i:02}"), "x"))
        .collect();
    for i in [0, 3, 24] {
        notes[i] = large(&format!("n{i:02}"), 1);
    }
    let sent = publisher.publish_batch(&notes).await.unwrap();
    assert_eq!(sent.len(), 25);
    // Pointers are small: the batches are as full as any.
    assert_eq!(bench.sqs.calls().count(Operation::SendMessageBatch), 3);

    let buffered = BufferedPublisher::new(publisher);
    large("z", 2).publish(&buffered).await.unwrap();
    buffered.close().await.unwrap();
    assert_eq!(bench.store.memory.len(), 4);

    bench.run(bench.consumer(), 5 * SECOND).await;
    assert_eq!(bench.log.sorted().len(), 26);
    assert_eq!(bench.log.text("n24").map(|text| text.len()), Some(MIB));
    assert_eq!(bench.log.text("z").map(|text| text.len()), Some(2 * MIB));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_stored_is_not_sent() {
    for whim in [Whim::Refuse, Whim::Hang] {
        let bench = Bench::new();
        bench.store.whim("put", whim);
        let publisher = publisher(&bench).offload(offload(&bench)).build().unwrap();
        let error = large("n", 1).publish(&publisher).await.unwrap_err();
        assert!(matches!(error, PublishError::Offload { .. }), "{error}");
        assert!(error.is_refused() && error.is_retryable() && !error.is_unknown());
        assert!(error.to_string().contains("memory/payloads/"), "{error}");

        let notes = [Note::new("small", "x"), large("large", 1)];
        let error = publisher.publish_batch(&notes).await.unwrap_err();
        let failures: Vec<_> = error.failures().collect();
        assert!(matches!(
            failures[0],
            (0, PublishError::NotAttempted { .. })
        ));
        assert!(matches!(failures[1], (1, PublishError::Offload { .. })));
        assert_eq!(bench.left().len(), 0);

        bench.store.calm();
        assert_eq!(error.retry().await.unwrap().len(), 2);
        assert_eq!((bench.left().len(), bench.store.memory.len()), (2, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_sends_the_same_pointer_and_stores_nothing_twice() {
    let bench = Bench::fifo();
    let sends = bench.sqs.faults().on(Operation::SendMessage);
    let lost = sends.times(2).lose_response();
    let publisher = publisher(&bench).offload(offload(&bench)).build().unwrap();
    large("n", 1).publish(&publisher).await.unwrap();
    assert_eq!(lost.hits(), 2);
    assert_eq!((bench.left().len(), bench.store.memory.len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_relayed_envelope_is_offloaded_byte_for_byte() {
    let bench = Bench::new();
    let publisher = publisher(&bench)
        .offload(offload(&bench).threshold(1))
        .build()
        .unwrap();
    let encoded = crate::support::envelope(&Note::new("relayed", "as it is"));
    publisher.relay(&*encoded).await.unwrap();
    bench.run(bench.consumer(), SECOND).await;
    assert_eq!(bench.log.text("relayed").as_deref(), Some("as it is"));
}

#[tokio::test]
async fn c_082_a_threshold_above_what_sqs_takes_is_refused_when_it_is_set() {
    let bench = Bench::new();
    let build = |threshold, max_message_bytes| {
        let offload = offload(&bench).threshold(threshold);
        let publisher = publisher(&bench)
            .max_message_bytes(max_message_bytes)
            .offload(offload);
        publisher
            .build()
            .map(drop)
            .map_err(|error| error.to_string())
    };
    assert_eq!(build(1, MIB), Ok(()));
    assert_eq!(build(MIB, MIB), Ok(()));
    assert_eq!(build(65_536, 65_536), Ok(()));
    for (threshold, limit) in [(2 * MIB, MIB), (0, MIB), (65_537, 65_536)] {
        let error = build(threshold, limit).unwrap_err();
        assert!(error.contains("Offload::threshold"), "{error}");
        assert!(error.contains(&threshold.to_string()), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn c_082_the_lower_limit_of_a_queue_is_heeded() {
    let bench = Bench::new();
    let url = bench
        .sqs
        .create_queue_with("narrow", [("MaximumMessageSize", "65536")])
        .unwrap();
    let narrow = || SqsPublisher::builder(bench.sqs.client(), &url);
    let note = Note::new("n", "x".repeat(70_000));
    let error = note.publish(&narrow().build().unwrap()).await.unwrap_err();
    assert!(error.is_too_large(), "{error}");
    for builder in [
        narrow().max_message_bytes(65_536),
        narrow().read_queue_limit(true),
    ] {
        let publisher = builder.offload(offload(&bench)).build().unwrap();
        note.publish(&publisher).await.unwrap();
    }
    assert_eq!(bench.store.memory.len(), 2);
}
