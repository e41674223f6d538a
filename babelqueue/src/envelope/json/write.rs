//! Writing JSON strings: nothing is escaped beyond what JSON, or Amazon SQS, cannot carry.

use std::fmt::Write as _;

/// Appends `text` as a JSON string, and says whether anything had to be escaped.
///
/// Quotes, backslashes and control characters are escaped because JSON demands it, the
/// noncharacters U+FFFE and U+FFFF because SQS refuses them raw.
pub(in crate::envelope) fn write_string(out: &mut String, text: &str) -> bool {
    out.push('"');
    let mut written = 0;
    for (at, byte) in text.bytes().enumerate() {
        let width = match byte {
            b'"' | b'\\' | 0..0x20 => 1,
            0xEF if is_noncharacter(&text.as_bytes()[at..]) => 3,
            _ => continue,
        };
        out.push_str(&text[written..at]);
        written = at + width;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            0x0C => out.push_str("\\f"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0xEF => out.push_str(noncharacter_escape(text.as_bytes()[at + 2])),
            control => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{control:04x}");
            }
        }
    }
    out.push_str(&text[written..]);
    out.push('"');
    written > 0
}

/// Escapes U+FFFE and U+FFFF in JSON text, where they can only stand inside strings.
pub(in crate::envelope) fn escape_noncharacters(json: String) -> String {
    let bytes = json.as_bytes();
    if !memchr::memchr_iter(0xEF, bytes).any(|at| is_noncharacter(&bytes[at..])) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 16);
    let mut written = 0;
    for at in memchr::memchr_iter(0xEF, bytes) {
        if is_noncharacter(&bytes[at..]) {
            out.push_str(&json[written..at]);
            out.push_str(noncharacter_escape(bytes[at + 2]));
            written = at + 3;
        }
    }
    out.push_str(&json[written..]);
    out
}

fn is_noncharacter(bytes: &[u8]) -> bool {
    matches!(bytes, [0xEF, 0xBF, 0xBE | 0xBF, ..])
}

const fn noncharacter_escape(last: u8) -> &'static str {
    if last == 0xBE { "\\ufffe" } else { "\\uffff" }
}
