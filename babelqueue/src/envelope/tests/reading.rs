//! Reading values out of an envelope, and strings of every length out of a body.

use std::borrow::Cow;

use serde::Deserialize;

use super::super::{Envelope, integer_string, is_blank, trim};
use super::{WHOLE, decode};

#[test]
fn a_whole_envelope_is_read() {
    let envelope = decode(WHOLE);
    assert_eq!(envelope.urn(), "urn:x");
    assert_eq!(envelope.trace_id(), Some("t"));
    assert_eq!(envelope.data_json(), Some(r#"{"a":1}"#));
    assert_eq!(envelope.attempts(), Some(0));
    assert_eq!(envelope.dead_letter(), None);
    let meta = envelope.meta();
    assert!(meta.is_present());
    assert_eq!(
        (meta.id(), meta.queue(), meta.lang()),
        (Some("i"), Some("q"), Some("php"))
    );
    assert_eq!(
        (meta.schema_version(), meta.created_at()),
        (Some(1), Some(5))
    );
    assert_eq!(envelope.body(), WHOLE);
    assert_eq!(envelope.into_body(), WHOLE);
}

#[test]
fn payloads_borrow_from_the_body() {
    #[derive(Deserialize)]
    struct Shipped<'a> {
        #[serde(borrow)]
        carrier: Cow<'a, str>,
        #[serde(borrow)]
        note: Cow<'a, str>,
    }
    let envelope = decode(r#"{"job":"x","data":{"carrier":"dhl","note":"a\"b"}}"#);
    let shipped: Shipped<'_> = envelope.data().expect("read");
    assert!(matches!(shipped.carrier, Cow::Borrowed("dhl")));
    assert!(matches!(&shipped.note, Cow::Owned(note) if note == "a\"b"));
}

#[test]
fn missing_data_reads_as_an_empty_object() {
    #[derive(Deserialize)]
    struct Lenient {
        note: Option<String>,
    }
    for body in [r#"{"job":"x"}"#, r#"{"job":"x","data":null}"#] {
        assert_eq!(decode(body).data::<Lenient>().expect("read").note, None);
        assert!(
            decode(body)
                .data::<serde_json::Map<_, _>>()
                .expect("read")
                .is_empty()
        );
    }
    assert!(
        decode(r#"{"job":"x","data":{"note":5}}"#)
            .data::<Lenient>()
            .is_err()
    );
}

#[test]
fn extensions_are_found_by_their_unescaped_name_and_the_last_wins() {
    let envelope = decode(
        r#"{"job":"x","z":1,"\u007a" : [2] ,"meta":{"a":1,"b":{"c":"\n"},"\u0061":1.50,"ext":{"v":1,"v":2}}}"#,
    );
    assert_eq!(envelope.member("z"), Some("[2]"));
    assert_eq!(envelope.member("y"), None);
    let meta = envelope.meta();
    assert_eq!(meta.get("a"), Some("1.50"));
    assert_eq!(meta.get("b"), Some(r#"{"c":"\n"}"#));
    assert_eq!(meta.get("c"), None);
    assert_eq!(meta.ext("v"), Some("2"));
    assert_eq!(meta.ext("w"), None);
    assert_eq!(
        decode(r#"{"job":"x","meta":{"ext":5}}"#).meta().ext("v"),
        None
    );
    assert_eq!(decode(r#"{"job":"x","meta":null}"#).meta().get("a"), None);
    assert_eq!(decode(r#"{"job":"x"}"#).meta().iter().count(), 0);
    let members: Vec<_> = meta.iter().collect();
    assert_eq!(members.len(), 4);
    assert_eq!(members[2], (Cow::from("a"), "1.50"));
}

#[test]
fn folded_members_are_not_found_under_their_old_names() {
    let folded = decode(r#"{"job":5,"urn":"u"}"#);
    assert_eq!((folded.member("urn"), folded.member("job")), (None, None));
    assert_eq!(decode(r#"{"job":"j"}"#).member("job"), Some(r#""j""#));
}

#[test]
fn strings_of_every_length_end_where_they_end() {
    for length in (0..300).chain([1023, 1024, 1025, 5000]) {
        let plain = "x".repeat(length);
        let wide = "é".repeat(length);
        for text in [&plain, &wide] {
            let envelope = decode(&format!(r#"{{"{text}":"{text}","job":"u{text}"}}"#));
            assert_eq!(envelope.urn().len(), text.len() + 1);
            // An escape, and a control character, behind the text.
            let escaped = decode(&format!(r#"{{"job":"u{text}\"{text}"}}"#));
            assert_eq!(escaped.urn(), format!("u{text}\"{text}"));
            for control in ['\0', '\n', '\u{1f}'] {
                assert!(
                    Envelope::decode(format!("{{\"job\":\"u{text}{control}{text}\"}}")).is_err()
                );
            }
            assert!(Envelope::decode(format!(r#"{{"job":"u{text}"#)).is_err());
            assert!(Envelope::decode(format!(r#"{{"job":"u{text}\"#)).is_err());
        }
    }
    // Neighbours of the special characters are ordinary, DEL and beyond included.
    let ordinary: String = (0x20..0x250)
        .filter_map(char::from_u32)
        .filter(|c| !"\"\\".contains(*c))
        .collect();
    assert_eq!(
        decode(&format!(r#"{{"job":"{ordinary}"}}"#)).urn(),
        ordinary
    );
}

#[test]
fn the_blank_set_has_six_members() {
    let blank: Vec<u32> = (0..0x3001)
        .filter(|c| char::from_u32(*c).is_some_and(|c| is_blank(c.encode_utf8(&mut [0; 4]))))
        .collect();
    assert_eq!(blank, [0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x20]);
    assert!(is_blank(""));
    assert_eq!(trim(" \u{b}a b\u{c} "), "a b");
    assert_eq!(trim(" \t "), "");
    assert_eq!(trim("\u{feff} a"), "\u{feff} a");
}

#[test]
fn what_is_logged_holds_no_payload() {
    let envelope = decode(&WHOLE.replace(r#"{"a":1}"#, r#"{"card":"4111"}"#));
    let text = format!("{envelope:?}");
    assert!(text.contains("urn:x") && !text.contains("4111"), "{text}");
}

#[derive(Debug, PartialEq, Deserialize, serde::Serialize)]
struct Ids {
    #[serde(with = "integer_string")]
    id: u64,
    #[serde(default, with = "integer_string::option")]
    parent: Option<i64>,
}

#[test]
fn integers_as_strings_are_read_in_both_forms() {
    let max = Ids {
        id: u64::MAX,
        parent: Some(i64::MIN),
    };
    for json in [
        r#"{"id":"18446744073709551615","parent":"-9223372036854775808"}"#,
        r#"{"id":18446744073709551615,"parent":-9223372036854775808}"#,
    ] {
        assert_eq!(serde_json::from_str::<Ids>(json).expect("read"), max);
    }
    assert_eq!(
        serde_json::to_string(&max).expect("written"),
        r#"{"id":"18446744073709551615","parent":"-9223372036854775808"}"#
    );
    for json in [r#"{"id":"7"}"#, r#"{"id":7,"parent":null}"#] {
        assert_eq!(
            serde_json::from_str::<Ids>(json).expect("read"),
            Ids {
                id: 7,
                parent: None
            }
        );
    }
    for json in [
        r#"{"id":7.0}"#,
        r#"{"id":1e3}"#,
        r#"{"id":-1}"#,
        r#"{"id":"-1"}"#,
        r#"{"id":"7 "}"#,
        r#"{"id":""}"#,
        r#"{"id":18446744073709551616}"#,
        r#"{"id":"18446744073709551616"}"#,
        r#"{"id":null}"#,
        r#"{"id":true}"#,
        r#"{"parent":7}"#,
    ] {
        assert!(serde_json::from_str::<Ids>(json).is_err(), "{json}");
    }
}
