//! The `dead_letter` block: what it holds, how it is read and written.

use std::fmt::{self, Write as _};

use super::LANG;
use super::json::{Cursor, Members, Span, Str, unescape, write_string};

/// Why a message is on a dead-letter queue: `dead_letter.reason`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The handler failed for good: `failed`.
    Failed,
    /// No handler knows the URN: `unknown_urn`.
    UnknownUrn,
    /// The body cannot be decoded, or not be accepted: `poison`.
    Poison,
    /// What another producer wrote there.
    Other(String),
}

impl Reason {
    /// The text on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Failed => "failed",
            Self::UnknownUrn => "unknown_urn",
            Self::Poison => "poison",
            Self::Other(text) => text,
        }
    }
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        match text.as_str() {
            "failed" => Self::Failed,
            "unknown_urn" => Self::UnknownUrn,
            "poison" => Self::Poison,
            _ => Self::Other(text),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The block that a message carries on a dead-letter queue (SPEC §1.1, §1.9, §1.10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// Why the message is there.
    pub reason: Reason,
    /// Short text of the error; `None` writes null.
    pub error: Option<String>,
    /// Type name of the error; `None` writes null.
    pub exception: Option<String>,
    /// When the message was given up, in Unix milliseconds UTC.
    pub failed_at: i64,
    /// The queue that the message comes from.
    pub original_queue: String,
    /// How often it was tried.
    pub attempts: i64,
    /// Language of the consumer that gave it up.
    pub lang: String,
}

impl DeadLetter {
    /// A block without error, attempts 0, in the language `rust`. The fields are open for more.
    pub fn new(reason: Reason, original_queue: impl Into<String>, failed_at: i64) -> Self {
        Self {
            reason,
            error: None,
            exception: None,
            failed_at,
            original_queue: original_queue.into(),
            attempts: 0,
            lang: LANG.to_owned(),
        }
    }

    /// Reads the block at `span` of a body that has been scanned: types are right, or null.
    pub(super) fn parse(body: &str, span: Span) -> Self {
        let mut block = Self::new(Reason::Other(String::new()), "", 0);
        block.lang.clear();
        let mut cursor = Cursor::starting_at(body, span.start);
        let Ok(mut members) = Members::open(&mut cursor) else {
            return block;
        };
        while let Ok(Some(member)) = members.next(&mut cursor) {
            let Ok(value) = cursor.skip_value() else {
                return block;
            };
            let value = value.of(body);
            match &*member.name(body) {
                "reason" => block.reason = string(value).unwrap_or_default().into(),
                "error" => block.error = string(value),
                "exception" => block.exception = string(value),
                "failed_at" => block.failed_at = value.parse().unwrap_or_default(),
                "original_queue" => block.original_queue = string(value).unwrap_or_default(),
                "attempts" => block.attempts = value.parse().unwrap_or_default(),
                "lang" => block.lang = string(value).unwrap_or_default(),
                _ => {}
            }
        }
        block
    }

    /// Appends the block as a JSON object, with `attempts` in place of its own.
    pub(super) fn write(&self, out: &mut String, attempts: i64) {
        out.push_str("{\"reason\":");
        write_string(out, self.reason.as_str());
        out.push_str(",\"error\":");
        write_nullable(out, self.error.as_deref());
        out.push_str(",\"exception\":");
        write_nullable(out, self.exception.as_deref());
        // Writing to a String cannot fail.
        let _ = write!(out, ",\"failed_at\":{}", self.failed_at);
        out.push_str(",\"original_queue\":");
        write_string(out, &self.original_queue);
        let _ = write!(out, ",\"attempts\":{attempts},\"lang\":");
        write_string(out, &self.lang);
        out.push('}');
    }

    /// Bytes to reserve for the written block.
    pub(super) fn size_hint(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(4, String::len);
        160 + text(&self.error) + text(&self.exception) + self.original_queue.len()
    }
}

fn write_nullable(out: &mut String, text: Option<&str>) {
    match text {
        Some(text) => {
            write_string(out, text);
        }
        None => out.push_str("null"),
    }
}

/// The text of a string token; `None` for null.
fn string(value: &str) -> Option<String> {
    let mut cursor = Cursor::new(value);
    if cursor.peek() != Some(b'"') {
        return None;
    }
    let Str { inner, escaped } = cursor.string().ok()?;
    let raw = inner.of(value);
    Some(if escaped {
        unescape(raw)
    } else {
        raw.to_owned()
    })
}
