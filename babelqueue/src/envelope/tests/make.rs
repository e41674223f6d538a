//! SPEC §1.3, §1.4: what is made, in which form, and what is refused.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::json;

use super::super::{EncodeError, Envelope, EnvelopeBuilder, MakeError, new_id, seed_ids};
use super::{decode, parse};

fn builder() -> EnvelopeBuilder {
    builder_of("urn:x")
}

fn builder_of(urn: &'static str) -> EnvelopeBuilder {
    Envelope::builder(urn).id("m").created_at(5).trace_id("t")
}

fn refused(builder: EnvelopeBuilder) -> MakeError {
    builder.build().expect_err("refused")
}

fn is_uuid_v4(text: &str) -> bool {
    let id = uuid::Uuid::try_parse(text).expect("a uuid");
    id.get_version_num() == 4 && id.hyphenated().to_string() == text
}

#[test]
fn the_members_stand_in_the_order_of_the_contract() {
    let envelope = builder()
        .queue("orders.fifo")
        .data(&json!({ "a": "é/\"" }))
        .meta("zulu", &true)
        .meta("ext", &json!({ "acme": [1, 2] }))
        .extra("kept", "[1.50]")
        .build()
        .expect("made");
    assert_eq!(
        envelope.body(),
        r#"{"job":"urn:x","trace_id":"t","data":{"a":"é/\""},"meta":{"id":"m","queue":"orders.fifo","lang":"rust","schema_version":1,"created_at":5,"zulu":true,"ext":{"acme":[1,2]}},"attempts":0,"kept":[1.50]}"#
    );
    assert_eq!(envelope.encode().expect("encodes"), envelope.body());
    assert_eq!(envelope.meta().ext("acme"), Some("[1,2]"));
    assert_eq!(envelope.member("kept"), Some("[1.50]"));
    assert!(envelope.accepts());
}

#[test]
fn what_is_not_given_is_filled_in() {
    let before = std::time::SystemTime::now();
    let envelope = Envelope::builder("urn:x").build().expect("made");
    let meta = envelope.meta();
    assert_eq!((meta.queue(), meta.lang()), (Some("default"), Some("rust")));
    assert_eq!(envelope.data_json(), Some("{}"));
    assert!(is_uuid_v4(meta.id().expect("an id")));
    assert!(is_uuid_v4(envelope.trace_id().expect("a trace id")));
    assert_ne!(meta.id(), envelope.trace_id());
    let created = u64::try_from(meta.created_at().expect("a time")).expect("after 1970");
    let before = before
        .duration_since(std::time::UNIX_EPOCH)
        .expect("after 1970");
    assert!(u128::from(created) >= before.as_millis());
    assert!(u128::from(created) < before.as_millis() + 60_000);
}

#[test]
fn ids_repeat_under_a_seed_and_only_then() {
    seed_ids(Some(42));
    let seeded = [new_id(), new_id()];
    seed_ids(Some(42));
    assert_eq!([new_id(), new_id()], seeded);
    seed_ids(None);
    let free = new_id();
    assert!(is_uuid_v4(&free) && !seeded.contains(&free));
}

#[test]
fn urn_and_trace_id_are_trimmed_of_the_blank_set_only() {
    for (given, kept) in [
        (" \t\n\r\u{c}\u{b}urn:a \u{b}", "urn:a"),
        ("\u{a0}urn:a\u{3000}", "\u{a0}urn:a\u{3000}"),
        ("\u{2003}", "\u{2003}"),
        ("\u{1c}", "\u{1c}"),
    ] {
        let envelope = Envelope::builder(given)
            .trace_id(given)
            .build()
            .expect("made");
        assert_eq!((envelope.urn(), envelope.trace_id()), (kept, Some(kept)));
        assert_eq!(decode(envelope.body()).urn(), kept);
    }
    for blank in ["", " \t\n\r\u{c}\u{b}"] {
        let error = refused(Envelope::builder(blank));
        assert!(matches!(error, MakeError::BlankUrn));
        assert_eq!((error.pointer(), error.name()), (Some("/job"), "MakeError"));
        let envelope = Envelope::builder("urn:x")
            .trace_id(blank)
            .build()
            .expect("made");
        assert!(is_uuid_v4(envelope.trace_id().expect("a trace id")));
    }
}

#[test]
fn the_queue_is_neither_trimmed_nor_checked() {
    for queue in ["", " ", "ö\"q"] {
        let envelope = builder().queue(queue).build().expect("made");
        assert_eq!(envelope.meta().queue(), Some(queue));
        assert_eq!(decode(envelope.body()).meta().queue(), Some(queue));
    }
}

