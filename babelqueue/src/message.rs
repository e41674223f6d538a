//! A typed message and its way out: what a struct must say of itself to be sent
//! ([`BabelMessage`]), the builder of one publish, and the seam to the publishers
//! ([`Publish`]). Reads the envelope's types and the context of a delivery; knows no transport.

use std::borrow::Cow;
use std::future::IntoFuture;
use std::time::Duration;

use serde::Serialize;

use crate::BoxFuture;
use crate::context::Context;
use crate::envelope::{DataJson, MakeError};

mod error;
pub use error::PublishError;

/// A struct that travels as the `data` of a BabelQueue envelope (SPEC §1.3, message-object form).
///
/// Derive it; the attribute `#[urn = "…"]` is required:
///
/// ```
/// use babelqueue::prelude::*;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, BabelMessage)]
/// #[urn = "urn:babel:orders:created"]
/// #[babel(alias = "urn:babel:orders:new")]
/// struct OrderCreated {
///     #[babel(group_id)]
///     customer_id: u64,
///     order_id: u64,
/// }
///
/// assert_eq!(OrderCreated::URN, "urn:babel:orders:created");
/// assert_eq!(OrderCreated::ALIASES, ["urn:babel:orders:new"]);
/// let order = OrderCreated { customer_id: 7, order_id: 1042 };
/// assert_eq!(BabelMessage::group_id(&order).as_deref(), Some("7"));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a message",
    label = "not a message",
    note = "put `#[derive(BabelMessage)]` and `#[urn = \"urn:…:…\"]` on `{Self}`"
)]
pub trait BabelMessage {
    /// The URN under which the message is sent, the envelope's `job`.
    const URN: &'static str;

    /// Older URNs that a handler of this message accepts as well (`#[babel(alias = "…")]`).
    const ALIASES: &'static [&'static str] = &[];

    /// The ordering key on a FIFO queue, the tenant of a fair queue on a standard one: the field
    /// marked `#[babel(group_id)]`. `None` falls through to the publisher's own group (SPEC §2.3).
    fn group_id(&self) -> Option<String> {
        None
    }

    /// The deduplication id on a FIFO queue: the field marked `#[babel(dedup_id)]`. `None` falls
    /// through to the envelope's `meta.id` (SPEC §2.3).
    fn deduplication_id(&self) -> Option<String> {
        None
    }

    /// The JSON Schema of `data`, when the type implements `schemars::JsonSchema` and the
    /// feature `schema` is on. A generic type has one only under `#[babel(schema)]`, which also
    /// makes the schema a requirement of the derive.
    fn schema() -> Option<serde_json::Value>
    where
        Self: Sized,
    {
        None
    }

    /// Sends the message: returns a builder that is a future once awaited.
    ///
    /// The message is serialised here, so the builder borrows only the publisher.
    fn publish<'p, P>(&self, publisher: &'p P) -> PublishBuilder<'p, P>
    where
        Self: Serialize + Sized,
        P: Publish + ?Sized,
    {
        PublishBuilder::new(publisher, Draft::of(self))
    }
}

/// So that what takes messages takes references to them as well.
impl<M: BabelMessage> BabelMessage for &M {
    const URN: &'static str = M::URN;
    const ALIASES: &'static [&'static str] = M::ALIASES;

    fn group_id(&self) -> Option<String> {
        (**self).group_id()
    }

    fn deduplication_id(&self) -> Option<String> {
        (**self).deduplication_id()
    }

    fn schema() -> Option<serde_json::Value> {
        M::schema()
    }
}

/// What sends messages: implemented by the publishers, and by a test double of the user's.
///
/// The trait is dyn-compatible, so an application may hold a `Box<dyn Publish>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a publisher",
    label = "cannot send messages",
    note = "pass a `&SqsPublisher`, or implement `babelqueue::Publish` for `{Self}`"
)]
pub trait Publish: Send + Sync {
    /// Sends one message. Nothing is sent when the result is an error that says so
    /// ([`PublishError::is_refused`]).
    fn send(&self, draft: Draft) -> BoxFuture<'_, Result<Published, PublishError>>;
}

/// One message on its way to a publisher: its URN, its `data` as JSON text, and what the caller
/// said about this one send.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Draft {
    /// The URN, the envelope's `job`.
    pub urn: Cow<'static, str>,
    /// `data` as JSON text.
    pub data: DataJson,
    /// The trace to carry on; a new one otherwise.
    pub trace_id: Option<String>,
    /// Extensions of `meta`, in order: key and JSON text.
    pub meta: Vec<(String, String)>,
    /// Riders: String attributes beside the contract's six (SPEC §2.2), in the order given.
    pub headers: Vec<(String, String)>,
    /// How long SQS holds the message back (SPEC §2.4).
    pub delay: Option<Duration>,
    /// `MessageGroupId` (SPEC §2.3).
    pub group_id: Option<String>,
    /// `MessageDeduplicationId` (SPEC §2.3).
    pub deduplication_id: Option<String>,
    /// The `meta.id` of the message that this one follows from; see
    /// [`PublishBuilder::caused_by`].
    pub causation_id: Option<String>,
}

impl Draft {
    /// Serialises `data` for the URN.
    ///
    /// # Errors
    /// [`PublishError::Make`] when `data` does not serialise to a JSON object or holds a number
    /// that JSON cannot carry (SPEC §1.3).
    pub fn new(
        urn: impl Into<Cow<'static, str>>,
        data: &(impl Serialize + ?Sized),
    ) -> Result<Self, PublishError> {
        Ok(Self {
            urn: urn.into(),
            data: DataJson::of(data)?,
            trace_id: None,
            meta: Vec::new(),
            headers: Vec::new(),
            delay: None,
            group_id: None,
            deduplication_id: None,
            causation_id: None,
        })
    }

