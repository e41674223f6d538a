//! A model of bodies for the properties: JSON as it is spelled, the verdict once more in slow and
//! plain words, and generators of both.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

use super::super::is_blank;

/// JSON as it is spelled, repeated members included.
#[derive(Clone, Debug)]
pub(super) enum Json {
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

    pub(super) fn text(&self, blank: &str) -> String {
        let mut out = String::new();
        self.write(&mut out, blank);
        out
    }

    pub(super) fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    pub(super) fn last(&self, name: &str) -> Option<&Self> {
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

    pub(super) fn is_finite(&self) -> bool {
        match self {
            Self::Token(token) => token.parse::<f64>().map_or(true, f64::is_finite),
            Self::Text(_) => true,
            Self::Array(items) => items.iter().all(Self::is_finite),
            Self::Object(members) => members.iter().all(|(_, value)| value.is_finite()),
        }
    }
}

/// SPEC §1.8 once more, as slowly and plainly as possible.
pub(super) fn is_fine(root: &Json) -> bool {
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

pub(super) fn name() -> impl Strategy<Value = String> {
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

pub(super) fn json() -> impl Strategy<Value = Json> {
    scalar().prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Json::Array),
            vec((name(), inner), 0..6).prop_map(Json::Object),
        ]
    })
}

/// Objects that are envelopes more often than not.
pub(super) fn body() -> impl Strategy<Value = Json> {
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

pub(super) fn blank() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", " ", "\n\t", "\r\n  "])
}

/// Text that is JSON now and then, and close to it otherwise.
pub(super) fn near_json() -> impl Strategy<Value = String> {
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