#[test]
fn data_is_an_object_and_nothing_else() {
    #[derive(Serialize)]
    struct Unit;
    #[derive(Serialize)]
    struct Empty {}
    for envelope in [
        builder().data(&Unit),
        builder().data(&()),
        builder().data(&Empty {}),
        builder().data(&BTreeMap::<String, u8>::new()),
        builder().data(&json!({})),
        builder().data_json(" { } "),
    ] {
        assert_eq!(envelope.build().expect("made").data_json(), Some("{}"));
    }
    for (builder, kind) in [
        (builder().data(&json!(null)), "null"),
        (builder().data(&None::<u8>), "null"),
        (builder().data(&json!([])), "an array"),
        (builder().data("text"), "a string"),
        (builder().data(&7), "a number"),
        (builder().data(&true), "a boolean"),
        (builder().data_json("[]"), "an array"),
    ] {
        match refused(builder) {
            MakeError::DataNotObject { found } => assert_eq!(found, kind),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn a_unit_payload_is_read_back() {
    #[derive(Debug, PartialEq, serde::Deserialize, Serialize)]
    struct Ping;
    let envelope = builder().data(&Ping).build().expect("made");
    assert_eq!(envelope.data::<Ping>().expect("read"), Ping);
    assert_eq!(
        decode(r#"{"job":"x","data":{"later":1}}"#)
            .data::<Ping>()
            .expect("read"),
        Ping
    );
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Shape {
    Struct { n: f64 },
    Tuple(u8, f64),
    Newtype(f64),
}

#[test]
fn numbers_without_a_json_form_are_refused_and_named() {
    #[derive(Serialize)]
    struct Deep<'a> {
        lines: Vec<BTreeMap<&'a str, f64>>,
    }
    #[derive(Serialize)]
    struct Flat {
        #[serde(flatten)]
        rest: BTreeMap<u8, Option<f32>>,
    }
    let nan = f64::NAN;
    let deep = Deep {
        lines: vec![BTreeMap::new(), BTreeMap::from([("a/b~c", f64::INFINITY)])],
    };
    let flat = Flat {
        rest: BTreeMap::from([(7, Some(f32::NEG_INFINITY))]),
    };
    for (builder, pointer) in [
        (builder().data(&deep), "/data/lines/1/a~1b~0c"),
        (builder().data(&flat), "/data/7"),
        (
            builder().data(&BTreeMap::from([("s", Shape::Struct { n: nan })])),
            "/data/s/struct/n",
        ),
        (
            builder().data(&BTreeMap::from([("s", Shape::Tuple(1, nan))])),
            "/data/s/tuple/1",
        ),
        (
            builder().data(&BTreeMap::from([("s", Shape::Newtype(nan))])),
            "/data/s/newtype",
        ),
        (builder().data(&nan), "/data"),
        (builder().meta("ratio", &[1.0, nan]), "/meta/ratio/1"),
    ] {
        let error = refused(builder);
        assert!(matches!(error, MakeError::Serialize { .. }), "{error}");
        assert_eq!(error.pointer(), Some(pointer));
        let cause = std::error::Error::source(&error)
            .expect("a cause")
            .to_string();
        assert!(cause.contains("NaN"), "{cause}");
    }
    for builder in [
        builder().data_json(r#"{"n":1e400}"#),
        builder().meta_extra("n", "[1e400]"),
        builder().extra("n", "-1e400"),
    ] {
        assert!(matches!(refused(builder), MakeError::NotFinite { .. }));
    }
}

#[test]
fn every_kind_of_value_is_written_as_serde_json_writes_it() {
    #[derive(Serialize)]
    struct All {
        integers: (i8, i16, i32, i64, i128, u8, u16, u32, u64, u128),
        floats: (f32, f64),
        text: (char, &'static str, String),
        bytes: Vec<u8>,
        options: [Option<u8>; 2],
        unit: (),
        map: BTreeMap<i32, bool>,
        shapes: Vec<Shape>,
        raw: Box<serde_json::value::RawValue>,
        number: serde_json::Number,
        address: std::net::IpAddr,
    }
    let all = All {
        integers: (
            -1,
            -2,
            -3,
            i64::MIN,
            i128::MIN,
            1,
            2,
            3,
            u64::MAX,
            u128::MAX,
        ),
        floats: (0.1, 1e308),
        text: ('\u{1}', "\"\\\n", "漢字".into()),
        bytes: vec![0, 255],
        options: [None, Some(1)],
        unit: (),
        map: BTreeMap::from([(1, true), (2, false)]),
        shapes: vec![
            Shape::Struct { n: 1.5 },
            Shape::Tuple(1, 2.0),
            Shape::Newtype(-0.0),
        ],
        raw: serde_json::value::RawValue::from_string("[1.50]".into()).expect("raw"),
        number: 7.into(),
        address: [127, 0, 0, 1].into(),
    };
    let envelope = builder().data(&all).build().expect("made");
    let expected = serde_json::to_string(&all).expect("serialises");
    assert_eq!(envelope.data_json(), Some(expected.as_str()));
}

#[test]
fn json_text_is_checked_and_compacted() {
    let envelope = builder()
        .data_json(" { \"a b\" : [ 1.50 , \"\\\" x\" ] , \"\\\\\" : null }\n")
        .meta_extra("ext", "\t{ } ")
        .build()
        .expect("made");
    assert_eq!(
        envelope.data_json(),
        Some(r#"{"a b":[1.50,"\" x"],"\\":null}"#)
    );
    assert_eq!(envelope.meta().get("ext"), Some("{}"));
    for (builder, pointer) in [
        (builder().data_json("{"), "/data"),
        (builder().data_json("{} {}"), "/data"),
        (builder().meta_extra("a/b", "nope"), "/meta/a~1b"),
        (builder().extra("x~", ""), "/x~0"),
    ] {
        let error = refused(builder);
        assert!(matches!(error, MakeError::NotJson { .. }), "{error}");
        assert_eq!(error.pointer(), Some(pointer));
    }
    let error = refused(builder().data_json(r#"{"a":"\ud800"}"#));
    assert!(matches!(error, MakeError::LoneSurrogate { .. }));
}

#[test]
fn keys_of_meta_are_guarded() {
    for key in ["id", "queue", "lang", "schema_version", "created_at"] {
        let error = refused(builder().meta(key, &1));
        assert!(matches!(error, MakeError::CoreKey { .. }), "{error}");
        assert_eq!(error.pointer(), Some(format!("/meta/{key}").as_str()));
    }
    for key in ["max_retries", "attempts", "source", "ts"] {
        let error = refused(builder().meta(key, &1));
        assert!(matches!(error, MakeError::ForbiddenKey { .. }), "{error}");
        assert_eq!(error.pointer(), Some(format!("/meta/{key}").as_str()));
    }
    let error = refused(builder().meta("ext", &1).meta("ext", &1));
    assert!(matches!(error, MakeError::RepeatedKey { .. }), "{error}");
    assert_eq!(error.pointer(), Some("/meta/ext"));
    for key in ["job", "trace_id", "data", "meta", "attempts", "dead_letter"] {
        assert!(matches!(
            refused(builder().extra(key, "1")),
            MakeError::CoreKey { .. }
        ));
    }
    // Case matters, and so does the level.
    assert!(
        builder()
            .meta("ID", &1)
            .meta("timestamp", &1)
            .meta("urn", &1)
            .build()
            .is_ok()
    );
}

#[test]
fn forbidden_extras_are_refused_in_order_whatever_their_origin() {
    let all = [
        ("/urn", None),
        ("/meta/ts", Some("ts")),
        ("/meta/source", Some("source")),
        ("/meta/attempts", Some("attempts")),
        ("/meta/max_retries", Some("max_retries")),
        ("/timestamp", None),
    ];
    // Each one that is added is tested before those that are there.
    for count in 1..=all.len() {
        let given = all[..count].iter();
        let error = refused(
            given.fold(builder(), |builder, (pointer, meta)| match meta {
                Some(key) => builder.meta_extra(*key, "null"),
                None => builder.extra(&pointer[1..], "null"),
            }),
        );
        let expected = all[count - 1].0;
        assert!(matches!(
            error,
            MakeError::Encode(EncodeError::Forbidden { pointer }) if pointer == expected
        ));
        assert_eq!(error.pointer(), Some(expected));
    }
}

#[test]
fn the_first_failure_is_the_one_that_is_told() {
    let error = refused(Envelope::builder(" ").meta("ts", &1).data(&7));
    assert_eq!(error.pointer(), Some("/meta/ts"));
}

#[test]
fn a_payload_of_any_size_stands_in_the_same_envelope() {
    for length in [0, 4_085, 4_086, 4_087, 8_192, 70_000] {
        // Without, and with something that is longer than its text says.
        for urn in ["urn:x", "urn:\"\u{1}\u{ffff}\""] {
            let data = json!({ "a": "é".repeat(length / 2) });
            let made = builder_of(urn).data(&data).meta("m", &1).extra("e", "2");
            let made = made.build().expect("made");
            let small = builder_of(urn).meta("m", &1).extra("e", "2");
            let small = small.build().expect("made");
            let expected = small.body().replacen("{}", &data.to_string(), 1);
            assert_eq!(made.body(), expected);
            assert_eq!(made.data_json(), Some(data.to_string().as_str()));
            assert_eq!(format!("{made:?}"), format!("{:?}", decode(&expected)));
        }
    }
}

#[test]
fn a_made_envelope_is_what_its_body_decodes_to() {
    let made = Envelope::builder("urn:\"x\"\u{ffff}")
        .queue("q\n")
        .trace_id("t\\")
        .data(&json!({ "n": [1, { "m": null }] }))
        .meta("ext", &json!({ "v": "\u{fffe}" }))
        .extra("e", "1")
        .build()
        .expect("made");
    let decoded = decode(made.body());
    assert_eq!(format!("{made:?}"), format!("{decoded:?}"));
    assert_eq!(decoded.urn(), "urn:\"x\"\u{ffff}");
    assert_eq!(decoded.data_json(), made.data_json());
    assert_eq!(parse(decoded.meta().ext("v").expect("ext")), "\u{fffe}");
    assert!(decoded.warnings().is_empty());
}
