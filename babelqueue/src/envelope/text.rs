//! A string of an envelope: a place in the body when it stands there as it is, owned text when it
//! had to be unescaped.

use super::json::{Span, Str, unescape};

#[derive(Clone, Debug)]
pub(super) enum Text {
    Span(Span),
    Owned(Box<str>),
}

impl Text {
    pub(super) fn from_token(token: Str, body: &str) -> Self {
        if token.escaped {
            Self::Owned(unescape(token.inner.of(body)).into())
        } else {
            Self::Span(token.inner)
        }
    }

    #[inline]
    pub(super) fn of<'a>(&'a self, body: &'a str) -> &'a str {
        match self {
            Self::Span(span) => span.of(body),
            Self::Owned(text) => text,
        }
    }
}
