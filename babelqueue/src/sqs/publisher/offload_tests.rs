//! When a message is offloaded, and what goes out in its place.

use super::*;
use crate::message::Draft;
use crate::payload_store::{MemoryPayloadStore, Offload, Pointer, PointerFormat};
use crate::sqs::publisher::builder::Settings;
use crate::sqs::publisher::request::tests::{frame, made, settings};
use crate::sqs::publisher::request::{Options, from_encoded};

fn draft(text: &str, headers: usize) -> Draft {
    let data = serde_json::json!({ "text": text });
    let mut draft = Draft::new("urn:babel:orders:created", &data).expect("data");
    draft.headers = (0..headers)
        .map(|i| (format!("h{i}"), "v".to_owned()))
        .collect();
    draft
}

fn with(offload: Offload, max_message_bytes: usize) -> Settings {
    Settings {
        offload: Some(offload),
        max_message_bytes,
        ..settings(false)
    }
}

fn to_memory() -> Offload {
    Offload::to(MemoryPayloadStore::new())
}

fn pointer(request: &Request) -> Pointer {
    let parsed = Pointer::parse(request.content.body(), "none", None).expect("well-formed");
    parsed.expect("a pointer")
}

#[test]
fn c_080_a_message_is_offloaded_exactly_when_body_and_attributes_exceed_the_limit() {
    let draft = || draft(&"x".repeat(1_000), 1);
    let plain = made(draft(), &settings(false)).expect("a request");
    for (limit, offloaded) in [
        (plain.size - 1, true),
        (plain.size, false),
        (plain.size + 1, false),
    ] {
        let by_limit = with(to_memory(), limit);
        let by_threshold = with(to_memory().threshold(limit), 1_048_576);
        for settings in [by_limit, by_threshold] {
            let request = made(draft(), &settings).expect("a request");
            assert_eq!(request.offloading.is_some(), offloaded, "{limit}");
        }
    }
}

#[test]
fn the_stub_has_length_and_digest_and_the_attributes_stay() {
    let settings = with(to_memory().threshold(1), 1_048_576);
    let request = made(draft("x", 2), &settings).expect("a request");
    let pointer = pointer(&request);
    let offloading = request.offloading.as_ref().expect("offloaded");
    assert_eq!(pointer.location, offloading.location);
    assert!(pointer.length.is_some() && pointer.sha256.is_some());
    let listed = request.content.into_listed();
    let names: Vec<_> = listed.attributes.iter().map(|a| &*a.name).collect();
    assert_eq!(names[..2], ["bq-job", "bq-trace-id"]);
    assert_eq!(names.len(), 8);
    let size = size_of_message(&listed.body, &listed.attributes);
    assert_eq!(request.size, size, "what SQS counts is the pointer");
}

#[test]
fn the_extended_pointer_takes_a_place_for_its_size() {
    let offload = to_memory()
        .threshold(1)
        .pointer(PointerFormat::ExtendedClient);
    let settings = with(offload, 1_048_576);
    let request = made(draft("x", 3), &settings).expect("ten attributes");
    let attributes: Vec<_> = request.content.attributes().collect();
    assert_eq!(attributes.len(), 10);
    let size = attributes.last().expect("one");
    assert_eq!(
        (&*size.name, &*size.data_type),
        ("ExtendedPayloadSize", "Number")
    );
    assert_eq!(pointer(&request).format, PointerFormat::ExtendedClient);
    assert!(pointer(&request).sha256.is_some(), "in its key");

    let error = made(draft("x", 4), &settings).expect_err("eleven");
    let PublishError::TooManyHeaders { contract, names } = error else {
        panic!("{error}")
    };
    assert_eq!((contract, names.len()), (7, 4));

    // The library's own give way, and a header of that name does not count twice.
    let mut traced = draft("x", 3);
    traced
        .headers
        .push(("traceparent".into(), "00-1-2-01".into()));
    let request = made(traced, &settings).expect("ten attributes");
    let mut attributes = request.content.attributes();
    assert!(attributes.all(|a| a.name != "traceparent"));
    let mut own = draft("x", 3);
    own.headers.push(("ExtendedPayloadSize".into(), "7".into()));
    let request = made(own, &settings).expect("ten attributes");
    let sizes = request
        .content
        .attributes()
        .filter(|a| a.name == "ExtendedPayloadSize");
    assert_eq!(sizes.count(), 1);
}

#[test]
fn a_body_that_no_consumer_would_read_is_refused() {
    let settings = with(to_memory().threshold(1).max_bytes(1_000), 1_048_576);
    let error = made(draft(&"x".repeat(1_000), 0), &settings).expect_err("too large");
    assert!(error.is_too_large(), "{error}");
}

#[test]
fn content_is_deduplicated_by_content_though_pointers_differ() {
    let settings = Settings {
        fifo: true,
        content_based_deduplication: true,
        message_group_id: Some("g".to_owned()),
        ..with(to_memory().threshold(1), 1_048_576)
    };
    let body = r#"{"job":"urn:x","trace_id":"t","meta":{"id":"1"}}"#;
    let [first, second] = [(); 2].map(|()| {
        let relayed = from_encoded(body.to_owned(), Options::default(), frame(&settings));
        let mut request = relayed.expect("a request");
        request
            .fit(&settings, settings.max_message_bytes)
            .expect("offloaded");
        request
    });
    assert_ne!(first.content.body(), second.content.body());
    assert_eq!(first.deduplication_id, Some(sha256_hex(body.as_bytes())));
    assert_eq!(first.deduplication_id, second.deduplication_id);
}
