//! [`Envelope`]: a body and the places of the contract's members in it. Decoding copies nothing;
//! text is owned only where the body spells it with escapes.

use std::fmt;

use serde::Deserialize;

use super::dead_letter::DeadLetter;
use super::error::{DecodeError, Undecodable};
use super::fields::{Fields, MetaFields};
use super::identity::{self, Source};
use super::json::{Span, lookup};
use super::meta::Meta;
use super::parts::{Parts, scan};
use super::text::Text;
use super::warning::Warning;

/// A message on the wire: who it is, what it carries, where it has been (SPEC §1).
///
/// An envelope keeps the bytes it was decoded from. Reading borrows from them; writing it again
/// ([`encode`](Self::encode), [`reemit`](Self::reemit)) patches them, so that whatever this crate
/// does not know survives untouched.
///
/// ```
/// use babelqueue::envelope::Envelope;
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct OrderCreated {
///     order_id: u64,
/// }
///
/// let body = r#"{"job":"urn:babel:orders:created","trace_id":"t-1","data":{"order_id":1042},
///     "meta":{"id":"m-1","queue":"orders","lang":"php","schema_version":1,
///     "created_at":1749132727000},"attempts":0}"#;
/// let envelope = Envelope::decode(body)?;
/// assert!(envelope.accepts());
/// assert_eq!(envelope.urn(), "urn:babel:orders:created");
/// assert_eq!(envelope.meta().queue(), Some("orders"));
///
/// let order: OrderCreated = envelope.data()?;
/// assert_eq!(order.order_id, 1042);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Envelope {
    /// Holds the body and all that is known of it, so that a handler can borrow it as it is.
    meta: Meta,
}

impl Envelope {
    /// Decodes a body (SPEC §1.5). The text moves in, it is not copied.
    ///
    /// Members of the wrong kind that the contract tolerates are dropped with a
    /// [`Warning`], which is also emitted to `tracing`. A decoded envelope is not yet one to be
    /// handled: see [`accept`](Self::accept).
    ///
    /// # Errors
    /// Fails exactly when the body is poison (SPEC §1.8). To get the body back in that case, use
    /// [`try_decode`](Self::try_decode).
    pub fn decode(body: impl Into<String>) -> Result<Self, DecodeError> {
        Self::try_decode(body.into()).map_err(|undecodable| undecodable.error)
    }

    /// Decodes a body like [`decode`](Self::decode), and hands it back when it is poison.
    ///
    /// # Errors
    /// Fails exactly when the body is poison (SPEC §1.8).
    pub fn try_decode(body: String) -> Result<Self, Undecodable> {
        Self::read(body).inspect(Self::warn)
    }

    /// Decodes a body like [`try_decode`](Self::try_decode), and leaves it to the caller to
    /// [`warn`](Self::warn) when it turns out to be meant as an envelope.
    pub(crate) fn read(body: String) -> Result<Self, Undecodable> {
        let checked = scan(&body)
            .and_then(|parts| identity::check(&parts, &body).map(|identity| (parts, identity)));
        match checked {
            Ok((parts, identity)) => Ok(Self::assemble(body, &parts, identity)),
            Err(error) => Err(Undecodable { body, error }),
        }
    }

    /// Decodes a body that need not name a message, for the inspection of dead-letter queues:
    /// [`urn`](Self::urn) is `""` when there is no identity (SPEC §1.5).
    ///
    /// # Errors
    /// Fails when the body is poison for any other reason than a missing identity.
    pub fn decode_lenient(body: impl Into<String>) -> Result<Self, DecodeError> {
        let body = body.into();
        let parts = scan(&body)?;
        if let Some(defect) = parts.defect {
            return Err(defect);
        }
        let identity = identity::fold(&parts, &body);
        let envelope = Self::assemble(body, &parts, identity);
        envelope.warn();
        Ok(envelope)
    }

    /// Decodes a body that may not even be text.
    ///
    /// # Errors
    /// Fails exactly when the body is poison (SPEC §1.8).
    pub fn decode_bytes(body: impl Into<Vec<u8>>) -> Result<Self, DecodeError> {
        Self::decode(String::from_utf8(body.into()).map_err(|error| error.utf8_error())?)
    }

    /// An envelope of a body and what is known of it.
    pub(super) fn new(body: String, fields: Fields) -> Self {
        Self {
            meta: Meta { body, fields },
        }
    }

    pub(super) fn fields(&self) -> &Fields {
        &self.meta.fields
    }

