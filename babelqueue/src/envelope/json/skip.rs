//! Getting over one whole value, however deep, without recursion: a bit per open level says
//! whether it is an object or an array.

use super::cursor::{Cursor, Expected, Number, Span};
use super::strings::short_string;

/// The open levels, a bit each. The first 64 need no allocation.
struct Levels {
    word: u64,
    depth: usize,
    spill: Vec<u64>,
}

impl Levels {
    const fn new() -> Self {
        Self {
            word: 0,
            depth: 0,
            spill: Vec::new(),
        }
    }

    #[inline]
    fn push(&mut self, object: bool) {
        if self.depth.is_multiple_of(64) && self.depth > 0 {
            spill(&mut self.spill, self.word);
        }
        self.word = self.word << 1 | u64::from(object);
        self.depth += 1;
    }

    #[inline]
    fn pop(&mut self) {
        self.depth -= 1;
        self.word >>= 1;
        if self.depth.is_multiple_of(64) && self.depth > 0 {
            self.word = unspill(&mut self.spill);
        }
    }

    #[inline]
    const fn in_object(&self) -> bool {
        self.word & 1 == 1
    }
}

// Out of line, so that the rest of the levels stays in registers.
#[cold]
#[inline(never)]
fn spill(to: &mut Vec<u64>, word: u64) {
    to.push(word);
}

#[cold]
#[inline(never)]
fn unspill(from: &mut Vec<u64>) -> u64 {
    from.pop().unwrap_or_default()
}

