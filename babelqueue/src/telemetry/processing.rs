//! The span of one message that is being handled (SPEC §3.5).

use opentelemetry::trace::{SpanKind, Status, TraceContextExt as _};
use opentelemetry::{Context as OtelContext, KeyValue};

use super::Failure;
use super::attributes::{
    ATTEMPTS, CONVERSATION_ID, ERROR_TYPE, EXCEPTION, EXCEPTION_MESSAGE, EXCEPTION_TYPE,
    MESSAGE_ID, OUTCOME,
};
use super::observer::{About, Observer};
use super::parent;
use super::scope::Scoped;
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
    active: Option<Box<Active>>,
}

struct Active {
    context: OtelContext,
}

impl Observer {
    /// A handler is about to have the message.
    pub(crate) fn processing(&self, message: &Context) -> Processing {
        let active = self.observed.as_ref().and_then(|observed| {
            let headers = message.headers();
            let trace_id = message.trace_id();
            let remote = parent::of_message(
                headers.get(parent::TRACEPARENT),
                headers.get(parent::TRACESTATE),
                trace_id,
            );
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
            let context = observed.start(about, more, &parent)?;
            Some(Box::new(Active { context }))
        });
        Processing { active }
    }
}

impl Processing {
    fn context(&self) -> Option<&OtelContext> {
        self.active.as_deref().map(|active| &active.context)
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
    pub(crate) fn end(mut self, outcome: &'static str) {
        if let Some(active) = self.active.take() {
            active.end(outcome);
        }
    }
}

impl Drop for Processing {
    fn drop(&mut self) {
        if let Some(active) = self.active.take() {
            active.context.span().set_status(Status::error(CANCELLED));
            active.end(CANCELLED);
        }
    }
}

impl Active {
    fn end(self, outcome: &'static str) {
        let span = self.context.span();
        span.set_attribute(KeyValue::new(OUTCOME, outcome));
        span.end();
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
    span.set_attribute(KeyValue::new(ERROR_TYPE, failure.kind));
    span.set_status(Status::error(text));
}