    fn assemble(body: String, parts: &Parts, identity: identity::Identity) -> Self {
        let warnings = identity::warnings(parts, identity.source);
        let text = |token| Text::from_token(token, &body);
        let drops_urn = matches!(identity.source, Source::Job)
            && !matches!(parts.urn, super::parts::Candidate::Absent);
        let fields = Fields {
            source: identity.source,
            urn: identity.token.map(text),
            trace_id: parts.trace_id.map(text),
            data: parts.data,
            meta: parts.meta.map(|meta| MetaFields {
                span: meta.span,
                id: meta.id.map(text),
                queue: meta.queue.map(text),
                lang: meta.lang.map(text),
                schema_version: meta.schema_version,
                created_at: meta.created_at,
            }),
            attempts: parts.attempts,
            dead_letter: parts.dead_letter,
            warnings,
            unfolded: identity.source == Source::Urn || drops_urn || !parts.forbidden.is_empty(),
        };
        Self::new(body, fields)
    }

    /// The identity: a valid `job`, else a valid `urn`, else `""`. Taken verbatim, never trimmed.
    pub fn urn(&self) -> &str {
        let urn = self.meta.fields.urn.as_ref();
        urn.map_or("", |urn| urn.of(&self.meta.body))
    }

    /// The trace id as it was received, blanks included; `None` when null or absent.
    pub fn trace_id(&self) -> Option<&str> {
        let trace_id = self.meta.fields.trace_id.as_ref();
        trace_id.map(|text| text.of(&self.meta.body))
    }

    /// The JSON text of the effective (last) `data` object; `None` when null or absent.
    pub fn data_json(&self) -> Option<&str> {
        self.meta.fields.data.map(|data| data.of(&self.meta.body))
    }

    /// Deserialises the payload straight from the text of `data`; strings may borrow from it
    /// (`#[serde(borrow)] Cow<'a, str>`).
    ///
    /// A null or missing `data` reads as `{}`, which only matters under lenient acceptance. A unit
    /// struct is read from any object.
    ///
    /// # Errors
    /// What `serde_json` says of the payload. That is an error of the payload, not of the
    /// envelope: nesting beyond 128 levels ends here too (SPEC §1.12).
    pub fn data<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        match serde_json::from_str(self.data_json().unwrap_or("{}")) {
            // A unit struct is written as `{}` but serde reads it from null alone.
            Err(error) if size_of::<T>() == 0 => serde_json::from_str("null").map_err(|_| error),
            result => result,
        }
    }

    /// The `meta` object.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The raw JSON text of a top-level member, the last one when it is repeated; the way to
    /// members that the contract does not know. `urn` and forbidden members are not found.
    pub fn member(&self, name: &str) -> Option<&str> {
        if matches!(name, "urn" | "timestamp") {
            return None;
        }
        if name == "job" && self.meta.fields.source != Source::Job {
            return None;
        }
        let start = self.meta.body.find('{')?;
        let end = self.meta.body.len();
        lookup(&self.meta.body, Span { start, end }, name).map(|value| value.of(&self.meta.body))
    }

    /// The wire value of `attempts`; `None` when null or absent. What a handler sees is this value
    /// reconciled with the receive count: [`reconcile_attempts`](super::reconcile_attempts).
    pub fn attempts(&self) -> Option<i64> {
        self.meta.fields.attempts
    }

    /// The `dead_letter` block; `None` when null or absent. Members that it lacks read as empty,
    /// 0 or `None`.
    pub fn dead_letter(&self) -> Option<DeadLetter> {
        let block = self.meta.fields.dead_letter?;
        Some(DeadLetter::parse(&self.meta.body, block))
    }

    /// What decode dropped; empty for an envelope that was made.
    pub fn warnings(&self) -> &[Warning] {
        &self.meta.fields.warnings
    }

    /// Emits the warnings to `tracing`.
    pub(crate) fn warn(&self) {
        self.warnings().iter().for_each(|warning| warning.emit());
    }

    /// The bytes that the envelope was decoded from, or encoded to.
    pub fn body(&self) -> &str {
        &self.meta.body
    }

    /// Gives the body away.
    pub fn into_body(self) -> String {
        self.meta.body
    }

    /// The queue to name as `original_queue` in a dead letter: `meta.queue` when it is a non-empty
    /// string, else the queue consumed from (SPEC §1.10).
    pub fn original_queue<'a>(&'a self, consumed_from: &'a str) -> &'a str {
        let queue = self.meta().queue().filter(|queue| !queue.is_empty());
        queue.unwrap_or(consumed_from)
    }
}

impl fmt::Debug for Envelope {
    /// Names the message but leaves its payload out: bodies do not belong into logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Envelope")
            .field("urn", &self.urn())
            .field("trace_id", &self.trace_id())
            .field("meta", &self.meta)
            .field("attempts", &self.attempts())
            .field("body_len", &self.meta.body.len())
            .finish_non_exhaustive()
    }
}
