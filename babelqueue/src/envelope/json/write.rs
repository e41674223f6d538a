//! Writing JSON strings: nothing is escaped beyond what JSON, or Amazon SQS, cannot carry.

use std::fmt::Write as _;

use super::strings::plain_run;

/// Appends `text` as a JSON string, and says whether anything had to be escaped.
///
/// Quotes, backslashes and control characters are escaped because JSON demands it, the
/// noncharacters U+FFFE and U+FFFF because SQS refuses them raw.
pub(in crate::envelope) fn write_string(out: &mut String, text: &str) -> bool {
    out.push('"');
    let (mut at, mut escaped) = (0, false);
    loop {
        let stop = plain_run(text.as_bytes(), at);
        escaped |= push_run(out, &text[at..stop]);
        let Some(byte) = text.as_bytes().get(stop) else {
            break;
        };
        escaped = true;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            0x0C => out.push_str("\\f"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            control => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{control:04x}");
            }
        }
        at = stop + 1;
    }
    out.push('"');
    escaped
}

/// Escapes U+FFFE and U+FFFF in JSON text, where they can only stand inside strings.
pub(in crate::envelope) fn escape_noncharacters(json: String) -> String {
    if noncharacters(&json).next().is_none() {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 16);
    push_run(&mut out, &json);
    out
}

/// Appends text in which nothing but noncharacters may have to be escaped, and says whether there
/// were any.
fn push_run(out: &mut String, text: &str) -> bool {
    let mut written = 0;
    if !text.is_ascii() {
        for at in noncharacters(text) {
            out.push_str(&text[written..at]);
            out.push_str(noncharacter_escape(text.as_bytes()[at + 2]));
            written = at + 3;
        }
    }
    out.push_str(&text[written..]);
    written > 0
}

fn noncharacters(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(0xEF, bytes).filter(|&at| is_noncharacter(&bytes[at..]))
}

fn is_noncharacter(bytes: &[u8]) -> bool {
    matches!(bytes, [0xEF, 0xBF, 0xBE | 0xBF, ..])
}

const fn noncharacter_escape(last: u8) -> &'static str {
    if last == 0xBE { "\\ufffe" } else { "\\uffff" }
}
