//! SPEC §1.8: which bodies are poison, and for which reason.

use super::super::{DecodeError, Envelope, verdict};

fn reason(body: &str) -> DecodeError {
    let error = verdict(body.as_bytes()).expect_err(body);
    // Decoding agrees, to the word.
    assert_eq!(Envelope::decode(body).expect_err(body), error);
    error
}

fn passes(body: &str) {
    assert_eq!(verdict(body.as_bytes()), Ok(()), "{body}");
    assert!(!Envelope::decode(body).expect(body).urn().is_empty());
}

#[test]
fn invalid_utf8_is_poison_anywhere() {
    for body in [
        &b"\xFF"[..],
        b"{\"job\":\"urn:\xE2\x82\"}",
        b"{\"job\":\"urn:x\",\"\xC0\xAF\":1}",
        b"{\"job\":\"urn:x\"}\xED\xA0\x80",
    ] {
        let error = verdict(body).expect_err("poison");
        assert!(matches!(error, DecodeError::InvalidUtf8 { .. }));
        assert_eq!(Envelope::decode_bytes(body).expect_err("poison"), error);
    }
}

#[test]
fn anything_but_one_json_value_is_poison() {
    for (body, offset) in [
        ("", 0),
        (" \t\r\n", 4),
        ("\u{feff}{\"job\":\"x\"}", 0),
        ("\u{b}{}", 0),
        ("not-json", 0),
        ("{'a':1}", 1),
        ("{\"job\":\"urn:a\"", 14),
        ("{\"job\":\"urn:a", 13),
        ("{\"job\":\"x\"} trailing", 12),
        ("{\"job\":\"x\"}}", 11),
        ("{\"job\":\"x\"}{\"job\":\"y\"}", 11),
        ("{\"job\":\"x\",}", 11),
        ("{,\"job\":\"x\"}", 1),
        ("{\"job\" \"x\"}", 7),
        ("{\"job\":\"x\" \"urn\":1}", 11),
        ("{\"job\":}", 7),
        ("{\"n\":NaN}", 5),
        ("{\"n\":Infinity}", 5),
        ("{\"n\":-Infinity}", 6),
        ("{\"n\":01}", 6),
        ("{\"n\":-}", 6),
        ("{\"n\":1.}", 7),
        ("{\"n\":.5}", 5),
        ("{\"n\":1e}", 7),
        ("{\"n\":+1}", 5),
        ("{\"n\":nul}", 5),
        ("{\"n\":True}", 5),
        ("{\"n\":[1,]}", 8),
        ("{\"n\":[1 2]}", 8),
        ("{\"n\":[1}}", 7),
        ("{\"n\":{\"a\":1]}", 11),
        ("{\"n\":{\"a\"}}", 9),
        ("{\"n\":{1:2}}", 6),
        ("{\"n\":\"\\x\"}", 6),
        ("{\"n\":\"\\u12g4\"}", 6),
        ("{\"n\":\"a\tb\"}", 7),
        ("{\"n\":\"a\0b\"}", 7),
        ("[", 1),
    ] {
        match reason(body) {
            DecodeError::NotJson { offset: at, .. } => assert_eq!(at, offset, "{body}"),
            other => panic!("{other:?}: {body}"),
        }
    }
}

