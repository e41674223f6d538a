//! One invocation of a Lambda function, as a handler may know it, and the list of messages that it
//! says have failed. Knows no queue and no event.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::context::Delivery;
use crate::handler::{FromBatch, FromDelivery};

/// The invocation that brought a message (SPEC §4.1): an argument of handlers behind a
/// [`LambdaConsumer`](crate::LambdaConsumer), as `&Invocation`. Cheap to clone.
///
/// ```
/// use std::time::Duration;
/// use babelqueue::lambda::{Invocation, RetryOptions};
/// use babelqueue::prelude::*;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize, BabelMessage)]
/// # #[urn = "urn:babel:orders:created"]
/// # struct OrderCreated { order_id: u64 }
/// #[babel_handler]
/// async fn order_created(order: OrderCreated, ctx: &Context, invocation: &Invocation) {
///     if order.order_id == 0 {
///         let later = RetryOptions::new().min_delay(Duration::from_secs(300));
///         invocation.add_failed_message_with(&ctx.source().message_id, later);
///     }
/// }
/// ```
#[derive(Clone)]
pub struct Invocation {
    inner: Arc<Inner>,
}

struct Inner {
    request_id: String,
    xray_trace_id: Option<String>,
    started: Instant,
    deadline: Option<Instant>,
    failed: Mutex<BTreeMap<String, RetryOptions>>,
}

/// When a failed message is to come again, in place of what the retry backoff says (SPEC §4.7).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RetryOptions {
    pub(crate) delay_seconds: Option<f64>,
    pub(crate) min_delay_seconds: Option<f64>,
}

impl RetryOptions {
    /// Nothing but what the retry backoff says.
    pub const fn new() -> Self {
        Self {
            delay_seconds: None,
            min_delay_seconds: None,
        }
    }

    /// Exactly this long, within base and cap of the backoff: no formula, no minimum, no jitter.
    #[must_use]
    pub fn delay(self, delay: Duration) -> Self {
        self.delay_seconds(delay.as_secs_f64())
    }

    /// The same in seconds, as stored from [`retry_delay_seconds`](crate::lambda::retry_delay_seconds);
    /// a non-finite number counts as absent, a negative one falls to the backoff's base.
    #[must_use]
    pub const fn delay_seconds(mut self, seconds: f64) -> Self {
        self.delay_seconds = Some(seconds);
        self
    }

    /// At least this long.
    #[must_use]
    pub fn min_delay(self, delay: Duration) -> Self {
        self.min_delay_seconds(delay.as_secs_f64())
    }

    /// The same in seconds.
    #[must_use]
    pub const fn min_delay_seconds(mut self, seconds: f64) -> Self {
        self.min_delay_seconds = Some(seconds);
        self
    }

    /// Whether it says anything.
    pub(crate) fn is_none(&self) -> bool {
        let said = |seconds: Option<f64>| seconds.is_some_and(f64::is_finite);
        !said(self.delay_seconds) && !said(self.min_delay_seconds)
    }
}

impl Invocation {
    /// An invocation that begins now and may take so long: for tests, and for running a function
    /// without Lambda. Without a limit nothing is cut off.
    pub fn new(request_id: impl Into<String>, remaining: Option<Duration>) -> Self {
        Self::traced(request_id.into(), None, remaining)
    }

    pub(crate) fn traced(
        request_id: String,
        xray_trace_id: Option<String>,
        remaining: Option<Duration>,
    ) -> Self {
        let started = Instant::now();
        Self {
            inner: Arc::new(Inner {
                request_id,
                xray_trace_id,
                started,
                deadline: remaining.and_then(|remaining| started.checked_add(remaining)),
                failed: Mutex::default(),
            }),
        }
    }

    /// Id of the request; empty when Lambda gave none.
    pub fn request_id(&self) -> &str {
        &self.inner.request_id
    }

    /// The X-Ray trace header of the invocation, if it is traced.
    pub fn xray_trace_id(&self) -> Option<&str> {
        self.inner.xray_trace_id.as_deref()
    }

    /// When Lambda ends the invocation, if it said so.
    pub fn deadline(&self) -> Option<Instant> {
        self.inner.deadline
    }

    /// How long it may still take, if that is known. Handlers are cancelled a little earlier, by
    /// the consumer's `deadline_margin`.
    pub fn remaining(&self) -> Option<Duration> {
        let deadline = self.inner.deadline?;
        Some(deadline.saturating_duration_since(Instant::now()))
    }

    /// Reports a message as failed, by its SQS `MessageId` (`ctx.source().message_id`): it comes
    /// again, as if its handler had returned an error. From any task of the invocation, any number
    /// of times; an id that is not of this event is logged and left out (SPEC §4.6).
    pub fn add_failed_message(&self, message_id: &str) {
        self.add_failed_message_with(message_id, RetryOptions::new());
    }

    /// The same, and says when it is to come again. What the last call for a message said counts.
    pub fn add_failed_message_with(&self, message_id: &str, options: RetryOptions) {
        self.failed().insert(message_id.to_owned(), options);
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.inner.started.elapsed()
    }

    pub(crate) fn has_failed(&self, message_id: &str) -> bool {
        self.failed().contains_key(message_id)
    }

    pub(crate) fn take_failed(&self) -> BTreeMap<String, RetryOptions> {
        std::mem::take(&mut *self.failed())
    }

    fn failed(&self) -> MutexGuard<'_, BTreeMap<String, RetryOptions>> {
        let failed = self.inner.failed.lock();
        failed.unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invocation")
            .field("request_id", &self.inner.request_id)
            .field("deadline", &self.inner.deadline)
            .finish_non_exhaustive()
    }
}

/// A handler asks for the invocation and there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no Lambda invocation brought this message: take `Option<&Invocation>` to run elsewhere, too"
)]
pub struct NoInvocation;

impl<'d, S> FromDelivery<'d, S> for &'d Invocation {
    type Rejection = NoInvocation;

    fn from_delivery(delivery: &'d Delivery, _: &'d S) -> Result<Self, NoInvocation> {
        delivery.context().invocation().ok_or(NoInvocation)
    }
}

impl<'d, S> FromBatch<'d, S> for &'d Invocation {
    type Rejection = NoInvocation;

    fn from_batch(deliveries: &'d [Delivery], _: &'d S) -> Result<Self, NoInvocation> {
        let first = deliveries.first();
        first
            .and_then(|delivery| delivery.context().invocation())
            .ok_or(NoInvocation)
    }
}
