//! Properties that hold for any body: agreement with `serde_json` on what JSON is, with a slow
//! model on what poison is, and the fidelity of every rewrite.

use proptest::collection::vec;
use proptest::prelude::*;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::super::{
    DecodeError, Envelope, Patch, is_blank, poison_record, projection, projection_of, verdict,
};
use super::{block, decode, parse};

/// JSON as it is spelled, repeated members included.
#[derive(Clone, Debug)]
enum Json {
    Token(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn write(&self, out: &mut String, blank: &str) {
        match self {
            Self::Token(token) => out.push_str(token),
            Self::Text(text) => out.push_str(&Value::from(text.as_str()).to_string()),
            Self::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    out.push_str(blank);
                    item.write(out, blank);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    out.push_str(blank);
                    out.push_str(&Value::from(name.as_str()).to_string());
                    out.push_str(blank);
                    out.push(':');
                    value.write(out, blank);
                    out.push_str(blank);
                }
                out.push('}');
            }
        }
    }

    fn text(&self, blank: &str) -> String {
        let mut out = String::new();
        self.write(&mut out, blank);
        out
    }

    fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    fn last(&self, name: &str) -> Option<&Self> {
        let mut members = self.members().iter().rev();
        members.find(|(key, _)| key == name).map(|(_, value)| value)
    }

    fn is_null(&self) -> bool {
        matches!(self, Self::Token(token) if token == "null")
    }

    fn is_integer(&self) -> bool {
        matches!(self, Self::Token(token) if token.parse::<i64>().is_ok())
    }

    fn is_identity(&self) -> bool {
        matches!(self, Self::Text(text) if !is_blank(text))
    }

    fn is_finite(&self) -> bool {
        match self {
            Self::Token(token) => token.parse::<f64>().map_or(true, f64::is_finite),
            Self::Text(_) => true,
            Self::Array(items) => items.iter().all(Self::is_finite),
            Self::Object(members) => members.iter().all(|(_, value)| value.is_finite()),
        }
    }
}

/// SPEC §1.8 once more, as slowly and plainly as possible.
fn is_fine(root: &Json) -> bool {
    let typed = |path: &str, value: &Json| match path {
        "trace_id"
        | "meta.id"
        | "meta.queue"
        | "meta.lang"
        | "dead_letter.reason"
        | "dead_letter.error"
        | "dead_letter.exception"
        | "dead_letter.original_queue"
        | "dead_letter.lang" => matches!(value, Json::Text(_)),
        "attempts"
        | "meta.schema_version"
        | "meta.created_at"
        | "dead_letter.failed_at"
        | "dead_letter.attempts" => value.is_integer(),
        "data" => matches!(value, Json::Object(_)) && value.is_finite(),
        "meta" | "dead_letter" => matches!(value, Json::Object(_)),
        _ => true,
    };
    let well_typed = root.members().iter().all(|(name, value)| {
        let inner = value
            .members()
            .iter()
            .all(|(key, inner)| inner.is_null() || typed(&format!("{name}.{key}"), inner));
        (value.is_null() || typed(name, value)) && inner
    });
    let identity = ["job", "urn"]
        .iter()
        .any(|name| root.last(name).is_some_and(Json::is_identity));
    matches!(root, Json::Object(_)) && well_typed && identity
}

fn scalar() -> impl Strategy<Value = Json> {
    let token = prop::sample::select(vec![
        "null",
        "true",
        "false",
        "0",
        "-0",
        "7",
        "1.0",
        "1e2",
        "-1.50",
        "1e400",
        "1e-400",
        "9223372036854775807",
        "9223372036854775808",
        "12345678901234567890",
    ]);
    let text = prop_oneof![
        Just(String::new()),
        Just(" \t".to_owned()),
        Just("urn:x".to_owned()),
        ".{0,40}",
    ];
    prop_oneof![
        token.prop_map(|token| Json::Token(token.to_owned())),
        text.prop_map(Json::Text),
    ]
}

