//! Faults of single batch entries. They work on the JSON of requests and answers,
//! so that they are the same for every batch operation.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::local::protocol::output::{FailedEntry, json};

/// The ids of the entries at these places; `None` when the request is no batch.
pub(crate) fn ids(body: &[u8], places: &BTreeSet<usize>) -> Option<Vec<String>> {
    let request: Value = serde_json::from_slice(body).ok()?;
    let entries = request.get("Entries")?.as_array()?.iter().enumerate();
    let wanted = entries.filter(|(place, _)| places.contains(place));
    Some(wanted.map(|(_, entry)| id_of(entry)).collect())
}

/// Adds failed entries to the answer of a batch.
pub(crate) fn add_failed(
    answer: &[u8],
    ids: Vec<String>,
    code: &str,
    sender_fault: bool,
) -> Vec<u8> {
    let Ok(mut answer) = serde_json::from_slice::<Value>(answer) else {
        return answer.to_vec();
    };
    let failed = ids.into_iter().map(|id| FailedEntry {
        id,
        sender_fault,
        code: code.to_owned(),
        message: "A fault that was planned.".to_owned(),
    });
    if let Some(fields) = answer.as_object_mut() {
        let list = fields
            .entry("Failed")
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Some(list) = list.as_array_mut() {
            list.extend(failed.filter_map(|entry| serde_json::to_value(entry).ok()));
        }
    }
    json(&answer)
}

/// Removes entries from both lists of the answer of a batch.
pub(crate) fn omit(answer: &[u8], ids: &[String]) -> Vec<u8> {
    let Ok(mut answer) = serde_json::from_slice::<Value>(answer) else {
        return answer.to_vec();
    };
    for list in ["Successful", "Failed"] {
        if let Some(list) = answer.get_mut(list).and_then(Value::as_array_mut) {
            list.retain(|entry| !ids.contains(&id_of(entry)));
        }
    }
    json(&answer)
}

/// Turns the failures of old receipt handles in the answer of a batch into successes.
pub(crate) fn silence_old_handles(answer: &[u8]) -> Vec<u8> {
    let Ok(mut answer) = serde_json::from_slice::<Value>(answer) else {
        return answer.to_vec();
    };
    let mut silenced = Vec::new();
    if let Some(failed) = answer.get_mut("Failed").and_then(Value::as_array_mut) {
        failed.retain(|entry| {
            let text = |name| entry.get(name).and_then(Value::as_str).unwrap_or_default();
            let old = is_old_handle(text("Code"), text("Message"));
            if old {
                silenced.push(serde_json::json!({ "Id": id_of(entry) }));
            }
            !old
        });
    }
    if let Some(successful) = answer.get_mut("Successful").and_then(Value::as_array_mut) {
        successful.extend(silenced);
    }
    json(&answer)
}

/// Whether an error says that a receipt handle was once good.
pub(crate) fn is_old_handle(code: &str, message: &str) -> bool {
    let about_handle = message.contains(" for parameter ReceiptHandle is invalid.");
    code.ends_with("MessageNotInflight") || (code == "InvalidParameterValue" && about_handle)
}

fn id_of(entry: &Value) -> String {
    entry
        .get("Id")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}