#[test]
fn a_fault_of_syntax_outranks_a_wrong_type_before_it() {
    let error = reason(r#"{"job":"x","attempts":"1","#);
    assert!(matches!(error, DecodeError::NotJson { .. }));
}

#[test]
fn a_root_that_is_no_object_is_poison() {
    for body in [
        "null",
        "42",
        "true",
        "\"text\"",
        "[]",
        " [1] ",
        "[{\"job\":\"x\"}]",
    ] {
        assert_eq!(reason(body), DecodeError::NotAnObject, "{body}");
    }
}

#[test]
fn an_unpaired_surrogate_is_poison_anywhere() {
    for body in [
        r#"{"job":"urn:x","n":"\ud800"}"#,
        r#"{"job":"urn:x","n":"\udc00"}"#,
        r#"{"job":"urn:x","n":"\ud800\u0041"}"#,
        r#"{"job":"urn:x","n":"\ud800\ud800"}"#,
        r#"{"job":"urn:x","n":"\ud83d \ude00"}"#,
        r#"{"job":"urn:x","\uD800":1}"#,
        r#"{"job":"urn:x","data":{"a":[{"\udfff":1}]}}"#,
        r#"{"job":"urn:\ud800"}"#,
    ] {
        assert!(
            matches!(reason(body), DecodeError::LoneSurrogate { .. }),
            "{body}"
        );
    }
    passes(r#"{"job":"urn:x","n":"\ud83d\ude00\uD83D\uDE00"}"#);
    passes(r#"{"job":"urn:x","n":"\\ud800"}"#);
}

#[test]
fn a_body_without_identity_is_poison_and_the_last_duplicate_decides() {
    for body in [
        "{}",
        r#"{"x":1}"#,
        r#"{"JOB":"urn:x"}"#,
        r#"{"job":"urn:x","job":5}"#,
        r#"{"urn":"urn:x","urn":null}"#,
        r#"{"job":" \t\n\u000b\f\r"}"#,
    ] {
        let error = reason(body);
        assert_eq!(error, DecodeError::NoIdentity, "{body}");
        assert_eq!(error.pointer(), Some("/job"));
    }
    passes(r#"{"job":5,"job":"urn:x"}"#);
    passes(r#"{"j\u006fb":"urn:x"}"#);
    passes("{\"job\":\"\u{2003}\"}");
}

/// Every member whose type the contract fixes, with how to nest it.
const STRINGS: [&str; 9] = [
    "/trace_id",
    "/meta/id",
    "/meta/queue",
    "/meta/lang",
    "/dead_letter/reason",
    "/dead_letter/error",
    "/dead_letter/exception",
    "/dead_letter/original_queue",
    "/dead_letter/lang",
];
const INTEGERS: [&str; 5] = [
    "/attempts",
    "/meta/schema_version",
    "/meta/created_at",
    "/dead_letter/failed_at",
    "/dead_letter/attempts",
];
const OBJECTS: [&str; 3] = ["/data", "/meta", "/dead_letter"];

fn body_with(pointer: &str, values: &[&str]) -> String {
    let mut path = pointer.split('/').skip(1);
    let top = path.next().expect("a member");
    let members = |name: &str| -> String {
        let members: Vec<_> = values.iter().map(|v| format!("\"{name}\":{v}")).collect();
        members.join(",")
    };
    match path.next() {
        Some(name) => format!(r#"{{"job":"urn:x","{top}":{{{}}}}}"#, members(name)),
        None => format!(r#"{{"job":"urn:x",{}}}"#, members(top)),
    }
}

#[test]
fn known_members_have_a_type_in_every_occurrence_and_null_is_tolerated() {
    let (string, integer, object) = (r#""s""#, "7", "{}");
    let other = ["true", "false", "[]", "1.5"];
    let table = [
        (&STRINGS[..], string, [integer, object]),
        (&INTEGERS[..], integer, [string, object]),
        (&OBJECTS[..], object, [string, integer]),
    ];
    for (pointers, right, wrong) in table {
        for pointer in pointers {
            passes(&body_with(pointer, &[right]));
            passes(&body_with(pointer, &["null"]));
            for wrong in wrong.into_iter().chain(other) {
                for values in [
                    &[wrong][..],
                    &[wrong, right],
                    &[right, wrong],
                    &[wrong, "null"],
                ] {
                    let body = body_with(pointer, values);
                    assert_eq!(reason(&body).pointer(), Some(*pointer), "{body}");
                }
            }
        }
    }
}

#[test]
fn every_occurrence_of_meta_and_dead_letter_is_checked() {
    for top in ["meta", "dead_letter"] {
        let body = format!(r#"{{"job":"x","{top}":{{"lang":5}},"{top}":null}}"#);
        let pointer = format!("/{top}/lang");
        assert_eq!(reason(&body).pointer(), Some(pointer.as_str()));
    }
}

#[test]
fn integers_are_literals_within_64_bits() {
    for pointer in INTEGERS {
        for right in [
            "0",
            "-0",
            "-1",
            "9223372036854775807",
            "-9223372036854775808",
        ] {
            passes(&body_with(pointer, &[right]));
        }
        for wrong in [
            "1.0",
            "1e0",
            "1E2",
            "1e400",
            "9223372036854775808",
            "-9223372036854775809",
            "100000000000000000000000000000",
        ] {
            assert!(
                matches!(
                    reason(&body_with(pointer, &[wrong])),
                    DecodeError::WrongType { .. }
                ),
                "{pointer} {wrong}"
            );
        }
    }
}

#[test]
fn numbers_in_data_are_finite_doubles_in_every_occurrence() {
    let long = "9".repeat(309);
    let beyond = format!("1{}", "0".repeat(309));
    let small = format!("0.{}1", "0".repeat(400));
    for number in ["1e400", "-1e400", "1E+309", &beyond, &long] {
        for body in [
            format!(r#"{{"job":"x","data":{{"n":{number}}}}}"#),
            format!(r#"{{"job":"x","data":{{"n":[1,{{"m":{number}}}]}}}}"#),
            format!(r#"{{"job":"x","data":{{"n":{number}}},"data":{{}}}}"#),
        ] {
            let error = reason(&body);
            assert!(matches!(error, DecodeError::NotFinite { .. }), "{body}");
            assert_eq!(error.pointer(), Some("/data"));
        }
    }
    for number in [
        "1e308",
        "12345678901234567890",
        "1e-400",
        "-0.0",
        &small,
        &long[..308],
    ] {
        passes(&format!(r#"{{"job":"x","data":{{"n":{number}}}}}"#));
    }
    // Unknown members, in `meta` as well, are checked for syntax only.
    passes(r#"{"job":"x","n":1e400,"meta":{"n":1e400},"dead_letter":{"n":1e400}}"#);
}

#[test]
fn what_is_not_poison() {
    for body in [
        r#"{"job":"urn:x","data":null,"meta":null,"attempts":null,"dead_letter":null,"trace_id":null}"#,
        r#"{"job":"urn:x","attempts":-5}"#,
        r#"{"job":"urn:x","meta":{"schema_version":99}}"#,
        r#"{"job":"urn:x","Data":5,"META":5,"meta":{"ID":5,"Queue":[]}}"#,
        r#"{"job":"urn:x","timestamp":"x","meta":{"max_retries":"x","attempts":"y","source":5,"ts":[]}}"#,
        r#"{"job":"urn:x","data":{"meta":5,"job":5,"attempts":"x"},"extra":{"meta":5}}"#,
        " \t\r\n{ \"job\" : \"urn:x\" } \t\r\n",
    ] {
        passes(body);
    }
}

#[test]
fn errors_name_the_place_and_never_quote_the_body() {
    let error = reason(r#"{"job":"x","meta":{"created_at":"secret"}}"#);
    let text = error.to_string();
    assert!(text.contains("/meta/created_at"), "{text}");
    assert!(!text.contains("secret"), "{text}");
    assert_eq!(error.name(), "DecodeError");
}

#[test]
fn an_undecodable_body_comes_back() {
    let body = String::from(r#"{"job":5}"#);
    let back = Envelope::try_decode(body.clone()).expect_err("poison");
    assert_eq!(back.body, body);
    assert_eq!(back.error, DecodeError::NoIdentity);
    assert!(!format!("{back:?}").contains("job\":5"));
}