    /// Serialises a message and asks it for its group and its deduplication id.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn of<M: BabelMessage + Serialize>(message: &M) -> Result<Self, PublishError> {
        let mut draft = Self::new(M::URN, message)?;
        draft.group_id = message.group_id();
        draft.deduplication_id = message.deduplication_id();
        Ok(draft)
    }
}

/// What became of a publish that succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Published {
    /// The envelope's `meta.id`: the identity that consumers deduplicate on.
    pub message_id: String,
    /// The envelope's `trace_id`.
    pub trace_id: String,
    /// The `MessageId` that SQS assigned.
    pub sqs_message_id: Option<String>,
    /// The sequence number of a FIFO queue.
    pub sequence_number: Option<String>,
}

impl Published {
    /// Names the two ids of the envelope; for implementations of [`Publish`].
    pub fn new(message_id: impl Into<String>, trace_id: impl Into<String>) -> Self {
        Self {
            message_id: message_id.into(),
            trace_id: trace_id.into(),
            sqs_message_id: None,
            sequence_number: None,
        }
    }
}

/// One publish before it is sent. Await it to send; a mistake in any part surfaces there, as a
/// [`PublishError`], and then nothing is sent.
#[must_use = "a publish does nothing until it is awaited"]
#[derive(Debug)]
pub struct PublishBuilder<'p, P: ?Sized> {
    publisher: &'p P,
    draft: Result<Draft, PublishError>,
}

impl<'p, P: Publish + ?Sized> PublishBuilder<'p, P> {
    /// Starts a publish from a draft or from the error that making it gave.
    pub fn new(publisher: &'p P, draft: Result<Draft, PublishError>) -> Self {
        Self { publisher, draft }
    }

    /// Carries the given trace on; blank means a new one (SPEC §1.3).
    pub fn trace_id(self, trace_id: impl Into<String>) -> Self {
        self.set(|draft| draft.trace_id = Some(trace_id.into()))
    }

    /// Carries on the trace of the delivery that is being handled: its `trace_id`, and its
    /// `traceparent` and `tracestate` when it has them.
    pub fn continue_trace(self, context: &Context) -> Self {
        self.set(|draft| {
            draft.trace_id = Some(context.trace_id().to_owned());
            for name in ["traceparent", "tracestate"] {
                if let Some(value) = context.headers().get(name) {
                    draft.headers.push((name.to_owned(), value.to_owned()));
                }
            }
        })
    }

    /// Carries on the trace of the delivery that is being handled, as
    /// [`continue_trace`](Self::continue_trace) does, and names its message as the cause of this
    /// one: `meta.ext.babelqueue.causation_id` is the `meta.id` of that message. What else is
    /// under `meta.ext` stays.
    pub fn caused_by(self, context: &Context) -> Self {
        self.continue_trace(context)
            .set(|draft| draft.causation_id = context.meta().id().map(ToOwned::to_owned))
    }

    /// Adds a rider: a String attribute beside the contract's own (SPEC §2.2). An empty key or
    /// value is skipped, a contract name (`bq-…`) is never taken, a repeated key replaces.
    pub fn header(self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.set(|draft| draft.headers.push((key.into(), value.into())))
    }

    /// Adds an extension to the envelope's `meta` (SPEC §1.3). The recommended shape is one
    /// entry `ext` that holds an object per vendor.
    pub fn meta(mut self, key: impl Into<String>, value: &(impl Serialize + ?Sized)) -> Self {
        let key = key.into();
        if let Ok(draft) = &mut self.draft {
            match crate::envelope::meta_to_json(&key, value) {
                Ok(json) => draft.meta.push((key, json)),
                Err(error) => self.draft = Err(error.into()),
            }
        }
        self
    }

    /// Holds the message back: up to 900 s on a standard queue, a part of a second rounds up;
    /// refused on a FIFO queue (SPEC §2.4).
    pub fn delay(self, delay: Duration) -> Self {
        self.set(|draft| draft.delay = Some(delay))
    }

    /// Sets `MessageGroupId`, over what the message's own field says (SPEC §2.3).
    pub fn group_id(self, group_id: impl Into<String>) -> Self {
        self.set(|draft| draft.group_id = Some(group_id.into()))
    }

    /// Sets `MessageDeduplicationId`, over what the message's own field says (SPEC §2.3).
    pub fn deduplication_id(self, deduplication_id: impl Into<String>) -> Self {
        self.set(|draft| draft.deduplication_id = Some(deduplication_id.into()))
    }

    /// The message with everything that was said about it, unsent.
    ///
    /// # Errors
    /// The first mistake that was made in it.
    pub fn into_draft(self) -> Result<Draft, PublishError> {
        self.draft
    }

    fn set(mut self, change: impl FnOnce(&mut Draft)) -> Self {
        if let Ok(draft) = &mut self.draft {
            change(draft);
        }
        self
    }
}

impl<'p, P: Publish + ?Sized> IntoFuture for PublishBuilder<'p, P> {
    type Output = Result<Published, PublishError>;
    type IntoFuture = BoxFuture<'p, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        match self.draft {
            Ok(draft) => self.publisher.send(draft),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }
}

impl From<MakeError> for PublishError {
    fn from(error: MakeError) -> Self {
        Self::Make(error)
    }
}
