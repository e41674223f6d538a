//! What a handler may know of the message it was given: the envelope, the reconciled attempts,
//! the delivered headers and what SQS said of the delivery. Reads the envelope's types only.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use crate::envelope::trace_context::{self, RemoteParent};
use crate::envelope::{Envelope, Headers, Meta};
use crate::lease::Lease;

/// One delivery of one message: an owned, cheap to clone handle on a [`Context`].
///
/// Extractors borrow from it ([`FromDelivery`](crate::FromDelivery)), and so may payloads.
#[derive(Clone, Debug)]
pub struct Delivery {
    context: Arc<Context>,
}

impl Delivery {
    /// Makes a delivery by hand, to call a handler's extractors in a test.
    pub fn new(context: Context) -> Self {
        Self {
            context: Arc::new(context),
        }
    }

    /// What is known of the delivery.
    pub fn context(&self) -> &Context {
        &self.context
    }
}

/// What a handler may know of its delivery (SPEC §2.7).
///
/// ```
/// use babelqueue::prelude::*;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize, BabelMessage)]
/// # #[urn = "urn:babel:orders:created"]
/// # struct OrderCreated {}
/// #[babel_handler]
/// async fn order_created(order: OrderCreated, ctx: &Context) {
///     println!("{:?}, try {} of trace {}", ctx.meta().id(), ctx.attempts() + 1, ctx.trace_id());
/// }
/// ```
#[derive(Debug)]
pub struct Context {
    envelope: Envelope,
    trace_id: Option<String>,
    attempts: u64,
    headers: Headers,
    source: Source,
    claim_token: OnceLock<String>,
    lease: Lease,
    /// Boxed, because few deliveries have one.
    span: Option<Box<tracing::Span>>,
    #[cfg(feature = "lambda")]
    invocation: Option<crate::invocation::Invocation>,
}

/// What SQS said of a delivery (SPEC §2.6).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Source {
    /// Name of the queue that the message was consumed from: the last segment of its URL.
    pub queue: Arc<str>,
    /// `MessageId` as SQS assigned it; not the envelope's `meta.id`.
    pub message_id: String,
    /// `ApproximateReceiveCount` as delivered, this delivery included.
    pub receive_count: Option<u64>,
    /// `MessageGroupId`: the FIFO group, or the tenant on a standard queue.
    pub group_id: Option<String>,
    /// `SentTimestamp`.
    pub sent_at: Option<SystemTime>,
    /// `ApproximateFirstReceiveTimestamp`.
    pub first_received_at: Option<SystemTime>,
}

impl Source {
    /// A delivery of the queue with this name, of which nothing else is known.
    pub fn new(queue: impl Into<Arc<str>>) -> Self {
        Self {
            queue: queue.into(),
            ..Self::default()
        }
    }

    /// The group in which messages have an order: those of standard queues have none.
    pub(crate) fn fifo_group(&self) -> Option<&str> {
        let fifo = self.queue.ends_with(".fifo");
        fifo.then(|| self.group_id.as_deref().unwrap_or_default())
    }
}

impl Context {
    /// Puts a context together: for drivers, and for tests that call a handler's extractors.
    ///
    /// `attempts` is the reconciled value (SPEC §2.9).
    pub fn new(envelope: Envelope, attempts: u64, headers: Headers, source: Source) -> Self {
        Self {
            envelope,
            trace_id: None,
            attempts,
            headers,
            source,
            claim_token: OnceLock::new(),
            lease: Lease::new(),
            span: None,
            #[cfg(feature = "lambda")]
            invocation: None,
        }
    }

    /// Stands in for a `trace_id` that the envelope lacks (lenient acceptance, SPEC §2.10).
    #[must_use]
    pub fn with_trace_id(mut self, trace_id: impl Into<String>) -> Self {
        self.trace_id = Some(trace_id.into());
        self
    }

    /// Puts the hold on the message in: of the driver that has it, or of a test that loses it.
    #[must_use]
    pub fn with_lease(mut self, lease: Lease) -> Self {
        self.lease = lease;
        self
    }

    /// Puts the span of this message in, for handlers that work on several at a time.
    #[must_use]
    pub fn with_span(mut self, span: tracing::Span) -> Self {
        self.span = Some(Box::new(span));
        self
    }

    /// The span of this message in a batch (SPEC §4.5); a disabled one elsewhere: a handler of one
    /// message runs inside of its span.
    pub fn span(&self) -> tracing::Span {
        self.span
            .as_deref()
            .map_or_else(tracing::Span::none, Clone::clone)
    }

    /// Puts the Lambda invocation in that brought the message: for drivers, and for tests.
    #[cfg(feature = "lambda")]
    #[must_use]
    pub fn with_invocation(mut self, invocation: crate::invocation::Invocation) -> Self {
        self.invocation = Some(invocation);
        self
    }

    /// The Lambda invocation that brought the message, if one did.
    #[cfg(feature = "lambda")]
    pub fn invocation(&self) -> Option<&crate::invocation::Invocation> {
        self.invocation.as_ref()
    }

    /// The whole envelope as it came; its `attempts` is the wire value.
    pub fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    /// The URN that the message was routed by.
    pub fn urn(&self) -> &str {
        self.envelope.urn()
    }

    /// The trace id, unchanged over every hop.
    pub fn trace_id(&self) -> &str {
        self.trace_id
            .as_deref()
            .or(self.envelope.trace_id())
            .unwrap_or_default()
    }

    /// The envelope's `meta`: id, queue, language, creation time, extensions.
    pub fn meta(&self) -> &Meta {
        self.envelope.meta()
    }

    /// How often the message was tried before this delivery, reconciled with SQS's own count
    /// (SPEC §2.9): 0 on the first.
    pub fn attempts(&self) -> u64 {
        self.attempts
    }

    /// The delivered attributes that are text (SPEC §3.4), those of the contract included.
    pub fn headers(&self) -> &Headers {
        &self.headers
    }

    /// What SQS said of the delivery.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The token of the claim that the message is handled under, when the consumer's idempotency
    /// store hands out claims (SPEC §3.1): for fencing writes to other systems.
    pub fn claim_token(&self) -> Option<&str> {
        self.claim_token.get().map(String::as_str)
    }

    /// Whether the message is still this handler's, to ask or to watch (SPEC §2.16).
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    #[cfg(all(feature = "idempotency", feature = "sqs"))]
    pub(crate) fn set_claim_token(&self, token: &str) {
        // A delivery is handled once.
        let _ = self.claim_token.set(token.to_owned());
    }

    /// The remote parent of the delivery's span: its `traceparent` header, else derived from the
    /// trace id (SPEC §3.5).
    pub fn remote_parent(&self) -> RemoteParent {
        trace_context::extract(self.headers.get("traceparent"), self.trace_id())
    }

    /// How long ago the message was sent, by SQS's clock against ours; zero when they disagree.
    pub fn age(&self) -> Option<Duration> {
        let sent_at = self.source.sent_at?;
        Some(
            SystemTime::now()
                .duration_since(sent_at)
                .unwrap_or_default(),
        )
    }

    /// Whether the message was redriven with its external effects bypassed (SPEC §3.3).
    pub fn is_replay(&self) -> bool {
        self.headers.is_replay()
    }

    /// Runs `effect` unless this is a replay (SPEC §3.3): for mails, charges and other effects
    /// outside one's own system.
    pub fn bypass_external_effects<T>(&self, effect: impl FnOnce() -> T) -> Option<T> {
        (!self.is_replay()).then(effect)
    }
}
