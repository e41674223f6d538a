//! The cursor: where the reader stands in the text, and how it gets over one token. Syntax faults
//! stop it; what is only wrong for the contract (a lone surrogate, a number beyond f64) is noted
//! and reading goes on, so that "not JSON" always outranks "not an envelope".

use super::strings::{plain_run, short_string};

/// A range of bytes in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::envelope) struct Span {
    pub(in crate::envelope) start: usize,
    pub(in crate::envelope) end: usize,
}

impl Span {
    /// The text that the span covers. Spans only ever come from a scan of the same text.
    pub(in crate::envelope) fn of(self, text: &str) -> &str {
        &text[self.start..self.end]
    }
}

/// A string token: the span between its quotes, and whether it holds escapes.
#[derive(Clone, Copy, Debug)]
pub(in crate::envelope) struct Str {
    pub(in crate::envelope) inner: Span,
    pub(in crate::envelope) escaped: bool,
}

impl Str {
    /// Whether its escapes make text: none is half of a surrogate pair.
    pub(in crate::envelope) fn is_text(self, text: &str) -> bool {
        let mut cursor = Cursor::starting_at(text, self.inner.start - 1);
        !self.escaped || (cursor.string().is_ok() && cursor.lone_surrogate.is_none())
    }
}

/// A number token.
#[derive(Clone, Copy, Debug)]
pub(in crate::envelope) struct Number {
    pub(in crate::envelope) span: Span,
    /// Has neither fraction nor exponent.
    pub(in crate::envelope) integer: bool,
    /// Has an exponent.
    pub(in crate::envelope) exponent: bool,
}

/// What the grammar wanted where the text has something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::envelope) enum Expected {
    Value,
    Name,
    Colon,
    CommaOrBrace,
    CommaOrBracket,
    Quote,
    Escape,
    HexDigits,
    EscapedControl,
    Digit,
    End,
}

impl Expected {
    pub(in crate::envelope) const fn text(self) -> &'static str {
        match self {
            Self::Value => "a value",
            Self::Name => "a member name in double quotes",
            Self::Colon => "`:`",
            Self::CommaOrBrace => "`,` or `}`",
            Self::CommaOrBracket => "`,` or `]`",
            Self::Quote => "a closing `\"`",
            Self::Escape => "a known escape after `\\`",
            Self::HexDigits => "four hex digits after `\\u`",
            Self::EscapedControl => "control characters to be escaped",
            Self::Digit => "a digit",
            Self::End => "the end of the text",
        }
    }
}

/// The reader's place in a text, and what it noted on the way.
pub(in crate::envelope) struct Cursor<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    /// Offset of the first escape that is half of a surrogate pair without the other half.
    pub(in crate::envelope) lone_surrogate: Option<usize>,
    /// Offset of the first number that is no finite f64, among the values skipped with a check.
    pub(in crate::envelope) not_finite: Option<usize>,
    /// Whether whitespace was met between tokens.
    pub(in crate::envelope) blanks: bool,
}

impl<'a> Cursor<'a> {
    pub(in crate::envelope) fn new(text: &'a str) -> Self {
        Self::starting_at(text, 0)
    }

    pub(in crate::envelope) fn starting_at(text: &'a str, at: usize) -> Self {
        Self {
            bytes: text.as_bytes(),
            at,
            lone_surrogate: None,
            not_finite: None,
            blanks: false,
        }
    }

    /// Offset of the next byte to read; after a fault, of the fault.
    pub(in crate::envelope) fn at(&self) -> usize {
        self.at
    }

    #[inline]
    pub(in crate::envelope) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    pub(in crate::envelope) fn skip_blanks(&mut self) {
        if let Some(byte) = self.peek()
            && byte <= b' '
        {
            self.skip_blanks_slow();
        }
    }

