//! One message that is being handled: its span, and what is measured of it (SPEC §3.5).

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use opentelemetry::trace::{Link, SpanContext, SpanKind, Status, TraceContextExt as _};
use opentelemetry::{Context as OtelContext, KeyValue, Value};
use tokio::time::Instant;

use super::attributes::{
    ATTEMPTS, BATCH_COUNT, CONVERSATION_ID, ERROR_TYPE, EXCEPTION, EXCEPTION_MESSAGE,
    EXCEPTION_TYPE, MESSAGE_ID, OUTCOME,
};
use super::calls::Handled;
use super::observer::{About, Observed, Observer};
use super::scope::Scoped;
use super::settings::Conventions;
use super::tallies::OfUrn;
use super::{Ended, Failure, parent};
use crate::context::Context;
use crate::envelope::trace_context::is_uuid_text;

/// The trace id of the message being handled, where it is another text than that of the trace: a
/// publish from inside of the handler carries it on unchanged.
pub(super) struct Carried(pub(super) String);

/// A message that is being handled; it counts as cancelled when it is dropped before its end.
#[must_use]
pub(crate) struct Processing {
    /// In a box: most messages in flight have none, and need no room for one.
    active: Option<Box<Active>>,
}

struct Active {
    observed: Arc<Observed>,
    /// With the span, if there are spans.
    context: Option<OtelContext>,
    /// Where it is counted, if there are metrics.
    counted: Option<Arc<OfUrn>>,
    begun: Instant,
    /// Where it failed.
    failed: OnceLock<&'static str>,
}

impl Observer {
    /// A handler is about to have the message. `routed`: the router names its URN, so that there
    /// are not many of the kind; `waited`: for how long it was on its way.
    pub(crate) fn processing(
        &self,
        message: &Context,
        routed: bool,
        waited: impl FnOnce() -> Option<Duration>,
    ) -> Processing {
        let active = self.observed.as_ref().map(|observed| {
            let counted = observed.telemetry.instruments.as_ref().map(|instruments| {
                let of_urn = observed.consumed(routed.then(|| message.urn()));
                observed.tallies.running.add(1);
                if let Some(waited) = waited() {
                    instruments
                        .waited
                        .record(waited.as_secs_f64(), &of_urn.labels);
                }
                of_urn
            });
            Box::new(Active {
                context: span(observed, message),
                observed: Arc::clone(observed),
                counted,
                begun: Instant::now(),
                failed: OnceLock::new(),
            })
        });
        Processing { active }
    }
}

/// One call of a batch handler. Its messages have spans of their own; this one points to their
/// traces, and what the handler does stands under it. Dropped before its end it was cancelled.
#[must_use]
pub(crate) struct Batch {
    context: Option<OtelContext>,
}

impl Observer {
    /// A batch handler is about to have these messages, all of one URN.
    pub(crate) fn batch<'a>(&self, messages: impl Iterator<Item = &'a Context>) -> Batch {
        let context = self.observed.as_ref().and_then(|observed| {
            let mut messages = messages.peekable();
            let urn = messages.peek()?.urn();
            let links: Vec<_> = messages
                .map(|message| Link::with_context(remote(message)))
                .collect();
            let count = i64::try_from(links.len()).unwrap_or(i64::MAX);
            let about = About {
                kind: SpanKind::Consumer,
                family: "process",
                operation: "process",
                urn,
                destination: observed.queue.clone().into(),
            };
            let count = [KeyValue::new(BATCH_COUNT, count)];
            observed.start(about, count, &OtelContext::new(), Some(links))
        });
        Batch { context }
    }
}

impl Batch {
    /// Runs a future with the span as the current one.
    pub(crate) fn scope<F>(&self, future: F) -> Scoped<'_, F> {
        Scoped::new(self.context.as_ref(), future)
    }

    /// Does something with the span as the current one.
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        let _current = self
            .context
            .as_ref()
            .map(|context| context.clone().attach());
        work()
    }

    /// Nothing of it succeeded.
    pub(crate) fn failed<'a>(&self, kind: &'static str, failure: impl FnOnce() -> Failure<'a>) {
        if let Some(context) = &self.context {
            record(context, kind, failure);
        }
    }

    /// It has answered.
    pub(crate) fn end(mut self) {
        if let Some(context) = self.context.take() {
            context.span().end();
        }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        if let Some(context) = &self.context {
            cancelled(context);
            context.span().end();
        }
    }
}

impl Observed {
    /// What a message says of its queue: its name, as a rule.
    fn destination(&self, queue: &str) -> Value {
        if queue == self.queue.as_str() {
            return self.queue.clone().into();
        }
        queue.to_owned().into()
    }
}

