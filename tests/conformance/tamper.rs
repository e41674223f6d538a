//! Changes expectations, for the runner's test of itself: each leaf of each expectation on its own.

use serde_json::{Value, json};

use crate::case::Case;

/// Members of a case that say what is expected.
const EXPECTATIONS: [&str; 20] = [
    "valid",
    "expect",
    "expected_key",
    "expected_effects",
    "deliveries",
    "message_attributes",
    "expected_attempts",
    "expect_attempts",
    "expect_preserved",
    "expect_absent_after_reencode",
    "expect_dead_letter",
    "expect_encoded_data_json",
    "forbidden_key",
    "expect_envelope",
    "offending_key",
    "expect_warning",
    "expect_accepts",
    "expect_decode_ok",
    "expect_delay_seconds",
    "expect_delay_range_seconds",
];

/// Members of a case that say what is done, or tell a reader about it.
const INPUTS: [&str; 36] = [
    "absent",
    "apply_dead_letter",
    "approximate_receive_count",
    "body",
    "body_attempts",
    "body_base64",
    "bq_attempts",
    "data",
    "dead_letter",
    "delay_seconds",
    "description",
    "dlq_write",
    "envelope_file",
    "extras_meta",
    "extras_top",
    "file",
    "key_field",
    "meta",
    "meta_entries",
    "mode",
    "n",
    "name",
    "on_unknown_urn",
    "producer_schema_valid",
    "queue",
    "queue_type",
    "reason",
    "retry_backoff",
    "retry_backoff_max",
    "retry_backoff_multiplier",
    "retry_jitter",
    "source",
    "trace_id",
    "traceparent",
    "urn",
    "value",
];

/// Members of a case that nobody has looked at: an expectation among them would go untested.
pub fn unknown_members(case: &Case) -> Vec<&String> {
    let members = case.value.as_object().into_iter().flatten();
    members
        .map(|(name, _)| name)
        .filter(|name| {
            let known = |list: &[&str]| list.contains(&name.as_str());
            !known(&INPUTS) && !known(&EXPECTATIONS)
        })
        .collect()
}

/// What one word of an expectation is turned into; other texts get something appended.
const OPPOSITES: [(&str, &str); 6] = [
    ("run", "skip"),
    ("skip", "run"),
    ("decode", "reject"),
    ("reject", "decode"),
    ("ok", "poison"),
    ("poison", "ok"),
];

/// What was changed, and the case that came of it.
pub fn variants(case: &Case) -> Vec<(String, Value)> {
    let mut variants = Vec::new();
    for name in EXPECTATIONS {
        if let Some(expectation) = case.value.get(name) {
            for pointer in leaves(expectation, &format!("/{name}")) {
                if is_asserted(case, &pointer) {
                    let mut value = case.value.clone();
                    if let Some(leaf) = value.pointer_mut(&pointer) {
                        change(leaf, &pointer);
                    }
                    variants.push((pointer, value));
                }
            }
        }
    }
    variants
}

/// Some members of expectations are for others: what a delivery is, not what it should do, and
/// what an SDK with an implicit dead-letter writer does.
fn is_asserted(case: &Case, pointer: &str) -> bool {
    if pointer.starts_with("/deliveries/") {
        return pointer.ends_with("/expect_effect");
    }
    let no_writer = !case.value["expect"]["outcome_no_writer"].is_null();
    !no_writer || pointer.ends_with("outcome_no_writer")
}

fn leaves(value: &Value, at: &str) -> Vec<String> {
    let step = |name: &str| name.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(members) if !members.is_empty() => members
            .iter()
            .flat_map(|(name, member)| leaves(member, &format!("{at}/{}", step(name))))
            .collect(),
        Value::Array(elements) if !elements.is_empty() => elements
            .iter()
            .enumerate()
            .flat_map(|(index, element)| leaves(element, &format!("{at}/{index}")))
            .collect(),
        _ => vec![at.to_owned()],
    }
}

fn change(leaf: &mut Value, pointer: &str) {
    *leaf = match leaf {
        // Something that certainly is in every envelope.
        _ if pointer.starts_with("/expect_absent") => json!("/job"),
        Value::Null => json!(1),
        Value::Bool(value) => json!(!*value),
        Value::Number(value) => match value.as_i64() {
            Some(value) => json!(value + 1),
            None => json!(value.as_f64().unwrap_or_default() + 0.5),
        },
        Value::String(text) => {
            let opposite = OPPOSITES.iter().find(|(word, _)| word == text);
            match opposite {
                Some((_, opposite)) => json!(opposite),
                None => json!(format!("{text}x")),
            }
        }
        Value::Array(_) => json!([1]),
        Value::Object(_) => json!({ "x": 1 }),
    };
}
