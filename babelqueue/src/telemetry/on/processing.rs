//! One message that is being handled: its span, and what is measured of it (SPEC §3.5).

use std::sync::Arc;
use std::time::Duration;

use opentelemetry::trace::{Link, SpanContext, SpanKind, Status, TraceContextExt as _};
use opentelemetry::{Context as OtelContext, KeyValue, StringValue};
use tokio::time::Instant;

use super::attributes::{
    ATTEMPTS, BATCH_COUNT, CONVERSATION_ID, ERROR_TYPE, EXCEPTION, EXCEPTION_MESSAGE,
    EXCEPTION_TYPE, MESSAGE_ID, OUTCOME, URN,
};
use super::calls::Handled;
use super::labels::OTHER;
use super::observer::{About, Observed, Observer};
use super::scope::Scoped;
use super::settings::Conventions;
use super::{Failure, parent};
use crate::context::Context;
use crate::envelope::trace_context::{trace_id_of, uuid_text};

/// The outcome of a message whose handler was dropped before its end.
const CANCELLED: &str = "cancelled";

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
    urn: StringValue,
    begun: Instant,
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
            let urn = if routed {
                Arc::<str>::from(message.urn()).into()
            } else {
                OTHER.into()
            };
            if let Some(instruments) = &observed.telemetry.instruments {
                instruments.running.add(1, &observed.labels);
                if let Some(waited) = waited() {
                    let labels = observed.labelled([KeyValue::new(URN, StringValue::clone(&urn))]);
                    instruments.waited.record(waited.as_secs_f64(), &labels);
                }
            }
            Box::new(Active {
                context: span(observed, message),
                observed: Arc::clone(observed),
                urn,
                begun: Instant::now(),
            })
        });
        Processing { active }
    }
}

/// One call of a batch handler. Its messages have spans of their own; this one points to their
/// traces, and what the handler does stands under it.
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
            observed.start(about, count, &OtelContext::new(), links)
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
}

impl Drop for Batch {
    fn drop(&mut self) {
        if let Some(context) = &self.context {
            context.span().end();
        }
    }
}

fn span(observed: &Observed, message: &Context) -> Option<OtelContext> {
    let trace_id = message.trace_id();
    let remote = remote(message);
    let mut parent = OtelContext::new().with_remote_span_context(remote);
    if uuid_text(trace_id_of(trace_id)) != trace_id {
        parent = parent.with_value(Carried(trace_id.to_owned()));
    }
    let meta = message.meta();
    let about = About {
        kind: SpanKind::Consumer,
        family: "process",
        operation: "process",
        urn: message.urn(),
        destination: meta.queue().unwrap_or_default().to_owned().into(),
    };
    let attempts = i64::try_from(message.attempts()).unwrap_or(i64::MAX);
    let more = [
        KeyValue::new(MESSAGE_ID, meta.id().unwrap_or_default().to_owned()),
        KeyValue::new(CONVERSATION_ID, trace_id.to_owned()),
        KeyValue::new(ATTEMPTS, attempts),
    ];
    observed.start(about, more, &parent, Vec::new())
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

    /// The attempt failed. The text is only made for somebody who sees it.
    pub(crate) fn failed<'a>(&self, failure: impl FnOnce() -> Failure<'a>) {
        if let Some(context) = self.context() {
            record(context, failure);
        }
    }

    /// The message was decided about.
    pub(crate) fn end(mut self, outcome: &'static str) -> Handled {
        let Some(active) = self.active.take() else {
            return Handled::default();
        };
        active.end(outcome)
    }
}

impl Drop for Processing {
    fn drop(&mut self) {
        if let Some(active) = self.active.take() {
            if let Some(context) = &active.context {
                context.span().set_status(Status::error(CANCELLED));
            }
            active.end(CANCELLED);
        }
    }
}

impl Active {
    fn end(self, outcome: &'static str) -> Handled {
        let telemetry = &self.observed.telemetry;
        if let Some(instruments) = &telemetry.instruments {
            instruments.running.add(-1, &self.observed.labels);
            let more = [
                KeyValue::new(URN, self.urn),
                KeyValue::new(OUTCOME, outcome),
            ];
            let labels = self.observed.labelled(more);
            instruments.handled.add(1, &labels);
            let took = self.begun.elapsed().as_secs_f64();
            instruments.handling.record(took, &labels);
        }
        let Some(context) = self.context else {
            return Handled::default();
        };
        let span = context.span();
        span.set_attribute(KeyValue::new(OUTCOME, outcome));
        span.end();
        let settlements = telemetry.conventions == Conventions::Messaging;
        Handled {
            span: settlements.then(|| Box::new(span.span_context().clone())),
        }
    }
}

/// Tells a span of a failure.
pub(super) fn record<'a>(context: &OtelContext, failure: impl FnOnce() -> Failure<'a>) {
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
    span.set_attribute(KeyValue::new(ERROR_TYPE, failure.kind.to_owned()));
    span.set_status(Status::error(text));
}
