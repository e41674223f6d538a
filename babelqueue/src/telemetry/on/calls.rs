//! The calls of SQS: how long they take, and the spans of receives, batches and settlements, which
//! point to the messages that they are about.

use std::error::Error as StdError;
use std::time::{Duration, SystemTime};

use opentelemetry::trace::{
    Link, SpanBuilder, SpanContext, SpanKind, TraceContextExt as _, Tracer as _,
};
use opentelemetry::{Context as OtelContext, KeyValue};

use super::attributes::{
    BATCH_COUNT, DESTINATION, ERROR_TYPE, OPERATION_NAME, OPERATION_TYPE, SQS_SYSTEM, SYSTEM,
};
use super::observer::{Observed, Observer};
use super::processing::record;
use super::scope::Scoped;
use super::settings::Conventions;
use super::{Failure, parent};
use crate::error_text::redacted;

/// The span under which a message was handled, for what is done to it later.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handled {
    pub(super) span: Option<Box<SpanContext>>,
}

/// The messages that a call settles, by the spans that handled them.
pub(crate) struct Settled {
    context: Option<OtelContext>,
}

/// Their spans, for the span of the call, which may be about messages without one, too.
struct Spans {
    of: Vec<SpanContext>,
    messages: usize,
}

impl Settled {
    /// Of nothing that has a span.
    pub(crate) fn of<'a>(handled: impl Iterator<Item = &'a Handled>) -> Self {
        let mut messages = 0;
        let of: Vec<_> = handled
            .inspect(|_| messages += 1)
            .filter_map(|one| one.span.as_deref().cloned())
            .collect();
        let context =
            (!of.is_empty()).then(|| OtelContext::new().with_value(Spans { of, messages }));
        Self { context }
    }

    /// Runs the call, which finds the spans again at its end.
    pub(crate) async fn scope<F: Future>(self, call: F) -> F::Output {
        Scoped::new(self.context.as_ref(), call).await
    }
}

/// A call of SQS that has ended.
pub(crate) struct Call<'a> {
    /// As SQS names the operation.
    pub(crate) operation: &'a str,
    pub(crate) took: Duration,
    /// What went wrong, in one word, and in full.
    pub(crate) error: Option<(&'a str, &'a (dyn StdError + 'static))>,
    /// `traceparent` and `bq-trace-id` of each message that it brought, or sent in a batch.
    pub(crate) messages: Vec<[Option<&'a str>; 2]>,
}

impl Observer {
    /// Whether calls have spans, which point to messages.
    pub(crate) fn has_spans_of_calls(&self) -> bool {
        self.observed.as_ref().is_some_and(|observed| {
            observed.telemetry.tracer.is_some()
                && observed.telemetry.conventions == Conventions::Messaging
        })
    }

    /// Whether anybody wants to know of calls.
    pub(crate) fn is_on(&self) -> bool {
        self.observed.is_some()
    }

    /// A call of SQS has ended.
    pub(crate) fn called(&self, call: &Call<'_>) {
        let Some(observed) = &self.observed else {
            return;
        };
        if let Some(instruments) = &observed.telemetry.instruments {
            let operation = KeyValue::new(OPERATION_NAME, call.operation.to_owned());
            let mut attributes = observed.labelled([operation]);
            if let Some((kind, _)) = call.error {
                attributes.push(KeyValue::new(ERROR_TYPE, kind.to_owned()));
            }
            instruments
                .calls
                .record(call.took.as_secs_f64(), &attributes);
        }
        if self.has_spans_of_calls() {
            observed.span_of(call);
        }
    }
}

impl Observed {
    /// A receive that brought something, or failed, a batch that is sent, and a settlement have
    /// spans; afterwards, so that empty long polls leave none.
    fn span_of(&self, call: &Call<'_>) -> Option<()> {
        let tracer = self.telemetry.tracer.as_ref()?;
        let current = OtelContext::current();
        // A message that tells neither has no trace to point to.
        let of = |[header, trace_id]: &[Option<&str>; 2]| match trace_id {
            Some(trace_id) => Some(parent::of_message(*header, None, trace_id)),
            None => parent::of_header((*header)?, None),
        };
        let messages = || call.messages.iter().filter_map(of).collect::<Vec<_>>();
        let mut count = call.messages.len();
        let (kind, links, parent) = match (call.operation, current.get::<Spans>()) {
            ("ReceiveMessage", _) if call.messages.is_empty() && call.error.is_none() => {
                return None;
            }
            ("ReceiveMessage", _) => ("receive", messages(), OtelContext::new()),
            ("SendMessageBatch", _) => ("send", messages(), current),
            // Of one message it is a part of its trace; of several it can only point to theirs.
            (_, Some(Spans { of, messages })) => {
                count = *messages;
                let parent = match &of[..] {
                    [only] if count == 1 => {
                        OtelContext::new().with_remote_span_context(only.clone())
                    }
                    _ => OtelContext::new(),
                };
                ("settle", of.clone(), parent)
            }
            _ => return None,
        };
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let attributes = [
            KeyValue::new(SYSTEM, SQS_SYSTEM),
            KeyValue::new(OPERATION_TYPE, kind),
            KeyValue::new(OPERATION_NAME, call.operation.to_owned()),
            KeyValue::new(DESTINATION, self.queue.clone()),
            KeyValue::new(BATCH_COUNT, count),
        ];
        let builder = SpanBuilder::from_name(format!("{kind} {}", self.queue.as_str()))
            .with_kind(SpanKind::Client)
            .with_start_time(SystemTime::now() - call.took)
            .with_attributes(attributes)
            .with_links(links.into_iter().map(Link::with_context).collect());
        let context = parent.with_span(tracer.build_with_context(builder, &parent));
        if let Some((kind, error)) = call.error {
            record(&context, kind, || Failure {
                exception: None,
                text: redacted(error, self.redact.as_ref(), self.queue.as_str()),
            });
        }
        context.span().end();
        Some(())
    }
}