    #[cold]
    #[inline(never)]
    fn skip_blanks_slow(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.blanks = true;
            self.at += 1;
        }
    }

    /// Steps over `byte`, or says what was expected.
    #[inline]
    pub(super) fn take(&mut self, byte: u8, expected: Expected) -> Result<(), Expected> {
        if self.peek() == Some(byte) {
            self.at += 1;
            Ok(())
        } else {
            Err(expected)
        }
    }

    /// Nothing but whitespace may be left.
    pub(in crate::envelope) fn end(&mut self) -> Result<(), Expected> {
        self.skip_blanks();
        if self.at == self.bytes.len() {
            Ok(())
        } else {
            Err(Expected::End)
        }
    }

    /// Reads a string; the cursor stands on its opening quote.
    #[inline]
    pub(in crate::envelope) fn string(&mut self) -> Result<Str, Expected> {
        let start = self.at + 1;
        let end = short_string(self.bytes, start);
        if self.bytes.get(end) == Some(&b'"') {
            self.at = end + 1;
            let inner = Span { start, end };
            let escaped = false;
            return Ok(Str { inner, escaped });
        }
        self.string_slow(start, end)
    }

    /// Reads on in a string whose text begins at `start` and is plain up to `plain`.
    #[inline(never)]
    pub(super) fn string_slow(&mut self, start: usize, plain: usize) -> Result<Str, Expected> {
        let mut escaped = false;
        self.at = plain;
        loop {
            self.at = plain_run(self.bytes, self.at);
            match self.peek() {
                Some(b'"') => {
                    let inner = Span {
                        start,
                        end: self.at,
                    };
                    self.at += 1;
                    return Ok(Str { inner, escaped });
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(_) => return Err(Expected::EscapedControl),
                None => return Err(Expected::Quote),
            }
        }
    }

    /// Steps over one escape (a whole surrogate pair at once); the cursor stands on the backslash.
    fn escape(&mut self) -> Result<(), Expected> {
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 2;
                Ok(())
            }
            Some(b'u') => {
                let unit = self.hex4(self.at + 2).ok_or(Expected::HexDigits)?;
                match unit {
                    0xD800..=0xDBFF if self.low_surrogate_follows() => self.at += 12,
                    0xD800..=0xDFFF => {
                        self.lone_surrogate.get_or_insert(self.at);
                        self.at += 6;
                    }
                    _ => self.at += 6,
                }
                Ok(())
            }
            _ => Err(Expected::Escape),
        }
    }

    fn low_surrogate_follows(&self) -> bool {
        self.bytes.get(self.at + 6..self.at + 8) == Some(b"\\u")
            && matches!(self.hex4(self.at + 8), Some(0xDC00..=0xDFFF))
    }

    fn hex4(&self, at: usize) -> Option<u32> {
        let digits = self.bytes.get(at..at + 4)?;
        digits.iter().try_fold(0, |unit, &digit| {
            Some(unit << 4 | char::from(digit).to_digit(16)?)
        })
    }

    /// Reads a number; the cursor stands on its first byte.
    #[inline(always)]
    pub(in crate::envelope) fn number(&mut self) -> Result<Number, Expected> {
        let bytes = self.bytes;
        let start = self.at;
        let mut at = start;
        if bytes.get(at) == Some(&b'-') {
            at += 1;
        }
        // A leading zero stands alone: the digit after it is refused by whoever comes next.
        if bytes.get(at) == Some(&b'0') {
            at += 1;
        } else {
            at = self.digits(at)?;
        }
        let (mut integer, mut exponent) = (true, false);
        if bytes.get(at) == Some(&b'.') {
            integer = false;
            at = self.digits(at + 1)?;
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            (integer, exponent) = (false, true);
            at += 1;
            if let Some(b'+' | b'-') = bytes.get(at) {
                at += 1;
            }
            at = self.digits(at)?;
        }
        self.at = at;
        let span = Span { start, end: at };
        Ok(Number {
            span,
            integer,
            exponent,
        })
    }

    /// Where the digits that begin at `from` end; there must be one.
    #[inline(always)]
    fn digits(&mut self, from: usize) -> Result<usize, Expected> {
        let mut at = from;
        while let Some(b'0'..=b'9') = self.bytes.get(at) {
            at += 1;
        }
        if at == from {
            self.at = at;
            return Err(Expected::Digit);
        }
        Ok(at)
    }

    /// The value of a number token, when it is an integer literal within i64.
    pub(in crate::envelope) fn integer(&self, number: Number) -> Option<i64> {
        if !number.integer {
            return None;
        }
        let token = self.bytes.get(number.span.start..number.span.end)?;
        let (negative, digits) = match token {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        };
        digits.iter().try_fold(0_i64, |value, digit| {
            let value = value.checked_mul(10)?;
            let digit = i64::from(digit - b'0');
            if negative {
                value.checked_sub(digit)
            } else {
                value.checked_add(digit)
            }
        })
    }
}
