//! SPEC §1.6, §2.10: which decoded envelopes may be handled.

use super::super::{Envelope, NotAccepted};
use super::{WHOLE, decode};

#[test]
fn a_whole_envelope_is_accepted() {
    assert_eq!(decode(WHOLE).accept(), Ok(()));
    assert!(decode(WHOLE).accepts());
}

#[test]
fn each_condition_is_named() {
    use NotAccepted::*;
    for (from, to, reason, pointer) in [
        (
            r#""schema_version":1"#,
            r#""schema_version":2"#,
            UnsupportedVersion(2),
            "/meta/schema_version",
        ),
        (
            r#""schema_version":1"#,
            r#""schema_version":0"#,
            UnsupportedVersion(0),
            "/meta/schema_version",
        ),
        (
            r#""schema_version":1"#,
            r#""schema_version":null"#,
            NoSchemaVersion,
            "/meta/schema_version",
        ),
        (
            r#""schema_version":1,"#,
            "",
            NoSchemaVersion,
            "/meta/schema_version",
        ),
        (r#""meta":{"#, r#""Meta":{"#, NoMeta, "/meta"),
        (r#""data":{"a":1}"#, r#""data":null"#, NoData, "/data"),
        (r#""data":{"a":1},"#, "", NoData, "/data"),
        (
            r#""attempts":0"#,
            r#""attempts":null"#,
            NoAttempts,
            "/attempts",
        ),
        (r#","attempts":0"#, "", NoAttempts, "/attempts"),
        (
            r#""trace_id":"t""#,
            r#""trace_id":null"#,
            NoTraceId,
            "/trace_id",
        ),
        (r#""trace_id":"t","#, "", NoTraceId, "/trace_id"),
        (
            r#""trace_id":"t""#,
            r#""trace_id":"""#,
            BlankTraceId,
            "/trace_id",
        ),
        (
            r#""trace_id":"t""#,
            r#""trace_id":" \t\n\u000b\f\r""#,
            BlankTraceId,
            "/trace_id",
        ),
    ] {
        assert!(WHOLE.contains(from), "{from}");
        let envelope = decode(&WHOLE.replacen(from, to, 1));
        let error = envelope.accept().expect_err(to);
        assert_eq!(error, reason);
        assert_eq!(error.pointer(), Some(pointer));
        assert_eq!(error.name(), "NotAccepted");
        assert!(!envelope.accepts());
    }
}

#[test]
fn the_version_comes_before_everything_else() {
    let envelope = Envelope::decode_lenient(r#"{"meta":{"schema_version":2}}"#).expect("decodes");
    assert_eq!(envelope.accept(), Err(NotAccepted::UnsupportedVersion(2)));
    let envelope = Envelope::decode_lenient("{}").expect("decodes");
    assert_eq!(envelope.accept(), Err(NotAccepted::NoIdentity));
}

#[test]
fn what_is_not_checked() {
    for (from, to) in [
        ("urn:x", "no urn at all"),
        (r#""lang":"php""#, r#""lang":"cobol""#),
        (r#""lang":"php""#, r#""lang":null"#),
        (r#""id":"i","#, ""),
        (r#","created_at":5"#, ""),
        (r#""attempts":0"#, r#""attempts":-9"#),
        (r#""trace_id":"t""#, "\"trace_id\":\"\u{2003}\""),
        (r#""job":"urn:x""#, r#""urn":"urn:x""#),
    ] {
        assert!(decode(&WHOLE.replacen(from, to, 1)).accepts(), "{to}");
    }
}