impl Cursor<'_> {
    /// Steps over one value of any kind and returns its span.
    pub(in crate::envelope) fn skip_value(&mut self) -> Result<Span, Expected> {
        let start = self.at;
        self.skip::<false>()?;
        Ok(Span {
            start,
            end: self.at,
        })
    }

    /// Steps over one value, noting the first number in it that is no finite f64.
    pub(in crate::envelope) fn skip_value_finite(&mut self) -> Result<Span, Expected> {
        let start = self.at;
        self.skip::<true>()?;
        Ok(Span {
            start,
            end: self.at,
        })
    }

    /// The walk itself. Its place is a local variable, which the compiler keeps in a register; the
    /// cursor is brought up to date for the rare paths and at the end.
    fn skip<const FINITE: bool>(&mut self) -> Result<(), Expected> {
        let bytes = self.bytes;
        let mut levels = Levels::new();
        let mut at = self.at;
        loop {
            // `at` is on the first byte of a value.
            match bytes.get(at) {
                Some(b'"') => {
                    let stop = short_string(bytes, at + 1);
                    match bytes.get(stop..) {
                        // The usual way on; outside of everything there is no object to be in.
                        Some([b'"', b',', b'"', ..]) if levels.in_object() => {
                            at = self.name(bytes, stop + 2)?;
                            continue;
                        }
                        Some([b'"', ..]) => at = stop + 1,
                        _ => at = self.long_string_end(at + 1, stop)?,
                    }
                }
                Some(b'-' | b'0'..=b'9') => {
                    at = match plain_number(bytes, at) {
                        Some(end) => end,
                        None => self.odd_number::<FINITE>(at)?,
                    };
                }
                Some(&open @ (b'{' | b'[')) => {
                    at = self.after_blanks(bytes, at + 1);
                    let object = open == b'{';
                    // The closing brackets stand two places behind the opening ones.
                    if bytes.get(at) == Some(&(open + 2)) {
                        at += 1;
                    } else {
                        levels.push(object);
                        if object {
                            at = self.name(bytes, at)?;
                        }
                        continue;
                    }
                }
                Some(b't') if literal(bytes, at, b"true") => at += 4,
                Some(b'f') if literal(bytes, at, b"false") => at += 5,
                Some(b'n') if literal(bytes, at, b"null") => at += 4,
                _ => return self.stop(at, Expected::Value),
            }
            // A value has ended: close what closes here, then go on to the next one.
            loop {
                if levels.depth == 0 {
                    self.at = at;
                    return Ok(());
                }
                let object = levels.in_object();
                match bytes.get(at) {
                    Some(b',') => {
                        at = self.after_blanks(bytes, at + 1);
                        if object {
                            at = self.name(bytes, at)?;
                        }
                        break;
                    }
                    Some(b'}') if object => {}
                    Some(b']') if !object => {}
                    Some(b' ' | b'\t' | b'\n' | b'\r') => {
                        at = self.blanks_end(at);
                        continue;
                    }
                    _ if object => return self.stop(at, Expected::CommaOrBrace),
                    _ => return self.stop(at, Expected::CommaOrBracket),
                }
                at += 1;
                levels.pop();
            }
        }
    }

    #[cold]
    fn stop<T>(&mut self, at: usize, expected: Expected) -> Result<T, Expected> {
        self.at = at;
        Err(expected)
    }

    /// Steps over the member name at `at` and its colon, to where the value begins.
    #[inline(always)]
    fn name(&mut self, bytes: &[u8], at: usize) -> Result<usize, Expected> {
        if bytes.get(at) != Some(&b'"') {
            return self.stop(at, Expected::Name);
        }
        let stop = short_string(bytes, at + 1);
        // Almost everybody writes the colon at once, and at most a space behind it.
        if let Some([b'"', b':', next, ..]) = bytes.get(stop..)
            && *next > b' '
        {
            return Ok(stop + 2);
        }
        self.odd_name(bytes, at, stop)
    }

    #[inline(never)]
    fn odd_name(&mut self, bytes: &[u8], at: usize, stop: usize) -> Result<usize, Expected> {
        let end = self.long_string_end(at + 1, stop)?;
        let at = self.after_blanks(bytes, end);
        if bytes.get(at) != Some(&b':') {
            return self.stop(at, Expected::Colon);
        }
        Ok(self.after_blanks(bytes, at + 1))
    }

    #[inline(never)]
    fn long_string_end(&mut self, start: usize, plain: usize) -> Result<usize, Expected> {
        self.string_slow(start, plain)?;
        Ok(self.at)
    }

    #[inline(always)]
    fn after_blanks(&mut self, bytes: &[u8], at: usize) -> usize {
        match bytes.get(at) {
            Some(&byte) if byte <= b' ' => self.blanks_end(at),
            _ => at,
        }
    }

    #[cold]
    #[inline(never)]
    fn blanks_end(&mut self, at: usize) -> usize {
        self.at = at;
        self.skip_blanks();
        self.at
    }

    /// Where a number ends that is not of the usual kind, or none at all.
    #[cold]
    #[inline(never)]
    fn odd_number<const FINITE: bool>(&mut self, at: usize) -> Result<usize, Expected> {
        self.at = at;
        let number = self.number()?;
        if FINITE {
            self.check_finite(number);
        }
        Ok(self.at)
    }

    /// Notes a number beyond f64. Without an exponent it takes more than 308 digits to get there,
    /// so almost every number is cleared by its length.
    fn check_finite(&mut self, number: Number) {
        if number.exponent || number.span.end - number.span.start > 308 {
            self.parse_finite(number);
        }
    }

    fn parse_finite(&mut self, number: Number) {
        let Some(token) = self.bytes.get(number.span.start..number.span.end) else {
            return;
        };
        let value = std::str::from_utf8(token).map(str::parse::<f64>);
        if !matches!(value, Ok(Ok(value)) if value.is_finite()) {
            self.not_finite.get_or_insert(number.span.start);
        }
    }
}

/// Where the number at `at` ends when it is of the usual kind: an integer or a decimal without an
/// exponent and without a leading zero, far too short to be beyond f64. Its digits are stepped
/// over one by one: there are few, and the processor runs ahead of them.
#[inline(always)]
fn plain_number(bytes: &[u8], at: usize) -> Option<usize> {
    let first = at + usize::from(bytes.get(at) == Some(&b'-'));
    let mut end = after_digits(bytes, first);
    let leading_zero = bytes.get(first) == Some(&b'0');
    if end == first || (leading_zero && end != first + 1) {
        return None;
    }
    let mut next = bytes.get(end);
    if next == Some(&b'.') {
        let fraction = end + 1;
        end = after_digits(bytes, fraction);
        if end == fraction {
            return None;
        }
        next = bytes.get(end);
    }
    let exponent = next.is_some_and(|byte| byte | 0x20 == b'e');
    (!exponent && end - at <= 308).then_some(end)
}

#[inline(always)]
fn after_digits(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(b'0'..=b'9') = bytes.get(at) {
        at += 1;
    }
    at
}

#[inline(always)]
fn literal(bytes: &[u8], at: usize, word: &[u8]) -> bool {
    bytes.get(at..at + word.len()) == Some(word)
}
