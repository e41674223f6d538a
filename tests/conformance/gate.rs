//! The gate on `results.json`, apart from the runner: the suite's own schema, the scope, the ids,
//! and the outcome (SPEC §5.3).

use std::collections::BTreeSet;

use serde_json::Value;

use crate::bindings::carried;
use crate::suite::Suite;

/// The sections and their numbers of cases as this crate knows them (SPEC §5.2), so that a change
/// of the suite is noticed.
const SECTIONS: [(&str, usize); 18] = [
    ("cases", 8),
    ("idempotency", 7),
    ("sqs", 25),
    ("payload_schema", 7),
    ("roundtrip", 9),
    ("data_shape", 2),
    ("forbidden_keys", 7),
    ("extension_write", 5),
    ("encode_reject", 13),
    ("payload_schema_unicode", 6),
    ("trim", 35),
    ("job_type", 11),
    ("traceparent", 14),
    ("delay", 9),
    ("retry_backoff", 18),
    ("poison_dlq", 43),
    ("identity_verdict", 97),
    ("version_gate_sqs", 17),
];

/// Everything that is wrong with the results.
pub fn check(suite: &Suite, results: &Value) -> Vec<String> {
    let mut complaints = Vec::new();
    match jsonschema::validator_for(&suite.schema("results")) {
        Ok(validator) => {
            let errors = validator.iter_errors(results);
            complaints.extend(errors.map(|error| format!("schema: {error}")));
        }
        Err(error) => complaints.push(format!("the schema of results cannot be read: {error}")),
    }
    let (bindings, carried) = (texts(&results["bindings"]), carried(suite));
    if bindings != carried {
        complaints.push(format!(
            "bindings are {bindings:?} and should be {carried:?}"
        ));
    }
    let known: BTreeSet<_> = SECTIONS
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    let in_scope: BTreeSet<_> = suite.sections().into_iter().collect();
    if known != in_scope {
        complaints.push(format!("the suite's sections in scope are {in_scope:?}"));
    }
    let expected: BTreeSet<_> = suite
        .cases()
        .into_iter()
        .map(|case| (case.section, case.id))
        .collect();
    let mut found = BTreeSet::new();
    for (section, cases) in results["sections"].as_object().into_iter().flatten() {
        for (id, result) in cases.as_object().into_iter().flatten() {
            if result["status"] != "pass" {
                complaints.push(format!("{section} {id} is {}", result["status"]));
            }
            found.insert((section.clone(), id.clone()));
        }
    }
    for (section, id) in expected.difference(&found) {
        complaints.push(format!("{section} {id} is missing"));
    }
    for (section, id) in found.difference(&expected) {
        complaints.push(format!("{section} {id} is no case of the suite"));
    }
    for (section, cases) in SECTIONS {
        let count = expected.iter().filter(|(name, _)| name == section).count();
        if count != cases {
            complaints.push(format!(
                "{section} has {count} cases and should have {cases}"
            ));
        }
    }
    complaints
}

fn texts(value: &Value) -> BTreeSet<String> {
    let texts = value.as_array().into_iter().flatten();
    texts
        .filter_map(|text| Some(text.as_str()?.to_owned()))
        .collect()
}
