//! SPEC §1.5: the identity fold, repeated and forbidden members, and the warnings they give.

use super::super::{Envelope, Warning, WarningKind};
use super::{decode, parse};

const VALID: &str = r#""urn:a""#;
const BLANKS: [&str; 3] = [r#""""#, r#""  ""#, r#"" \t\n\u000b\f\r""#];
const NOT_STRINGS: [&str; 5] = ["null", "5", "true", "[]", "{}"];

fn body(job: Option<&str>, urn: Option<&str>) -> String {
    let mut members = Vec::new();
    members.extend(job.map(|job| format!(r#""job":{job}"#)));
    members.extend(urn.map(|urn| format!(r#""urn":{urn}"#)));
    format!("{{{}}}", members.join(","))
}

fn pointers(envelope: &Envelope) -> Vec<&'static str> {
    let warnings = envelope.warnings().iter();
    warnings.map(|warning| warning.pointer).collect()
}

/// The emitted envelope has the identity in `job` and nowhere else.
fn emits(envelope: &Envelope, urn: &str) {
    let emitted = parse(&envelope.encode().expect("encodes"));
    assert_eq!(emitted["job"], urn);
    assert_eq!(emitted.get("urn"), None);
}

#[test]
fn row_1_a_valid_job_alone() {
    let envelope = decode(&body(Some(VALID), None));
    assert_eq!(envelope.urn(), "urn:a");
    assert!(envelope.warnings().is_empty());
    emits(&envelope, "urn:a");
}

#[test]
fn row_2_a_valid_job_drops_any_urn() {
    for urn in [r#""urn:b""#].iter().chain(&BLANKS).chain(&NOT_STRINGS) {
        let envelope = decode(&body(Some(VALID), Some(urn)));
        assert_eq!(envelope.urn(), "urn:a");
        let kind = WarningKind::UrnDropped;
        let pointer = "/urn";
        assert_eq!(envelope.warnings(), [Warning { kind, pointer }]);
        emits(&envelope, "urn:a");
    }
}

#[test]
fn row_3_an_absent_or_blank_job_yields_to_urn() {
    for job in [None].into_iter().chain(BLANKS.map(Some)) {
        let envelope = decode(&body(job, Some(VALID)));
        assert_eq!(envelope.urn(), "urn:a");
        assert!(envelope.warnings().is_empty(), "{job:?}");
        emits(&envelope, "urn:a");
    }
}

#[test]
fn row_4_a_job_that_is_no_string_yields_to_urn_with_a_warning() {
    for job in NOT_STRINGS {
        let envelope = decode(&body(Some(job), Some(VALID)));
        assert_eq!(envelope.urn(), "urn:a");
        let kind = WarningKind::JobIgnored;
        let pointer = "/job";
        assert_eq!(envelope.warnings(), [Warning { kind, pointer }]);
        emits(&envelope, "urn:a");
    }
}

#[test]
fn row_5_no_valid_one_is_no_identity() {
    let jobs = [None]
        .into_iter()
        .chain(BLANKS.map(Some))
        .chain(NOT_STRINGS.map(Some));
    for job in jobs {
        for urn in [None]
            .into_iter()
            .chain(BLANKS.map(Some))
            .chain(NOT_STRINGS.map(Some))
        {
            let body = body(job, urn);
            assert!(Envelope::decode(body.as_str()).is_err(), "{body}");
            let lenient = Envelope::decode_lenient(body.as_str()).expect("lenient");
            assert_eq!(lenient.urn(), "");
            assert!(!lenient.accepts());
            // Without an identity there is nothing to fold.
            assert_eq!(lenient.encode().expect("encodes"), body);
        }
    }
}

#[test]
fn lenient_decoding_differs_in_nothing_else() {
    for body in [
        "",
        "[]",
        r#"{"attempts":"x"}"#,
        r#"{"x":"\ud800"}"#,
        r#"{"data":{"n":1e400}}"#,
    ] {
        let strict = Envelope::decode(body).expect_err(body);
        assert_eq!(Envelope::decode_lenient(body).expect_err(body), strict);
    }
}

#[test]
fn identities_are_verbatim() {
    let envelope = decode(r#"{"job":" urn:acme:a\t","trace_id":" t "}"#);
    assert_eq!(envelope.urn(), " urn:acme:a\t");
    assert_eq!(envelope.trace_id(), Some(" t "));
    assert_eq!(envelope.encode().expect("encodes"), envelope.body());
}

#[test]
fn names_and_values_are_compared_unescaped() {
    let envelope = decode(
        r#"{"\u006aob":"urn:\u00e9\ud83d\ude00\"\\\/\b\f\n\r\t","m\u0065ta":{"\u0069d":"i\u0031"}}"#,
    );
    assert_eq!(envelope.urn(), "urn:é😀\"\\/\u{8}\u{c}\n\r\t");
    assert_eq!(envelope.meta().id(), Some("i1"));
}

#[test]
fn the_last_of_repeated_members_wins_whole() {
    let envelope = decode(
        r#"{"job":"a","job":"b","data":{"x":1},"data":{"y":2},"attempts":1,"attempts":2,
            "meta":{"id":"1","queue":"q"},"meta":{"id":"2","id":"3"},"trace_id":"s","trace_id":"t"}"#,
    );
    assert_eq!(envelope.urn(), "b");
    assert_eq!(envelope.data_json(), Some(r#"{"y":2}"#));
    assert_eq!(envelope.attempts(), Some(2));
    assert_eq!(envelope.meta().id(), Some("3"));
    assert_eq!(envelope.meta().queue(), None);
    assert_eq!(envelope.trace_id(), Some("t"));

    let nulled = decode(
        r#"{"job":"a","data":{},"data":null,"attempts":1,"attempts":null,"meta":{},"meta":null,
            "trace_id":"t","trace_id":null,"dead_letter":{},"dead_letter":null}"#,
    );
    assert_eq!(nulled.data_json(), None);
    assert_eq!(nulled.attempts(), None);
    assert!(!nulled.meta().is_present());
    assert_eq!(nulled.trace_id(), None);
    assert_eq!(nulled.dead_letter(), None);
}

#[test]
fn forbidden_members_are_dropped_with_one_warning_each() {
    let envelope = decode(
        r#"{"job":"a","timestamp":1,"timestamp":2,"meta":{"ts":1,"source":null},
            "meta":{"attempts":{},"max_retries":3,"ts":2,"kept":1}}"#,
    );
    assert_eq!(
        pointers(&envelope),
        [
            "/timestamp",
            "/meta/max_retries",
            "/meta/attempts",
            "/meta/source",
            "/meta/ts"
        ]
    );
    for key in ["attempts", "max_retries", "ts", "source"] {
        assert_eq!(envelope.meta().get(key), None, "{key}");
    }
    assert_eq!(envelope.member("timestamp"), None);
    assert_eq!(envelope.meta().get("kept"), Some("1"));
    let names: Vec<_> = envelope.meta().iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["kept"]);
    assert_eq!(
        parse(&envelope.encode().expect("encodes")),
        parse(r#"{"job":"a","meta":{"kept":1}}"#)
    );
}

#[test]
fn look_alikes_elsewhere_are_not_forbidden() {
    let body = r#"{"job":"a","Timestamp":1,"data":{"timestamp":1,"urn":2,"meta":{"ts":1}},"meta":{"timestamp":1,"urn":1,"ext":{"ts":1}}}"#;
    let envelope = decode(body);
    assert!(envelope.warnings().is_empty());
    assert_eq!(envelope.encode().expect("encodes"), body);
}
