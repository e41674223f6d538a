//! Properties that hold for any body: agreement with `serde_json` on what JSON is, with a slow
//! model on what poison is, and the fidelity of every rewrite.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::collection::vec;
use proptest::prelude::*;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::super::{
    DecodeError, Envelope, Patch, is_blank, poison_record, projection, projection_of, verdict,
};
use super::model::{Json, blank, body, is_fine, json, name, near_json};
use super::{BLOCK, block, decode, parse};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

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
        prop_assert!(splice_of(&text).is_some_and(|splice| splice == record) || parse(&record)["raw"] == text.as_str());
        let lenient = Envelope::decode_lenient(record).map(|record| record.dead_letter());
        // The record of a body that is poison by the type of a member is poison again.
        prop_assert!(lenient.is_err() || lenient == Ok(Some(block())));
    }

    #[test]
    fn bytes_of_any_kind_are_recorded(body in vec(any::<u8>(), 0..64)) {
        let record = poison_record(&body, &block());
        if body.starts_with(b"{") {
            return Ok(());
        }
        let record = parse(&record);
        let raw = record["raw"].as_str().expect("random bytes are no object");
        match std::str::from_utf8(&body) {
            Ok(text) => prop_assert_eq!((raw, record.get("raw_encoding")), (text, None)),
            Err(_) => {
                prop_assert_eq!(&record["raw_encoding"], "base64");
                prop_assert_eq!(STANDARD.decode(raw).expect("base64"), body);
            }
        }
    }

    #[test]
    fn rewrites_change_what_they_say_and_nothing_else(json in body(), blank in blank(), attempts: i64) {
        if !is_fine(&json) {
            return Ok(());
        }
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
        let compact = data.text("").replace('\u{fffe}', "\\ufffe").replace('\u{ffff}', "\\uffff");
        prop_assert_eq!(decoded.data_json(), Some(compact.as_str()));
        prop_assert_eq!(decoded.encode().expect("encodes"), made.body());
        let extensions: Vec<_> = decoded.meta().iter().skip(5).map(|(_, json)| json.to_owned()).collect();
        let given: Vec<_> = meta.iter().map(|(_, value)| parse_exact(&value.text(""))).collect();
        let extensions: Vec<_> = extensions.iter().map(|json| parse_exact(json)).collect();
        prop_assert_eq!(extensions, given);
    }
}

/// The record of a body that keeps its bytes.
fn splice_of(body: &str) -> Option<String> {
    let blank = [' ', '\t', '\r', '\n'];
    let open = body.trim_matches(blank).strip_suffix('}')?;
    Some(if open.trim_end_matches(blank) == "{" {
        format!("{{\"dead_letter\":{BLOCK}}}")
    } else {
        format!("{open},\"dead_letter\":{BLOCK}}}")
    })
}

/// The value of JSON text, or the text when its numbers are beyond a value.
fn parse_exact(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|_| json.into())
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
