//! JSON text that comes from outside as a part of an envelope to be made: is it one value, and can
//! every reader hold it? Whitespace between its tokens is taken out.

use super::cursor::{Cursor, Expected, Span};

/// Why a piece of JSON text cannot go into an envelope. Offsets are in bytes.
#[derive(Clone, Copy, Debug)]
pub(in crate::envelope) enum Fault {
    Syntax { offset: usize, expected: Expected },
    LoneSurrogate { offset: usize },
    NotFinite { offset: usize },
}

/// Checks that `json` is exactly one strict value without lone surrogates and with finite numbers.
/// Returns whether it holds whitespace between tokens.
pub(in crate::envelope) fn check_fragment(json: &str) -> Result<bool, Fault> {
    let mut cursor = Cursor::new(json);
    cursor.skip_blanks();
    let read = cursor.skip_value_finite().and_then(|_: Span| cursor.end());
    if let Err(expected) = read {
        let offset = cursor.at();
        return Err(Fault::Syntax { offset, expected });
    }
    if let Some(offset) = cursor.lone_surrogate {
        return Err(Fault::LoneSurrogate { offset });
    }
    if let Some(offset) = cursor.not_finite {
        return Err(Fault::NotFinite { offset });
    }
    Ok(cursor.blanks)
}

/// Removes the whitespace between the tokens of checked JSON text.
pub(in crate::envelope) fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut in_string = false;
    let mut after_backslash = false;
    for character in json.chars() {
        if in_string {
            in_string = after_backslash || character != '"';
            after_backslash = !after_backslash && character == '\\';
        } else if matches!(character, ' ' | '\t' | '\n' | '\r') {
            continue;
        } else {
            in_string = character == '"';
        }
        out.push(character);
    }
    out
}

/// The kind of a checked JSON value, by its first byte.
pub(in crate::envelope) fn kind_name(json: &str) -> &'static str {
    match json
        .bytes()
        .find(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
    {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}
