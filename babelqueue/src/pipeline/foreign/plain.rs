//! JSON that is a payload and nothing else.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::{Decode, Decoded, Foreign};
use crate::BoxError;
use crate::message::BabelMessage;

/// Hands every JSON object to one URN's handler: for queues whose producers know nothing of
/// envelopes. The object becomes `data` as it is spelled.
///
/// ```
/// use babelqueue::decode::{Decode as _, Decoded, Foreign, PlainJson};
///
/// let decoder = PlainJson::new("urn:babel:orders:created").id_at("/order_id");
/// let decoded = decoder.decode(&Foreign::new(r#"{ "order_id": 1042 }"#))?;
/// let Decoded::Message(envelope) = decoded else { panic!("it is an object") };
/// assert_eq!(envelope.meta().id(), Some("1042"));
/// assert_eq!(envelope.data_json(), Some(r#"{"order_id":1042}"#));
/// # Ok::<(), babelqueue::BoxError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PlainJson {
    urn: Cow<'static, str>,
    id_at: Option<Cow<'static, str>>,
    value_in: Option<Cow<'static, str>>,
}

/// The body has no id where it should be.
#[derive(Debug, thiserror::Error)]
#[error("the body has no text or number at `{pointer}`, where its id should be")]
struct NoId {
    pointer: String,
}

/// The body is JSON and no object.
#[derive(Debug, thiserror::Error)]
#[error("the body is JSON but not an object, which a payload must be")]
struct NotAnObject;

impl PlainJson {
    /// Binds bodies to a URN.
    pub fn new(urn: impl Into<Cow<'static, str>>) -> Self {
        Self {
            urn: urn.into(),
            id_at: None,
            value_in: None,
        }
    }

    /// Binds bodies to the URN of a message.
    pub fn of<T: BabelMessage>() -> Self {
        Self::new(T::URN)
    }

    /// Where a body has its id, as an RFC 6901 pointer (`/order/id`) to text or a number; a body
    /// without it is poison. It becomes `meta.id`, by which messages are handled once. Without
    /// this, SQS's `MessageId` does, which a message that is sent twice has two of.
    #[must_use]
    pub fn id_at(mut self, pointer: impl Into<Cow<'static, str>>) -> Self {
        self.id_at = Some(pointer.into());
        self
    }

    /// Takes any JSON value, `null` included, as the member of this name of the payload. Without
    /// this a body is an object, and the payload itself.
    #[must_use]
    pub fn value_in(mut self, member: impl Into<Cow<'static, str>>) -> Self {
        self.value_in = Some(member.into());
        self
    }
}

impl Decode for PlainJson {
    fn decode(&self, message: &Foreign<'_>) -> Result<Decoded, BoxError> {
        let body = message.body();
        let is_json = || serde_json::from_str::<serde::de::IgnoredAny>(body).is_ok();
        if self.value_in.is_some() && !is_json() {
            return Ok(Decoded::NotMine);
        }
        if self.value_in.is_none() && !body.trim_start().starts_with('{') {
            return if is_json() {
                Err(NotAnObject.into())
            } else {
                // Not JSON at all: the contract says where the fault is.
                Ok(Decoded::NotMine)
            };
        }
        let mut builder = message.envelope(self.urn.clone());
        if let Some(pointer) = &self.id_at {
            let Ok(body) = serde_json::from_str::<&RawValue>(body) else {
                return Ok(Decoded::NotMine);
            };
            builder = match at(body, pointer).and_then(id_of) {
                Some(id) => builder.id(id),
                None => {
                    let pointer = pointer.clone().into_owned();
                    return Err(NoId { pointer }.into());
                }
            };
        }
        let built = match &self.value_in {
            None => builder.data_json(body).build()?,
            Some(member) => {
                let member = Value::from(&**member);
                builder.data_json(format!("{{{member}:{body}}}")).build()?
            }
        };
        Ok(built.into())
    }
}

/// The value at an RFC 6901 pointer, as it is spelled.
fn at<'a>(body: &'a RawValue, pointer: &str) -> Option<&'a RawValue> {
    if pointer.is_empty() {
        return Some(body);
    }
    let mut steps = pointer.strip_prefix('/')?.split('/');
    steps.try_fold(body, |value, step| {
        let text = value.get();
        if text.starts_with('[') {
            let elements: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            let canonical = step == "0" || !step.starts_with(['0', '+']);
            let index = canonical.then(|| step.parse::<usize>().ok())??;
            elements.get(index).copied()
        } else {
            let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
            let name = step.replace("~1", "/").replace("~0", "~");
            members.get(&name).copied()
        }
    })
}

/// Text that is not empty, or a number digit by digit: no two numbers have the same id.
fn id_of(value: &RawValue) -> Option<String> {
    let text = value.get();
    match text.as_bytes().first()? {
        b'"' => serde_json::from_str(text)
            .ok()
            .filter(|id: &String| !id.is_empty()),
        b'-' | b'0'..=b'9' => Some(text.to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(pointer: &'static str, body: &str) -> Option<String> {
        let decoder = PlainJson::new("urn:x").id_at(pointer);
        match decoder.decode(&Foreign::new(body)) {
            Ok(Decoded::Message(envelope)) => envelope.meta().id().map(str::to_owned),
            _ => None,
        }
    }

    /// Two messages with one id would be one message to whoever deduplicates.
    #[test]
    fn c_070_ids_are_not_rounded() {
        for number in [
            "123456789012345678901",
            "123456789012345678902",
            "9007199254740993",
            "0.1234567890123456789",
        ] {
            let body = format!(r#"{{"id":{number}}}"#);
            assert_eq!(id("/id", &body).as_deref(), Some(number));
        }
    }

    #[test]
    fn an_id_is_found_by_its_pointer_and_the_last_one_counts() {
        let body = r#"{"a/b":[{"~":"one"},{"~":"\u0074wo"}],"i":{"d":"x"},"":3,"i":{"d":"y"}}"#;
        for (pointer, expected) in [
            ("/a~1b/0/~0", Some("one")),
            ("/a~1b/1/~0", Some("two")),
            ("/i/d", Some("y")),
            ("/", Some("3")),
            ("", None),
            ("i/d", None),
            ("/a~1b/2/~0", None),
            ("/a~1b/00/~0", None),
            ("/a~1b/+0/~0", None),
            ("/i", None),
            ("/i/d/x", None),
        ] {
            assert_eq!(id(pointer, body).as_deref(), expected, "{pointer}");
        }
        let deep = format!(
            r#"{{"id":"m","deep":{}{}}}"#,
            "[".repeat(500),
            "]".repeat(500)
        );
        assert_eq!(id("/id", &deep).as_deref(), Some("m"));
        assert_eq!(id("/id", r#"{"id":""}"#), None);
        assert_eq!(id("/id", r#"{"id":true}"#), None);
    }
}
