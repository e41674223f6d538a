//! The dead-letter copy, kind by kind.

use super::*;
use crate::envelope::Reason;

const BODY: &str = r#"{"job":"urn:x","trace_id":"t-1","data":{"n":1.50},"meta":{"id":"m-1","queue":"orders","lang":"go","schema_version":1,"created_at":5},"attempts":0}"#;

fn block(reason: Reason) -> DeadLetter {
    let mut block = DeadLetter::new(reason, "orders", 1_700_000_000_000);
    block.error = Some("boom".to_owned());
    block.exception = Some("Boom".to_owned());
    block.attempts = 3;
    block
}

fn record(riders: usize) -> Record {
    let mut attributes = vec![Attribute::text("bq-job", "String", "urn:stale")];
    attributes.extend((0..riders).map(|i| Attribute::text(format!("h{i}"), "String.label", "v")));
    Record {
        message_id: "sqs-1".to_owned(),
        attributes,
        ..Record::default()
    }
}

fn to(fifo: bool, max_bytes: usize) -> Destination<'static> {
    Destination {
        fifo,
        source_queue: "orders.fifo",
        max_bytes,
    }
}

fn annotated(record: &Record, to: &Destination<'_>) -> Result<DeadLetterMessage, CopyError> {
    let envelope = Envelope::decode(BODY).expect("a good body");
    let original = Original::Annotated {
        envelope: &envelope,
        attempts: 3,
    };
    dead_letter_message(&original, block(Reason::Failed), record, to)
}

#[test]
fn an_annotated_copy_projects_anew_and_keeps_riders() {
    let copy = annotated(&record(2), &to(false, 1 << 20)).expect("a copy");
    let names: Vec<_> = copy
        .attributes
        .iter()
        .map(|attribute| &*attribute.name)
        .collect();
    assert_eq!(names[..6], CONTRACT_ATTRIBUTES);
    assert_eq!(names[6..], ["h0", "h1"]);
    assert_eq!(copy.attributes[0].as_text(), Some("urn:x"));
    assert_eq!(copy.attributes[6].data_type, "String.label");
    let expected = BODY.replace("\"attempts\":0}", "\"attempts\":3,\"dead_letter\":{\"reason\":\"failed\",\"error\":\"boom\",\"exception\":\"Boom\",\"failed_at\":1700000000000,\"original_queue\":\"orders\",\"attempts\":3,\"lang\":\"rust\"}}");
    assert_eq!(copy.body, expected);
    assert_eq!((copy.group_id, copy.deduplication_id), (None, None));
}

#[test]
fn c_060_dead_lettering_stays_within_ten_attributes() {
    let copy = annotated(&record(4), &to(false, 1 << 20)).expect("a copy");
    assert_eq!((copy.attributes.len(), copy.dropped.len()), (10, 0));
    let copy = annotated(&record(9), &to(false, 1 << 20)).expect("a copy");
    assert_eq!(copy.attributes.len(), 10);
    assert_eq!(copy.dropped, ["h4", "h5", "h6", "h7", "h8"]);
}

/// What the application put there stays; the library's own headers give way (SPEC §2.2).
#[test]
fn c_060_the_librarys_headers_give_way_on_a_copy() {
    let mut record = record(3);
    for name in ["bq-replay-bypass", "traceparent", "tracestate", "z"] {
        let at = record
            .attributes
            .partition_point(|other| &*other.name < name);
        let header = Attribute::text(name, "String", "v");
        record.attributes.insert(at, header);
    }
    let copy = annotated(&record, &to(false, 1 << 20)).expect("a copy");
    let riders: Vec<_> = copy.attributes[6..].iter().map(|a| &*a.name).collect();
    assert_eq!(riders, ["h0", "h1", "h2", "z"]);
    let library = ["bq-replay-bypass", "traceparent", "tracestate"];
    assert_eq!(copy.dropped, library);
}

#[test]
fn c_060_raw_and_poison_copies_keep_all_ten_verbatim() {
    let mut record = record(8);
    record.attributes.push(Attribute {
        name: "bin".into(),
        data_type: "Binary.png".into(),
        value: Value::Binary(vec![0, 1]),
    });
    for original in [Original::Raw(BODY), Original::Poison("oops")] {
        let copy = dead_letter_message(
            &original,
            block(Reason::Poison),
            &record,
            &to(false, 1 << 20),
        )
        .expect("a copy");
        assert_eq!(copy.attributes, record.attributes);
        assert!(copy.dropped.is_empty());
    }
}

#[test]
fn c_072_labels_and_binary_values_survive() {
    let mut record = record(0);
    record.attributes.push(Attribute {
        name: "bin".into(),
        data_type: "Binary.png".into(),
        value: Value::Binary(vec![0, 1]),
    });
    record
        .attributes
        .push(Attribute::text("num", "Number.custom.long", "1e40"));
    let copy = annotated(&record, &to(false, 1 << 20)).expect("a copy");
    assert_eq!(copy.attributes[6..], record.attributes[1..]);
}

#[test]
fn c_011_a_fifo_copy_has_the_original_group_and_the_sqs_message_id() {
    let mut record = record(0);
    let copy = annotated(&record, &to(true, 1 << 20)).expect("a copy");
    assert_eq!(copy.group_id.as_deref(), Some("orders.fifo"));
    assert_eq!(copy.deduplication_id.as_deref(), Some("sqs-1"));
    record.group_id = Some("g-7".to_owned());
    let copy = annotated(&record, &to(true, 1 << 20)).expect("a copy");
    assert_eq!(copy.group_id.as_deref(), Some("g-7"));
    let copy = annotated(&record, &to(false, 1 << 20)).expect("a copy");
    assert_eq!(
        (copy.group_id.as_deref(), copy.deduplication_id),
        (Some("g-7"), None)
    );
}

#[test]
fn a_record_over_the_limit_loses_its_error_text_then_gives_up() {
    let record = record(0);
    let full = annotated(&record, &to(false, 1 << 20)).expect("a copy");
    let size = size_of_message(&full.body, &full.attributes);
    let exact = annotated(&record, &to(false, size)).expect("a copy");
    assert_eq!(exact, full);
    // `"boom"` is six bytes and `null` four.
    for less in [1, 2] {
        let copy = annotated(&record, &to(false, size - less)).expect("a copy");
        assert!(copy.body.contains(r#""error":null"#), "{}", copy.body);
    }
    let error = annotated(&record, &to(false, size - 3)).expect_err("too large");
    assert!(matches!(error, CopyError::TooLarge { .. }), "{error}");
}

#[test]
fn contract_values_that_sqs_refuses_are_left_out_and_named() {
    let body = BODY.replace("t-1", r"t\u0007");
    let envelope = Envelope::decode(body).expect("a good body");
    let original = Original::Annotated {
        envelope: &envelope,
        attempts: 1,
    };
    let copy = dead_letter_message(
        &original,
        block(Reason::Failed),
        &record(0),
        &to(false, 1 << 20),
    )
    .expect("a copy");
    assert_eq!(copy.dropped, ["bq-trace-id"]);
    assert_eq!(copy.attributes.len(), 5);
}
