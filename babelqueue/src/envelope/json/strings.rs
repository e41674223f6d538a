//! The inside of strings: getting over plain text several bytes at a time, and undoing escapes.

const ONES: u64 = u64::MAX / 0xFF;
const HIGHS: u64 = ONES << 7;

/// Marks (in the high bit of each byte) the bytes of `word` that end a run of plain string text:
/// a quote, a backslash, a control character. A false mark can only stand above a true one, so
/// the lowest mark is always right.
#[inline(always)]
const fn special_marks(word: u64) -> u64 {
    // What is zero, or below some value, borrows into its high bit. So do bytes that have their
    // high bit set anyway; those are plain, and taken out together at the end. With bit 1 flipped
    // a quote stands right above the control characters, which stay among themselves.
    let quote_or_control = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
    let backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    (quote_or_control | backslash) & !word & HIGHS
}

#[inline]
const fn is_special(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < 0x20
}

/// Where the text that begins at `from` stops being plain, or a place up to which it certainly is
/// plain: looks at so many bytes that most strings end in them, and that it fits into the caller's
/// registers.
#[inline(always)]
pub(super) fn short_string(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let mut at = from;
    for word in rest.as_chunks::<8>().0.iter().take(8) {
        let marks = special_marks(u64::from_le_bytes(*word));
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    at
}

/// The first offset at or after `from` that holds a quote, a backslash or a control character, or
/// the length of `bytes`.
#[inline]
pub(super) fn plain_run(bytes: &[u8], from: usize) -> usize {
    let mut rest = bytes.get(from..).unwrap_or_default();
    let mut words = 0;
    while let Some((word, tail)) = rest.split_first_chunk::<8>() {
        let marks = special_marks(u64::from_le_bytes(*word));
        if marks != 0 {
            return bytes.len() - rest.len() + (marks.trailing_zeros() / 8) as usize;
        }
        rest = tail;
        words += 1;
        // What has not ended within a few words is likely to be long.
        if words == 8 {
            rest = skip_blocks(rest);
        }
    }
    let tail = rest.iter().position(|&byte| is_special(byte));
    bytes.len() - rest.len() + tail.unwrap_or(rest.len())
}

/// Drops leading blocks without a special byte. The test of a block has no early exit, so that the
/// compiler can use vector instructions; large blocks spread the cost of collecting its result.
#[inline(never)]
fn skip_blocks(mut rest: &[u8]) -> &[u8] {
    while let Some((block, tail)) = rest.split_first_chunk::<128>() {
        let mut special = 0;
        for &byte in block {
            special |= u8::from(byte == b'"') | u8::from(byte == b'\\') | u8::from(byte < 0x20);
        }
        if special != 0 {
            break;
        }
        rest = tail;
    }
    rest
}

/// The text of a string token that holds escapes. The token has been scanned before, so every
/// escape is well formed; half a surrogate pair, which no accepted text holds, becomes U+FFFD.
pub(in crate::envelope) fn unescape(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        text.push_str(&rest[..at]);
        let (character, after) = one_escape(&rest[at + 1..]);
        text.push(character);
        rest = after;
    }
    text.push_str(rest);
    text
}

/// The character of one escape (`escape` starts behind the backslash), and what follows it.
fn one_escape(escape: &str) -> (char, &str) {
    let character = match escape.as_bytes().first() {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode_escape(escape),
        Some(&other) => char::from(other),
        None => return (char::REPLACEMENT_CHARACTER, ""),
    };
    (character, escape.get(1..).unwrap_or_default())
}

fn unicode_escape(escape: &str) -> (char, &str) {
    let high = unit(escape, 1);
    if let 0xD800..=0xDBFF = high
        && escape.get(5..7) == Some("\\u")
        && let low @ 0xDC00..=0xDFFF = unit(escape, 7)
    {
        let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
        return (replaced(code), escape.get(11..).unwrap_or_default());
    }
    (replaced(high), escape.get(5..).unwrap_or_default())
}

fn unit(escape: &str, at: usize) -> u32 {
    escape
        .get(at..at + 4)
        .and_then(|digits| u32::from_str_radix(digits, 16).ok())
        .unwrap_or(0xFFFD)
}

fn replaced(code: u32) -> char {
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::{is_special, plain_run, short_string};

    #[test]
    fn every_byte_is_judged_alike_alone_and_in_a_word() {
        for byte in 0..=u8::MAX {
            for (at, filler) in (0..24).flat_map(|at| [(at, b'a'), (at, b'!'), (at, 0xFF)]) {
                let mut bytes = [filler; 24];
                bytes[at] = byte;
                let expected = if is_special(byte) { at } else { 24 };
                assert_eq!(plain_run(&bytes, 0), expected, "{byte:#x} at {at}");
                assert_eq!(short_string(&bytes, 0), expected, "{byte:#x} at {at}");
            }
        }
    }
}
