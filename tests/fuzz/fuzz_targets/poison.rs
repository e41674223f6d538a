//! The record of any body is one JSON object that holds the body unharmed: its own bytes up to
//! the closing brace, or all of it as text or base64 (SPEC §1.9).
#![no_main]

use std::collections::BTreeMap;

use babelqueue::envelope::{DeadLetter, Reason, poison_attempts, poison_record, verdict};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;

fuzz_target!(|body: &[u8]| {
    let mut block = DeadLetter::new(Reason::Poison, "orders", 0);
    block.error = verdict(body).err().map(|error| error.to_string());
    block.attempts = poison_attempts(body, Some("3"));
    assert!(block.attempts >= 2);
    let record = poison_record(body, &block);
    // Members are not read: they may hold what serde_json cannot.
    let members: BTreeMap<String, &RawValue> =
        serde_json::from_str(&record).expect("one JSON object");
    let written: serde_json::Value =
        serde_json::from_str(members["dead_letter"].get()).expect("the block");
    assert_eq!(written["reason"], "poison");
    assert_eq!(written["attempts"], block.attempts);

    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let start = body
        .iter()
        .position(|byte| !blank(byte))
        .unwrap_or(body.len());
    let end = body
        .iter()
        .rposition(|byte| !blank(byte))
        .map_or(start, |last| last + 1);
    let inside = body[start..end]
        .strip_suffix(b"}")
        .unwrap_or(&body[start..end]);
    let spliced = record.as_bytes().starts_with(inside)
        && record.as_bytes()[inside.len()..].starts_with(b",\"dead_letter\":{");
    let empty = record.starts_with("{\"dead_letter\":{");
    if spliced || (empty && inside.first() == Some(&b'{') && inside[1..].iter().all(blank)) {
        return;
    }
    let raw: String = serde_json::from_str(members["raw"].get()).expect("a string");
    match std::str::from_utf8(body) {
        Ok(text) => {
            assert_eq!((members.len(), raw.as_str()), (2, text));
        }
        Err(_) => {
            assert_eq!(
                (members.len(), members["raw_encoding"].get()),
                (3, "\"base64\"")
            );
            assert_eq!(BASE64_STANDARD.decode(raw).expect("base64"), body);
        }
    }
});