fn name() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "job",
        "urn",
        "trace_id",
        "data",
        "meta",
        "attempts",
        "dead_letter",
        "timestamp",
        "id",
        "queue",
        "lang",
        "schema_version",
        "created_at",
        "max_retries",
        "source",
        "ts",
        "reason",
        "error",
        "exception",
        "failed_at",
        "original_queue",
        "JOB",
        "",
    ]);
    prop_oneof![8 => known.prop_map(str::to_owned), 1 => ".{0,12}"]
}

fn json() -> impl Strategy<Value = Json> {
    scalar().prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Json::Array),
            vec((name(), inner), 0..6).prop_map(Json::Object),
        ]
    })
}

/// Objects that are envelopes more often than not.
fn body() -> impl Strategy<Value = Json> {
    let member = prop_oneof![
        3 => (name(), json()),
        2 => Just(("job".to_owned(), Json::Text("urn:x".into()))),
        1 => Just(("urn".to_owned(), Json::Text("urn:y".into()))),
        1 => Just(("attempts".to_owned(), Json::Token("3".into()))),
        1 => vec((name(), scalar()), 0..5).prop_map(|m| ("meta".to_owned(), Json::Object(m))),
        1 => vec((name(), scalar()), 0..5).prop_map(|m| ("dead_letter".to_owned(), Json::Object(m))),
        1 => vec((name(), json()), 0..3).prop_map(|m| ("data".to_owned(), Json::Object(m))),
    ];
    vec(member, 0..8).prop_map(Json::Object)
}

fn blank() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", " ", "\n\t", "\r\n  "])
}

