//! The values of `const` and `enum`: read once, exactly, and compared with the text of payloads.

use std::collections::BTreeMap;

use super::json::{Members, elements};
use super::number::Number;

/// A JSON value of a schema.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Constant {
    /// `null`, `true` or `false`.
    Word(String),
    /// `None` for a number that no double holds, which equals nothing.
    Number(Option<Number>),
    Text(String),
    List(Vec<Constant>),
    Object(BTreeMap<String, Constant>),
}

impl Constant {
    /// Reads one JSON value. Depth is the caller's to bound.
    pub(super) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        Ok(match text.as_bytes().first() {
            Some(b'"') => Self::Text(serde_json::from_str(text)?),
            Some(b'[') => {
                let elements = elements(text)?.into_iter();
                let elements = elements.map(|element| Self::parse(element.get()));
                Self::List(elements.collect::<Result<_, _>>()?)
            }
            Some(b'{') => {
                let members = Members::parse(text)?;
                let member =
                    |(name, value): (&str, &str)| Ok((name.to_owned(), Self::parse(value)?));
                Self::Object(members.iter().map(member).collect::<Result<_, _>>()?)
            }
            Some(b'-' | b'0'..=b'9') => Self::Number(Number::parse(text)),
            _ => Self::Word(text.to_owned()),
        })
    }

    /// Typed deep equality with a payload's text; numbers by value. As deep as this at most.
    pub(super) fn equals(&self, text: &str) -> Result<bool, serde_json::Error> {
        let first = text.as_bytes().first().copied().unwrap_or_default();
        Ok(match (self, first) {
            (Self::Word(word), _) => word == text,
            (Self::Number(Some(number)), b'-' | b'0'..=b'9') => {
                Number::parse(text).as_ref() == Some(number)
            }
            (Self::Text(string), b'"') => *string == serde_json::from_str::<String>(text)?,
            (Self::List(values), b'[') => {
                let elements = elements(text)?;
                let mut same = values.len() == elements.len();
                for (value, element) in values.iter().zip(elements) {
                    same = same && value.equals(element.get())?;
                }
                same
            }
            (Self::Object(values), b'{') => {
                let members = Members::parse(text)?;
                let mut same = values.len() == members.0.len();
                for (name, value) in values {
                    same = same
                        && match members.get(name) {
                            Some(member) => value.equals(member)?,
                            None => false,
                        };
                }
                same
            }
            _ => false,
        })
    }
}
