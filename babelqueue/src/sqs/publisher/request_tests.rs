//! Requests: what goes to SQS, and what is refused before.

use super::*;
use crate::pipeline::Value;
use crate::sqs::publisher::retry::Retry;

pub(in crate::sqs::publisher) fn settings(fifo: bool) -> Settings {
    Settings {
        fifo,
        message_group_id: None,
        content_based_deduplication: false,
        lang: "rust".into(),
        max_message_bytes: 1_048_576,
        telemetry: Default::default(),
        read_queue_limit: false,
        retry: Retry::default(),
        #[cfg(feature = "payload-store")]
        offload: None,
    }
}

pub(in crate::sqs::publisher) fn frame(settings: &Settings) -> Frame<'_> {
    Frame {
        queue: ["orders", "orders.fifo"][usize::from(settings.fifo)],
        settings,
    }
}

fn draft() -> Draft {
    Draft::new(
        "urn:babel:orders:created",
        &serde_json::json!({ "order_id": 1042 }),
    )
    .expect("data")
}

pub(in crate::sqs::publisher) fn made(
    draft: Draft,
    settings: &Settings,
) -> Result<Request, PublishError> {
    let mut request = from_draft(draft, frame(settings))?;
    request.fit(settings, settings.max_message_bytes)?;
    Ok(request)
}

#[test]
fn a_plain_publish_has_the_six_attributes_and_nothing_else() {
    let request = made(draft(), &settings(false)).expect("a request");
    let listed = request.content.into_listed();
    let attributes: Vec<_> = listed
        .attributes
        .iter()
        .map(|a| (&*a.name, &*a.data_type))
        .collect();
    assert_eq!(
        attributes,
        [
            ("bq-job", "String"),
            ("bq-trace-id", "String"),
            ("bq-message-id", "String"),
            ("bq-schema-version", "Number"),
            ("bq-source-lang", "String"),
            ("bq-created-at", "Number"),
        ]
    );
    assert_eq!(request.delay_seconds, None);
    assert_eq!((request.group_id, request.deduplication_id), (None, None));
    assert!(
        listed.body.contains(r#""queue":"orders""#),
        "{}",
        listed.body
    );
    assert_eq!(listed.attributes[2].value, Value::Text(listed.message_id));
    assert_eq!(listed.attributes[1].value, Value::Text(listed.trace_id));
}

#[test]
fn fifo_needs_a_group_and_deduplicates_by_the_message_id() {
    let mut settings = settings(true);
    let error = made(draft(), &settings).expect_err("no group");
    assert!(
        matches!(error, PublishError::MissingGroup { .. }),
        "{error}"
    );

    settings.message_group_id = Some("all".to_owned());
    let request = made(draft(), &settings).expect("a request");
    assert_eq!(request.group_id.as_deref(), Some("all"));
    assert_eq!(
        request.deduplication_id.as_deref(),
        Some(request.content.message_id())
    );

    let mut own = draft();
    own.group_id = Some("g".to_owned());
    own.deduplication_id = Some("d".to_owned());
    let request = made(own, &settings).expect("a request");
    assert_eq!(request.group_id.as_deref(), Some("g"));
    assert_eq!(request.deduplication_id.as_deref(), Some("d"));

    settings.content_based_deduplication = true;
    let request = made(draft(), &settings).expect("a request");
    assert_eq!(request.deduplication_id, None);
}

#[test]
fn a_standard_queue_takes_a_group_but_no_deduplication_id() {
    let mut fair = draft();
    fair.group_id = Some("tenant".to_owned());
    let request = made(fair, &settings(false)).expect("a request");
    assert_eq!(request.group_id.as_deref(), Some("tenant"));
    let mut wrong = draft();
    wrong.deduplication_id = Some("d".to_owned());
    let error = made(wrong, &settings(false)).expect_err("no such thing");
    assert!(
        matches!(
            error,
            PublishError::Id {
                what: "MessageDeduplicationId",
                ..
            }
        ),
        "{error}"
    );
    let mut wrong = draft();
    wrong.group_id = Some("a b".to_owned());
    assert!(matches!(
        made(wrong, &settings(false)),
        Err(PublishError::Id { .. })
    ));
}

#[test]
fn a_foreign_id_that_sqs_refuses_is_hashed() {
    let body = r#"{"job":"urn:x","trace_id":"t","meta":{"id":"has blanks"}}"#.to_owned();
    let options = Options {
        group_id: Some("g".to_owned()),
        ..Options::default()
    };
    let request =
        from_encoded(body.clone(), options.clone(), frame(&settings(true))).expect("a request");
    let id = request.deduplication_id.expect("an id");
    assert!(
        id.len() == 64 && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')),
        "{id}"
    );
    assert_eq!(request.content.body(), body, "relayed byte for byte");
    let again = from_encoded(body, options, frame(&settings(true))).expect("a request");
    assert_eq!(
        again.deduplication_id,
        Some(id),
        "the same bytes, the same id"
    );
}

#[test]
fn c_080_the_limit_counts_body_and_attributes_to_the_byte() {
    let mut draft = draft();
    draft.headers.push(("k".to_owned(), "v".to_owned()));
    let request = made(draft.clone(), &settings(false)).expect("a request");
    let Listed {
        body, attributes, ..
    } = request.content.into_listed();
    let size = size_of_message(&body, &attributes);
    assert_eq!(request.size, size);
    // Name, `String` and value of the header count.
    let bare = size_of_message(&body, &attributes[..6]);
    assert_eq!(size - bare, 1 + 6 + 1);

    let limited = |bytes| {
        made(
            draft.clone(),
            &Settings {
                max_message_bytes: bytes,
                ..settings(false)
            },
        )
    };
    limited(size).expect("exactly at the limit");
    limited(size + 1).expect("one below");
    let error = limited(size - 1).expect_err("one above");
    let PublishError::TooLarge { actual, allowed } = error else {
        panic!("{error}")
    };
    assert_eq!((actual, allowed), (size, size - 1));
}

#[test]
fn c_066_refused_characters_in_a_contract_value_are_named() {
    let mut draft = draft();
    draft.trace_id = Some("ab\u{7}".to_owned());
    let error = made(draft, &settings(false)).expect_err("a control character");
    let PublishError::Character {
        field,
        character,
        position,
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!((field, character, position), ("bq-trace-id", '\u{7}', 2));
}

#[test]
fn c_066_the_body_carries_them_as_escapes() {
    let data = serde_json::json!({ "text": "\0\u{7}\u{fffe}\u{ffff}🦀\t\r\n" });
    let draft = Draft::new("urn:x", &data).expect("data");
    let request = made(draft, &settings(false)).expect("a request");
    assert_eq!(refused_character(request.content.body()), None);
}
