//! JSON that is a payload and nothing else.

use std::borrow::Cow;

use serde_json::Value;

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
            let Ok(value) = serde_json::from_str::<Value>(body) else {
                return Ok(Decoded::NotMine);
            };
            builder = match value.pointer(pointer) {
                Some(Value::String(id)) if !id.is_empty() => builder.id(id.clone()),
                Some(Value::Number(id)) => builder.id(id.to_string()),
                _ => {
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