fn span(observed: &Observed, message: &Context) -> Option<OtelContext> {
    let trace_id = message.trace_id();
    let remote = remote(message);
    let mut parent = OtelContext::new().with_remote_span_context(remote);
    if !is_uuid_text(trace_id) {
        parent = parent.with_value(Carried(trace_id.to_owned()));
    }
    let meta = message.meta();
    let about = About {
        kind: SpanKind::Consumer,
        family: "process",
        operation: "process",
        urn: message.urn(),
        destination: observed.destination(meta.queue().unwrap_or_default()),
    };
    let attempts = i64::try_from(message.attempts()).unwrap_or(i64::MAX);
    let more = [
        KeyValue::new(MESSAGE_ID, meta.id().unwrap_or_default().to_owned()),
        KeyValue::new(CONVERSATION_ID, trace_id.to_owned()),
        KeyValue::new(ATTEMPTS, attempts),
    ];
    observed.start(about, more, &parent, None)
}

/// The parent that a message names.
fn remote(message: &Context) -> SpanContext {
    let headers = message.headers();
    parent::of_message(
        headers.get(parent::TRACEPARENT),
        headers.get(parent::TRACESTATE),
        message.trace_id(),
    )
}

impl Processing {
    /// Of a message that no handler takes.
    pub(crate) fn of_nothing() -> Self {
        Self { active: None }
    }

    fn context(&self) -> Option<&OtelContext> {
        self.active.as_ref()?.context.as_ref()
    }

    /// Runs a future with the span as the current one.
    pub(crate) fn scope<F>(&self, future: F) -> Scoped<'_, F> {
        Scoped::new(self.context(), future)
    }

    /// Does something with the span as the current one.
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        let _current = self.context().map(|context| context.clone().attach());
        work()
    }

    /// The attempt failed: where, which is one of few, and the rest, which is only made for
    /// somebody who sees it.
    pub(crate) fn failed<'a>(&self, kind: &'static str, failure: impl FnOnce() -> Failure<'a>) {
        let Some(active) = &self.active else { return };
        // A panic of what comes after it is told by the span alone.
        let _ = active.failed.set(kind);
        if let Some(context) = &active.context {
            record(context, kind, failure);
        }
    }

    /// The message was decided about.
    pub(crate) fn end(mut self, ended: Ended) -> Handled {
        let Some(active) = self.active.take() else {
            return Handled::default();
        };
        active.end(ended)
    }
}

impl Drop for Processing {
    fn drop(&mut self) {
        if let Some(active) = self.active.take() {
            let _ = active.failed.set(CANCELLED);
            if let Some(context) = &active.context {
                cancelled(context);
            }
            active.end(Ended::Cancelled);
        }
    }
}

impl Active {
    fn end(self, ended: Ended) -> Handled {
        let telemetry = &self.observed.telemetry;
        if let (Some(instruments), Some(of_urn)) = (&telemetry.instruments, &self.counted) {
            self.observed.tallies.running.add(-1);
            of_urn.ended(ended).tally.add(1);
            let took = self.begun.elapsed().as_secs_f64();
            let labels = of_urn.timed(ended);
            match self.failed.get() {
                None => instruments.handling.record(took, labels),
                Some(kind) => {
                    let failed = KeyValue::new(ERROR_TYPE, *kind);
                    let labels = [labels, &[failed]].concat();
                    instruments.handling.record(took, &labels);
                }
            }
        }
        let Some(context) = self.context else {
            return Handled::default();
        };
        let span = context.span();
        span.set_attribute(KeyValue::new(OUTCOME, ended.as_str()));
        span.end();
        let settlements = telemetry.conventions == Conventions::Messaging;
        Handled {
            span: settlements.then(|| Box::new(span.span_context().clone())),
        }
    }
}

/// `error.type` of what was dropped before its end.
pub(super) const CANCELLED: &str = "cancelled";

/// Tells a span that what it is about was dropped before its end.
pub(super) fn cancelled(context: &OtelContext) {
    let span = context.span();
    span.set_attribute(KeyValue::new(ERROR_TYPE, CANCELLED));
    span.set_status(Status::error(CANCELLED));
}

/// Tells a span of a failure.
pub(super) fn record<'a>(context: &OtelContext, kind: &str, failure: impl FnOnce() -> Failure<'a>) {
    let span = context.span();
    if !span.is_recording() {
        return;
    }
    let failure = failure();
    let mut attributes = Vec::with_capacity(2);
    if let Some(exception) = failure.exception {
        attributes.push(KeyValue::new(EXCEPTION_TYPE, exception.to_owned()));
    }
    let text = failure.text.unwrap_or_default();
    attributes.push(KeyValue::new(EXCEPTION_MESSAGE, text.clone()));
    span.add_event(EXCEPTION, attributes);
    span.set_attribute(KeyValue::new(ERROR_TYPE, kind.to_owned()));
    span.set_status(Status::error(text));
}
