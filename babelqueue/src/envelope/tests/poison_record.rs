//! SPEC §1.9, §5.5: the record of a poison body, all 43 rows of the suite's table and more.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::super::{poison_attempts, poison_record};
use super::{BLOCK, block, parse};

fn record(body: &[u8]) -> String {
    poison_record(body, &block())
}

#[track_caller]
fn splices(body: &str) {
    let trimmed = body.trim_matches([' ', '\t', '\r', '\n']);
    let open = trimmed.strip_suffix('}').expect("an object");
    let comma = if open.trim_end() == "{" { "" } else { "," };
    let open = if comma.is_empty() { "{" } else { open };
    let expected = format!("{open}{comma}\"dead_letter\":{BLOCK}}}");
    assert_eq!(record(body.as_bytes()), expected);
}

#[track_caller]
fn wraps(body: &str) {
    let record = record(body.as_bytes());
    let mut parsed = parse(&record);
    let members = parsed.as_object_mut().expect("an object");
    assert_eq!(members.remove("raw"), Some(body.into()));
    assert_eq!(members.remove("dead_letter"), Some(parse(BLOCK)));
    assert!(members.is_empty(), "{record}");
}

#[track_caller]
fn encodes(body: &[u8], base64: &str) {
    let expected = format!(r#"{{"raw":"{base64}","raw_encoding":"base64","dead_letter":{BLOCK}}}"#);
    assert_eq!(record(body), expected);
}

#[test]
fn rows_1_to_5_objects_are_spliced() {
    splices("{}");
    splices(r#"{"urn":"urn:x","data":{}}"#);
    splices(r#"{"job":5}"#);
    splices(" \n{\"job\":5} \n");
    splices("{\"naïve\":\"☕ 漢字\"}");
    splices("\t{ \r\n }\r\n");
    splices("{\"job\":5 \n}");
}

#[test]
fn rows_6_to_19_everything_else_is_wrapped() {
    for body in [
        "",
        "hello",
        "grüße ☕",
        "line\n\ttab \"quoted\" back\\slash \u{7}\u{fffe}",
        "null",
        "42",
        "\"text\"",
        "true",
        "[]",
        r#"[{"job":"urn:x"}]"#,
        r#"{"job":"urn:x""#,
        r#"{"job":"x"}{"job":"y"}"#,
        "\u{feff}{\"job\":\"x\"}",
        r#"{"job":5,"dead_letter":{"reason":"failed"}}"#,
        r#"{"job":5,"dead_letter":null}"#,
        r#"{"job":5,"d\u0065ad_letter":5}"#,
    ] {
        wraps(body);
    }
    // A member of that name deeper down is no obstacle.
    splices(r#"{"data":{"dead_letter":1},"job":5}"#);
    splices(r#"{"Dead_letter":1}"#);
}

#[test]
fn rows_20_to_27_what_is_not_utf8_is_encoded() {
    encodes(b"\xFF", "/w==");
    encodes(b"\xE2\x82", "4oI=");
    encodes(b"\xFF\xFE\xFD", "//79");
    encodes(b"\xED\xA0\x80", "7aCA");
    encodes(b"\xC0\xAF", "wK8=");
    encodes(b"\xF4\x90\x80\x80", "9JCAgA==");
    for body in [&b"valid text \xFF"[..], b"{\"job\":\"\xFF\"}"] {
        encodes(body, &STANDARD.encode(body));
    }
}

#[test]
fn rows_28_to_36_every_spelling_survives_the_splice() {
    let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(600), "]".repeat(600));
    for body in [
        r#"{"s":"\ud83d\ude00"}"#,
        r#"{"job":"x","attempts":0,"data":{"n":1e400}}"#,
        r#"{"job":"x","attempts":0,"data":{"n":-1e400}}"#,
        r#"{"n":98765432109876543210}"#,
        r#"{"n":1e-400}"#,
        r#"{"n":0.1234567890123456789012345}"#,
        deep.as_str(),
        r#"{"job":"urn:x","job":5}"#,
        r#"{"job":"x","attempts":0,"data":{"k":1,"k":2}}"#,
    ] {
        splices(body);
    }
}

#[test]
fn rows_37_to_43_what_no_strict_reader_takes_is_wrapped() {
    for body in [
        r#"{"data":{"n":NaN}}"#,
        r#"{"data":{"n":Infinity}}"#,
        r#"{"data":{"n":-Infinity}}"#,
        r#"{"s":"\ud800"}"#,
        r#"{"s":"\udc00"}"#,
        r#"{"s":"\ud800\u0041"}"#,
        r#"{"\ud800":1}"#,
        // A wrong type in front of it does not hide it.
        r#"{"attempts":"x","s":"\ud800"}"#,
    ] {
        wraps(body);
    }
}

#[test]
fn what_sqs_refuses_is_escaped_in_the_wrapper() {
    let record = record("a\u{fffe}b\u{ffff}\u{1}".as_bytes());
    assert!(
        record.starts_with(r#"{"raw":"a\ufffeb\uffff\u0001","#),
        "{record}"
    );
}

#[test]
fn attempts_of_the_block() {
    for (body, count, attempts) in [
        (&br#"{"attempts":4}"#[..], None, 4),
        (br#"{"attempts":4}"#, Some("3"), 4),
        (br#"{"attempts":4}"#, Some("9"), 8),
        (br#"{"attempts":-4}"#, Some("1"), 0),
        (br#"{"attempts":1,"attempts":2}"#, None, 2),
        (br#"{"attempts":1,"attempts":"x"}"#, None, 0),
        (br#"{"attempts":"7"}"#, Some("2"), 1),
        (br#"{"attempts":7.0}"#, Some("2"), 1),
        (br#"{"attempts":7"#, Some("2"), 1),
        (b"\xFF", Some("5"), 4),
        (b"", None, 0),
        (b"[]", Some("x"), 0),
    ] {
        assert_eq!(poison_attempts(body, count), attempts, "{body:?} {count:?}");
    }
}
