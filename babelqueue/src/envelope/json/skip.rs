//! Getting over one whole value, however deep, without recursion: a bit per open level says
//! whether it is an object or an array.

use super::cursor::{Cursor, Expected, Number, Span};

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
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.spill.push(self.word);
        }
        self.word = self.word << 1 | u64::from(object);
        self.depth += 1;
    }

    #[inline]
    fn pop(&mut self) {
        self.depth -= 1;
        self.word >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.word = self.spill.pop().unwrap_or_default();
        }
    }

    #[inline]
    const fn in_object(&self) -> bool {
        self.word & 1 == 1
    }
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

    fn skip<const FINITE: bool>(&mut self) -> Result<(), Expected> {
        let mut levels = Levels::new();
        loop {
            // The cursor stands on the first byte of a value.
            match self.peek() {
                Some(b'"') => {
                    self.string()?;
                }
                Some(b'-' | b'0'..=b'9') => {
                    let number = self.number()?;
                    if FINITE {
                        self.check_finite(number);
                    }
                }
                Some(b'{') => {
                    self.at += 1;
                    self.skip_blanks();
                    if self.peek() == Some(b'}') {
                        self.at += 1;
                    } else {
                        levels.push(true);
                        self.name()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    self.skip_blanks();
                    if self.peek() == Some(b']') {
                        self.at += 1;
                    } else {
                        levels.push(false);
                        continue;
                    }
                }
                Some(b't') => self.literal(b"true")?,
                Some(b'f') => self.literal(b"false")?,
                Some(b'n') => self.literal(b"null")?,
                _ => return Err(Expected::Value),
            }
            // A value has ended: close what closes here, then go on to the next one.
            loop {
                if levels.depth == 0 {
                    return Ok(());
                }
                self.skip_blanks();
                match (self.peek(), levels.in_object()) {
                    (Some(b','), true) => {
                        self.at += 1;
                        self.skip_blanks();
                        self.name()?;
                        break;
                    }
                    (Some(b','), false) => {
                        self.at += 1;
                        self.skip_blanks();
                        break;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        self.at += 1;
                        levels.pop();
                    }
                    (_, true) => return Err(Expected::CommaOrBrace),
                    (_, false) => return Err(Expected::CommaOrBracket),
                }
            }
        }
    }

    /// Steps over a member name and its colon, up to the value.
    #[inline]
    fn name(&mut self) -> Result<(), Expected> {
        if self.peek() != Some(b'"') {
            return Err(Expected::Name);
        }
        self.string()?;
        self.skip_blanks();
        self.take(b':', Expected::Colon)?;
        self.skip_blanks();
        Ok(())
    }

    #[inline]
    fn literal(&mut self, word: &[u8]) -> Result<(), Expected> {
        if self.bytes.get(self.at..self.at + word.len()) == Some(word) {
            self.at += word.len();
            Ok(())
        } else {
            Err(Expected::Value)
        }
    }

    /// Notes a number beyond f64. Without an exponent it takes more than 308 digits to get there,
    /// so almost every number is cleared by its length.
    #[inline]
    fn check_finite(&mut self, number: Number) {
        if number.exponent || number.span.end - number.span.start > 308 {
            self.parse_finite(number);
        }
    }

    #[cold]
    #[inline(never)]
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
