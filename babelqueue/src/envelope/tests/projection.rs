//! SPEC §2.1 and §3.4: the attributes beside the body, going out and coming in.

use super::super::{AttributeKind, CONTRACT_ATTRIBUTES, Headers, projection, projection_of};
use super::{WHOLE, decode};

fn table(body: &str) -> Vec<(&'static str, AttributeKind, String)> {
    let envelope = decode(body);
    let projected = projection(&envelope);
    // Bytes that are sent as they are project the same.
    assert_eq!(projection_of(body.as_bytes()), projected);
    assert_eq!(projected.len(), projected.iter().count());
    let attributes = projected.into_iter();
    attributes
        .map(|a| (a.name, a.kind, a.value.into_owned()))
        .collect()
}

fn names(body: &str) -> Vec<&'static str> {
    table(body).into_iter().map(|(name, ..)| name).collect()
}

#[test]
fn a_whole_envelope_projects_six_attributes_in_order() {
    let expected = [
        ("bq-job", AttributeKind::String, "urn:x"),
        ("bq-trace-id", AttributeKind::String, "t"),
        ("bq-message-id", AttributeKind::String, "i"),
        ("bq-schema-version", AttributeKind::Number, "1"),
        ("bq-source-lang", AttributeKind::String, "php"),
        ("bq-created-at", AttributeKind::Number, "5"),
    ];
    assert_eq!(
        table(WHOLE),
        expected.map(|(name, kind, value)| (name, kind, value.to_owned()))
    );
    assert_eq!(names(WHOLE), CONTRACT_ATTRIBUTES);
    assert_eq!(AttributeKind::String.as_str(), "String");
    assert_eq!(AttributeKind::Number.as_str(), "Number");
}

#[test]
fn empty_null_and_absent_sources_are_left_out() {
    assert_eq!(
        names(r#"{"urn":"u","trace_id":"","meta":{"id":null,"lang":""}}"#),
        ["bq-job"]
    );
    assert_eq!(
        names(r#"{"job":"u","trace_id":" ","meta":{"schema_version":7,"created_at":null}}"#),
        ["bq-job", "bq-trace-id", "bq-schema-version"]
    );
    assert_eq!(names(r#"{"job":"u","meta":null}"#), ["bq-job"]);
}

#[test]
fn bytes_of_any_kind_project_what_can_be_read() {
    for body in [&b"\xFF"[..], b"", b"[]", b"{", b"{}"] {
        assert!(projection_of(body).is_empty());
    }
    let odd = br#"{"job":"u","trace_id":7,"meta":{"id":[],"lang":"go","schema_version":1.0,"created_at":"x"}}"#;
    let projected = projection_of(odd);
    let values: Vec<_> = projected.iter().map(|a| (a.name, &*a.value)).collect();
    assert_eq!(values, [("bq-job", "u"), ("bq-source-lang", "go")]);
}

#[test]
fn headers_hold_what_has_text() {
    let headers = Headers::from_iter([
        (String::from("z"), String::from("1")),
        (String::from("a"), String::from("2")),
        (String::from("empty"), String::new()),
        (String::from("z"), String::from("3")),
    ]);
    assert_eq!(headers.iter().collect::<Vec<_>>(), [("a", "2"), ("z", "3")]);
    assert_eq!((headers.len(), headers.is_empty()), (2, false));
    assert_eq!((headers.get("z"), headers.get("Z")), (Some("3"), None));
    assert!(Headers::default().is_empty());
}

#[test]
fn a_replay_is_marked_by_a_rider_with_text() {
    assert!(Headers::from_iter([("bq-replay-bypass", "1")]).is_replay());
    assert!(Headers::from_iter([("bq-replay-bypass", "0")]).is_replay());
    assert!(!Headers::from_iter([("bq-replay-bypass", "")]).is_replay());
    assert!(!Headers::default().is_replay());
}

/// A relay sends such bytes on; what stands in them is no text, so it is not repeated as one.
#[test]
fn half_a_surrogate_pair_is_not_projected_as_something_else() {
    let body =
        r#"{"job":"urn:x","trace_id":"t\ud800","meta":{"id":"\udc00","lang":"\ud83d\ude00"}}"#;
    let names = |body: &str| -> Vec<_> {
        let projected = projection_of(body.as_bytes()).into_iter();
        projected.map(|attribute| attribute.name).collect()
    };
    assert_eq!(names(body), ["bq-job", "bq-source-lang"]);
    assert_eq!(names(r#"{"job":"\ud800","urn":"urn:x"}"#), [""; 0]);
}
