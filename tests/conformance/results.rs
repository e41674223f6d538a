//! `results.json` (SPEC §5.3).

use std::time::{SystemTime, UNIX_EPOCH};

use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;
use serde_json::{Map, Value, json};

use crate::bindings::carried;
use crate::run::Outcome;
use crate::suite::{Suite, folder};

pub fn render(suite: &Suite, outcome: &Outcome) -> Value {
    let mut sections: Map<String, Value> = Map::new();
    for ((section, id), verdict) in outcome {
        let result = match verdict {
            Ok(()) => json!({ "status": "pass" }),
            Err(reason) => json!({ "status": "fail", "reason": reason }),
        };
        let section = sections.entry(section.clone()).or_insert_with(|| json!({}));
        section[id.as_str()] = result;
    }
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let now = DateTime::from_secs(since.as_secs().cast_signed()).fmt(Format::DateTime);
    json!({
        "sdk": "babelqueue-rust",
        "version": env!("CARGO_PKG_VERSION"),
        "conformance_version": suite.version(),
        "generated_at": now.expect("a time of today"),
        "bindings": carried(suite),
        "sections": sections,
    })
}

/// Writes the file and gives back what can be read from it.
pub fn write(suite: &Suite, outcome: &Outcome) -> Value {
    let path = folder().join("results.json");
    let text = serde_json::to_string_pretty(&render(suite, outcome)).expect("it is JSON");
    std::fs::write(&path, text).expect("the target folder is writable");
    let text = std::fs::read_to_string(&path).expect("it was just written");
    serde_json::from_str(&text).expect("it is JSON")
}
