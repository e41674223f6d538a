//! Bodies that cannot be decoded: the verdict, and the record that goes to the dead-letter queue
//! in their place. All of it is pure.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::attempts::reconcile_attempts;
use super::dead_letter::DeadLetter;
use super::error::DecodeError;
use super::identity;
use super::json::write_string;
use super::parts::scan;

/// The poison verdict (SPEC §1.8), without logging and without keeping anything.
///
/// ```
/// use babelqueue::envelope::verdict;
///
/// assert!(verdict(br#"{"job":"urn:x","data":null}"#).is_ok());
/// assert!(verdict(br#"{"job":"urn:x","data":[]}"#).is_err());
/// ```
///
/// # Errors
/// The reason, when the body is poison. [`Envelope::decode`](super::Envelope::decode) fails for
/// the same bodies with the same reason.
pub fn verdict(body: &[u8]) -> Result<(), DecodeError> {
    let text = std::str::from_utf8(body)?;
    let parts = scan(text)?;
    identity::check(&parts, text).map(drop)
}

/// The record of a poison body for the dead-letter queue (SPEC §1.9).
///
/// A body that is a JSON object of its own keeps every byte and gets `dead_letter` as its last
/// member. Any other body goes whole into `raw`, as text when it is UTF-8 and as base64 when it is
/// not; nothing is ever replaced by U+FFFD.
///
/// The caller fills `block`; its `attempts` come from [`poison_attempts`].
pub fn poison_record(body: &[u8], block: &DeadLetter) -> String {
    let mut record = String::with_capacity(body.len() + body.len() / 8 + block.size_hint());
    match std::str::from_utf8(body) {
        Ok(text) if is_spliceable(text) => splice(&mut record, text),
        Ok(text) => {
            record.push_str("{\"raw\":");
            write_string(&mut record, text);
            record.push(',');
        }
        Err(_) => {
            record.push_str("{\"raw\":\"");
            STANDARD.encode_string(body, &mut record);
            record.push_str("\",\"raw_encoding\":\"base64\",");
        }
    }
    record.push_str("\"dead_letter\":");
    block.write(&mut record, block.attempts);
    record.push('}');
    record
}

/// The `attempts` for the block of a poison record: the largest of the receive count − 1, an
/// integer `attempts` of the body when one can be read, and 0.
pub fn poison_attempts(body: &[u8], receive_count: Option<&str>) -> i64 {
    let text = std::str::from_utf8(body).ok();
    let declared = text.and_then(|text| scan(text).ok()?.attempts);
    reconcile_attempts(declared.unwrap_or_default(), receive_count)
}

/// Whether a `dead_letter` member can be added to the text without touching the rest.
fn is_spliceable(text: &str) -> bool {
    scan(text).is_ok_and(|parts| {
        !parts.dead_letter_present
            && !matches!(parts.defect, Some(DecodeError::LoneSurrogate { .. }))
    })
}

/// Writes the object up to where a further member goes.
fn splice(record: &mut String, text: &str) {
    let blank = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
    let object = text.trim_matches(blank);
    let open = object.strip_suffix('}').unwrap_or(object);
    if open.trim_end_matches(blank) == "{" {
        record.push('{');
    } else {
        record.push_str(open);
        record.push(',');
    }
}
