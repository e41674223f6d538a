//! A message attribute as SQS carries it, and the rules that SQS lays on names, values and sizes
//! (SPEC §2.2, §2.5). Pure.

use std::borrow::Cow;

use crate::envelope::REPLAY_BYPASS;

/// How many attributes a message may have.
pub(crate) const MAX_ATTRIBUTES: usize = 10;

/// One message attribute, its data type and label kept as they came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attribute {
    pub(crate) name: Cow<'static, str>,
    pub(crate) data_type: Cow<'static, str>,
    pub(crate) value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    Binary(Vec<u8>),
}

impl Attribute {
    pub(crate) fn text(
        name: impl Into<Cow<'static, str>>,
        data_type: impl Into<Cow<'static, str>>,
        value: impl Into<String>,
    ) -> Self {
        let (name, data_type) = (name.into(), data_type.into());
        Self {
            name,
            data_type,
            value: Value::Text(value.into()),
        }
    }

    /// The `StringValue`, whatever the data type.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            Value::Binary(_) => None,
        }
    }

    fn size(&self) -> usize {
        let value = match &self.value {
            Value::Text(text) => text.len(),
            Value::Binary(bytes) => bytes.len(),
        };
        self.name.len() + self.data_type.len() + value
    }
}

/// What SQS counts against its size limit (SPEC §2.5).
pub(crate) fn size_of_message(body: &str, attributes: &[Attribute]) -> usize {
    body.len() + attributes.iter().map(Attribute::size).sum::<usize>()
}

/// The first character that SQS takes in neither a body nor a value, with its byte offset: it
/// takes tab, line feed, carriage return, and what XML 1.0 allows from U+0020 on.
pub(crate) fn refused_character(text: &str) -> Option<(usize, char)> {
    // Nearly every text has none: no byte below the blank, and none with which U+FFFE could begin.
    let is_odd = |byte: u8| byte < b' ' || byte == 0xef;
    if !text.bytes().fold(false, |odd, byte| odd | is_odd(byte)) {
        return None;
    }
    let legal = |c: char| {
        matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
            || c >= '\u{10000}'
    };
    text.char_indices().find(|(_, c)| !legal(*c))
}

/// Whether the library itself sets this header, on behalf of a trace or a redrive: such give way
/// when there is no place, the application's own never do.
pub(crate) fn is_library_header(name: &str) -> bool {
    matches!(name, "traceparent" | "tracestate") || name == REPLAY_BYPASS
}

/// Says what is wrong with the name of a header, if anything is.
pub(crate) fn check_header_name(name: &str) -> Result<(), &'static str> {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let starts = |prefix: &str| {
        name.get(..prefix.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    if name.len() > 256 {
        Err("a name has at most 256 characters")
    } else if !name.chars().all(legal) {
        Err("a name is made of letters, digits, `_`, `-` and `.`")
    } else if name.starts_with('.') || name.ends_with('.') || name.contains("..") {
        Err("a name neither starts nor ends with a dot, nor has two in a row")
    } else if starts("AWS.") || starts("Amazon.") {
        Err("names that start with `AWS.` or `Amazon.` are reserved")
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_075_names_that_sqs_does_not_allow() {
        for good in [
            "tenant",
            "a.b",
            "x-1_2",
            "AWSx",
            "awsome.thing",
            &"n".repeat(256),
        ] {
            assert_eq!(check_header_name(good), Ok(()), "{good}");
        }
        let long = "n".repeat(300);
        for bad in [
            "bad:key",
            "two words",
            ".dot",
            "dot.",
            "a..b",
            "AWS.mine",
            "amazon.x",
            "ä",
            &long,
        ] {
            assert!(check_header_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn c_066_characters_that_sqs_refuses() {
        assert_eq!(refused_character("plain \t\r\n 🦀 \u{7f}"), None);
        for bad in ['\0', '\u{7}', '\u{b}', '\u{fffe}', '\u{ffff}'] {
            assert_eq!(refused_character(&format!("ab{bad}c")), Some((2, bad)));
        }
    }
}
