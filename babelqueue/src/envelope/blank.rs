//! The blank set of the contract: which characters count as blank in every trim and blank check.
//! Neither `str::trim` (Unicode) nor `is_ascii_whitespace` (lacks U+000B) is that set, so nothing
//! in this crate may use them on contract text.

/// Whether `byte` belongs to the blank set: space, `\t`, `\n`, `\v`, `\f`, `\r`.
const fn is_blank_byte(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0B | 0x0C | b'\r')
}

/// Removes the six blank bytes of SPEC §1.2 from both ends, and nothing else.
///
/// Linear in the length of `text`. A no-break space, an ideographic space or a byte order mark is
/// an ordinary character and stays.
///
/// ```
/// use babelqueue::envelope::trim;
///
/// assert_eq!(trim("\u{b} urn:acme:a\r\n"), "urn:acme:a");
/// assert_eq!(trim("\u{a0}urn:acme:a"), "\u{a0}urn:acme:a");
/// ```
pub fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| u8::try_from(c).is_ok_and(is_blank_byte))
}

/// Whether `text` is empty or made of the six blank bytes of SPEC §1.2 only.
pub fn is_blank(text: &str) -> bool {
    text.bytes().all(is_blank_byte)
}