/// Text that is JSON now and then, and close to it otherwise.
fn near_json() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\"a\"",
        "\"job\"",
        "\"\\u12\"",
        "\\",
        "\\n",
        "\\ud83d",
        "\\ude00",
        "0",
        "1",
        "-",
        ".",
        "e",
        "+",
        "1.5e-3",
        "true",
        "null",
        "nul",
        " ",
        "\n",
        "\u{b}",
        "é",
        "\u{7}",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ]);
    let pieces = vec(piece, 0..24).prop_map(|pieces| pieces.concat());
    let broken = (body(), blank(), any::<prop::sample::Index>(), any::<char>()).prop_map(
        |(json, blank, at, with)| {
            let text = json.text(blank);
            let at = at.index(text.chars().count() + 1);
            let (head, tail): (Vec<_>, Vec<_>) =
                text.chars().enumerate().partition(|(i, _)| *i < at);
            let head = head.into_iter().map(|(_, c)| c);
            head.chain([with])
                .chain(tail.into_iter().skip(1).map(|(_, c)| c))
                .collect()
        },
    );
    prop_oneof![pieces, broken]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn what_json_is_agrees_with_serde_json(text in near_json()) {
        let strict = serde_json::from_str::<IgnoredAny>(&text).is_ok();
        let ours = !matches!(verdict(text.as_bytes()), Err(DecodeError::NotJson { .. }));
        prop_assert_eq!(ours, strict);
    }

    #[test]
    fn what_poison_is_agrees_with_the_model(json in body(), blank in blank()) {
        let text = json.text(blank);
        let verdict = verdict(text.as_bytes());
        prop_assert_eq!(verdict.is_ok(), is_fine(&json), "{} {:?}", text, verdict);
        prop_assert_eq!(Envelope::decode(text).err(), verdict.err());
    }

    #[test]
    fn a_record_is_one_object_that_keeps_the_body(text in near_json()) {
        let record = poison_record(text.as_bytes(), &block());
        serde_json::from_str::<IgnoredAny>(&record).expect("a record");
        let trimmed = text.trim_matches([' ', '\t', '\r', '\n']);
        let spliced = trimmed.strip_suffix('}').is_some_and(|open| record.starts_with(open));
        prop_assert!(spliced || parse(&record)["raw"] == text.as_str() || trimmed.len() < 8);
        let lenient = Envelope::decode_lenient(record).map(|record| record.dead_letter());
        // The record of a body that is poison by the type of a member is poison again.
        prop_assert!(lenient.is_err() || lenient == Ok(Some(block())));
    }

    #[test]
    fn bytes_of_any_kind_are_recorded(body in vec(any::<u8>(), 0..64)) {
        let record = poison_record(&body, &block());
        prop_assert!(verdict(&body).is_err() || !body.is_empty());
        serde_json::from_str::<Value>(&record).expect("a record");
    }

    #[test]
    fn rewrites_change_what_they_say_and_nothing_else(json in body(), blank in blank(), attempts: i64) {
        prop_assume!(is_fine(&json));
        let text = json.text(blank);
        let envelope = decode(&text);
        let encoded = envelope.encode().expect("encodes");
        if envelope.warnings().is_empty() && json.last("urn").is_none() {
            prop_assert_eq!(&encoded, &text);
        }
        // What was encoded once is stable, and says the same.
        let again = decode(&encoded);
        prop_assert!(again.warnings().iter().all(|warning| warning.pointer == "/job"));
        prop_assert_eq!(again.encode().expect("encodes"), encoded.as_str());
        prop_assert_eq!(format!("{:?}", projection(&again)), format!("{:?}", projection(&envelope)));
        prop_assert_eq!(projection_of(text.as_bytes()), projection(&envelope));
        prop_assert_eq!(again.data_json(), envelope.data_json());

        let block = block();
        let copy = envelope.reemit(&Patch::new().attempts(attempts).dead_letter(&block)).expect("emits");
        let copy = decode(&copy);
        prop_assert_eq!(copy.attempts(), Some(attempts));
        prop_assert_eq!(copy.dead_letter().map(|block| block.attempts), Some(attempts));
        prop_assert!(copy.body().trim_end().ends_with("\"lang\":\"rust\"}}"));
        let names = top_names(copy.body());
        prop_assert_eq!(names.iter().filter(|name| *name == "dead_letter").count(), 1);
        prop_assert_eq!(names.last().map(String::as_str), Some("dead_letter"));

        let redriven = decode(&copy.redriven().expect("emits"));
        prop_assert_eq!((redriven.attempts(), redriven.dead_letter()), (Some(0), None));
        prop_assert_eq!(redriven.urn(), envelope.urn());
        prop_assert_eq!(redriven.data_json(), envelope.data_json());
    }

    #[test]
    fn what_is_made_is_what_is_decoded(
        urn in ".{0,20}", trace_id in ".{0,20}", queue in ".{0,20}",
        data in vec((name(), json()), 0..5).prop_map(Json::Object),
        meta in vec(("x[a-z/~\"é]{0,5}", json()), 0..3), blank in blank(),
    ) {
        let mut builder = Envelope::builder(urn.clone()).trace_id(trace_id).queue(queue.clone());
        builder = builder.data_json(data.text(blank));
        for (index, (key, value)) in meta.iter().enumerate() {
            builder = builder.meta_extra(format!("{key}{index}"), value.text(blank));
        }
        let finite = data.is_finite() && meta.iter().all(|(_, value)| value.is_finite());
        let made = builder.build();
        prop_assert_eq!(made.is_ok(), finite && !is_blank(&urn));
        let Ok(made) = made else { return Ok(()) };
        let decoded = decode(made.body());
        prop_assert!(decoded.accepts() && decoded.warnings().is_empty());
        prop_assert_eq!(decoded.meta().queue(), Some(queue.as_str()));
        prop_assert_eq!(format!("{decoded:?}"), format!("{made:?}"));
        prop_assert_eq!(decoded.data_json(), made.data_json());
        let compact = data.text("");
        prop_assert_eq!(decoded.data_json(), Some(compact.as_str()));
        prop_assert_eq!(decoded.encode().expect("encodes"), made.body());
        let extensions: Vec<_> = decoded.meta().iter().skip(5).map(|(_, json)| json.to_owned()).collect();
        let given: Vec<_> = meta.iter().map(|(_, value)| value.text("")).collect();
        prop_assert_eq!(extensions, given);
    }
}

/// The names of the top-level members, repeated ones included.
fn top_names(body: &str) -> Vec<String> {
    struct Names;
    impl<'de> Visitor<'de> for Names {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<String>, A::Error> {
            let mut names = Vec::new();
            while let Some((name, IgnoredAny)) = map.next_entry()? {
                names.push(name);
            }
            Ok(names)
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(body);
    deserializer.deserialize_map(Names).expect("an object")
}
