//! Faults of single batch entries. They work on the JSON of requests and answers,
//! so that they are the same for every batch operation.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::local::protocol::output::{FailedEntry, json};

/// A batch request from which entries were taken out.
pub(crate) struct Cut {
    /// The request without them; `None` when nothing is left to carry out.
    pub(crate) body: Option<Vec<u8>>,
    /// The ids of the entries that were taken out.
    pub(crate) ids: Vec<String>,
}

/// Takes entries out of a batch request; `None` when it is not one.
pub(crate) fn cut(body: &[u8], places: &BTreeSet<usize>) -> Option<Cut> {
    let mut request: Value = serde_json::from_slice(body).ok()?;
    let entries = request.get_mut("Entries")?.as_array_mut()?;
    let mut ids = Vec::new();
    let mut place = 0;
    entries.retain(|entry| {
        let taken = places.contains(&place);
        place += 1;
        if taken {
            ids.push(id_of(entry));
        }
        !taken
    });
    let body = (!entries.is_empty()).then(|| json(&request));
    Some(Cut { body, ids })
}

/// The ids of the entries at these places.
pub(crate) fn ids(body: &[u8], places: &BTreeSet<usize>) -> Option<Vec<String>> {
    cut(body, places).map(|cut| cut.ids)
}

/// Adds failed entries to the answer of a batch; an answer that is missing had nothing to say.
pub(crate) fn add_failed(
    answer: Option<Vec<u8>>,
    ids: Vec<String>,
    code: &str,
    sender_fault: bool,
) -> Vec<u8> {
    let empty = || serde_json::json!({ "Successful": [] });
    let mut answer = match answer {
        Some(answer) => serde_json::from_slice(&answer).unwrap_or_else(|_| empty()),
        None => empty(),
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
