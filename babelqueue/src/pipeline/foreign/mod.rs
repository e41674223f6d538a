//! Bodies that are no envelopes: what a decoder is given and may answer, and the ready-made ones.
//! Pure; knows no queue.

use std::fmt;

use super::attribute::{Attribute, Value};
use crate::BoxError;
use crate::envelope::{Envelope, EnvelopeBuilder};

mod event_bridge;
mod plain;
mod sns;
mod unfold;

pub use event_bridge::EventBridge;
pub use plain::PlainJson;
pub use sns::Sns;
pub(super) use unfold::{ForeignError, Unfolded, is_own, unfold};

/// Reads what others put on a queue, so that typed handlers can have it.
///
/// A decoder is asked about bodies that are not envelopes of version 1 that a handler may have:
/// envelopes are read by the contract, whatever decoders there are. What it returns goes the way
/// of every message: version gate, acceptance, router, handler. A dead letter of it is the
/// envelope, which the same consumer reads when it is redriven.
///
/// Decoders are pure and quick; to panic is the same as to fail.
///
/// ```
/// use babelqueue::BoxError;
/// use babelqueue::decode::{Decode, Decoded, Foreign};
///
/// /// `order 1042` in plain text.
/// struct Lines;
///
/// impl Decode for Lines {
///     fn decode(&self, message: &Foreign<'_>) -> Result<Decoded, BoxError> {
///         let Some(id) = message.body().strip_prefix("order ") else {
///             return Ok(Decoded::NotMine);
///         };
///         let data = serde_json::json!({ "order_id": id.parse::<u64>()? });
///         let envelope = message.envelope("urn:babel:orders:created").data(&data).build()?;
///         Ok(envelope.into())
///     }
/// }
/// ```
pub trait Decode: Send + Sync + 'static {
    /// Reads one message.
    ///
    /// # Errors
    /// Why a body that is this decoder's cannot be read: the message is poison then (SPEC §2.10).
    fn decode(&self, message: &Foreign<'_>) -> Result<Decoded, BoxError>;
}

impl<F> Decode for F
where
    F: Fn(&Foreign<'_>) -> Result<Decoded, BoxError> + Send + Sync + 'static,
{
    fn decode(&self, message: &Foreign<'_>) -> Result<Decoded, BoxError> {
        self(message)
    }
}

/// What a decoder made of a body.
#[derive(Debug)]
#[non_exhaustive]
pub enum Decoded {
    /// Nothing: the next decoder is asked, and the contract in the end.
    NotMine,
    /// A message that nobody wants: it is deleted, counted as discarded, and not reported.
    Skip,
    /// The envelope that the handler gets. It must have what every envelope has
    /// ([`Foreign::envelope`] begins one).
    Message(Box<Envelope>),
    /// The message inside of it, which the following decoders and the contract read.
    Inner(Inner),
}

impl From<Envelope> for Decoded {
    fn from(envelope: Envelope) -> Self {
        Self::Message(Box::new(envelope))
    }
}

impl From<Inner> for Decoded {
    fn from(inner: Inner) -> Self {
        Self::Inner(inner)
    }
}

/// A message that was found inside of another one.
#[derive(Debug)]
pub struct Inner {
    body: String,
    attributes: Vec<Attribute>,
}

impl Inner {
    /// The body that was wrapped.
    pub fn new(body: impl Into<String>) -> Self {
        Self {
            body: body.into(),
            attributes: Vec::new(),
        }
    }

    /// Adds an attribute that counts as the message's own; it replaces one of the same name.
    /// `data_type` is as SQS has it: `String`, `Number`, `String.custom`.
    #[must_use]
    pub fn attribute(
        mut self,
        name: impl Into<String>,
        data_type: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        self.attributes
            .push(Attribute::text(name, data_type, value));
        self
    }

    /// Adds a binary attribute.
    #[must_use]
    pub fn binary_attribute(mut self, name: impl Into<String>, value: Vec<u8>) -> Self {
        self.attributes.push(Attribute {
            name: name.into(),
            data_type: "Binary".to_owned(),
            value: Value::Binary(value),
        });
        self
    }
}

/// A received message, as a decoder sees it.
#[derive(Clone, Copy)]
pub struct Foreign<'a> {
    body: &'a str,
    attributes: &'a [Attribute],
    queue: &'a str,
    message_id: &'a str,
    sent_at: Option<i64>,
}

impl fmt::Debug for Foreign<'_> {
    /// Leaves the body out: bodies do not belong into logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Foreign")
            .field("queue", &self.queue)
            .field("message_id", &self.message_id)
            .field("body_len", &self.body.len())
            .finish_non_exhaustive()
    }
}

impl<'a> Foreign<'a> {
    /// A message with this body, of which nothing else is known: to test a decoder with.
    pub fn new(body: &'a str) -> Self {
        Self {
            body,
            attributes: &[],
            queue: "queue",
            message_id: "message-1",
            sent_at: None,
        }
    }

    /// The body as it came, or as the decoder before took it out.
    pub fn body(&self) -> &'a str {
        self.body
    }

    /// An attribute that is text; names are case-sensitive.
    pub fn attribute(&self, name: &str) -> Option<&'a str> {
        let mut attributes = self.attributes.iter();
        attributes
            .find(|attribute| attribute.name == name)?
            .as_text()
    }

    /// Name of the queue consumed from.
    pub fn queue(&self) -> &'a str {
        self.queue
    }

    /// `MessageId` as SQS assigned it.
    pub fn message_id(&self) -> &'a str {
        self.message_id
    }

    /// `SentTimestamp` in Unix milliseconds.
    pub fn sent_at(&self) -> Option<i64> {
        self.sent_at
    }

    /// Begins an envelope for it: the URN given, this queue, sent when SQS says. Its id and trace
    /// are the attributes `bq-message-id` and `bq-trace-id`, else SQS's `MessageId`, so that all
    /// deliveries have the same. Set a better [`id`](EnvelopeBuilder::id) where the message has
    /// one: SQS gives it a new `MessageId` when it is sent or redriven anew.
    pub fn envelope(&self, urn: impl Into<String>) -> EnvelopeBuilder {
        let own = |name| self.attribute(name).unwrap_or(self.message_id).to_owned();
        let builder = Envelope::builder(urn.into())
            .queue(self.queue.to_owned())
            .id(own("bq-message-id"))
            .trace_id(own("bq-trace-id"));
        match self.sent_at {
            Some(sent_at) => builder.created_at(sent_at),
            None => builder,
        }
    }
}
