//! The members of one object, in the order of the text, repeated ones included. Values are handed
//! to the caller unread, so that it can look closer at the ones it knows.

use std::borrow::Cow;

use super::cursor::{Cursor, Expected, Span, Str};
use super::strings::unescape;

/// One member: the name has been read, the cursor stands on the value.
#[derive(Clone, Copy, Debug)]
pub(in crate::envelope) struct Member {
    /// The name token.
    pub(in crate::envelope) name: Str,
    /// Offset of the comma before the member.
    pub(in crate::envelope) comma: Option<usize>,
}

impl Member {
    /// The name, unescaped.
    #[inline]
    pub(in crate::envelope) fn name<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let raw = self.name.inner.of(text);
        if self.name.escaped {
            Cow::Owned(unescape(raw))
        } else {
            Cow::Borrowed(raw)
        }
    }
}

/// A walk over an object. Between two calls of [`Members::next`] the caller moves the cursor over
/// the value.
pub(in crate::envelope) struct Members {
    first: bool,
}

impl Members {
    /// Opens the object that the cursor stands on.
    #[inline]
    pub(in crate::envelope) fn open(cursor: &mut Cursor<'_>) -> Result<Self, Expected> {
        cursor.take(b'{', Expected::Value)?;
        Ok(Self { first: true })
    }

    /// Reads the next name and stops at its value, or closes the object.
    #[inline(always)]
    pub(in crate::envelope) fn next(
        &mut self,
        cursor: &mut Cursor<'_>,
    ) -> Result<Option<Member>, Expected> {
        cursor.skip_blanks();
        let mut comma = None;
        match cursor.peek() {
            Some(b'}') => {
                cursor.at += 1;
                return Ok(None);
            }
            Some(b',') if !self.first => {
                comma = Some(cursor.at);
                cursor.at += 1;
                cursor.skip_blanks();
            }
            _ if self.first => {}
            _ => return Err(Expected::CommaOrBrace),
        }
        self.first = false;
        if cursor.peek() != Some(b'"') {
            return Err(Expected::Name);
        }
        let name = cursor.string()?;
        cursor.skip_blanks();
        cursor.take(b':', Expected::Colon)?;
        cursor.skip_blanks();
        Ok(Some(Member { name, comma }))
    }
}

/// The value of the last member called `name` in the object that starts at `object.start` of
/// `text`, which has been scanned before.
pub(in crate::envelope) fn lookup(text: &str, object: Span, name: &str) -> Option<Span> {
    let mut cursor = Cursor::starting_at(text, object.start);
    let mut members = Members::open(&mut cursor).ok()?;
    let mut found = None;
    while let Ok(Some(member)) = members.next(&mut cursor) {
        let value = cursor.skip_value().ok()?;
        if member.name(text) == name {
            found = Some(value);
        }
    }
    found
}
