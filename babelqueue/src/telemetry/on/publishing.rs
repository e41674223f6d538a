//! The span of one publish, and what it puts beside the message (SPEC §3.5).

use std::borrow::Cow;
use std::sync::Arc;

use opentelemetry::trace::{SpanContext, SpanKind, TraceContextExt as _};
use opentelemetry::{Context as OtelContext, KeyValue};

use super::attributes::{ERROR_TYPE, MESSAGE_ID};
use super::observer::{About, Observed, Observer};
use super::processing::{CANCELLED, Carried, cancelled, record};
use super::scope::Scoped;
use super::tallies::Labelled;
use super::urns::OTHER;
use super::{Failure, parent};
use crate::envelope::is_blank;
use crate::envelope::trace_context::{trace_id_of, uuid_text};
use crate::error_text::error_text;
use crate::message::{Draft, PublishError, Published};

/// A message that is being published. Dropped before its end it was given up: whether it was sent
/// nobody knows.
#[must_use]
pub(crate) struct Publishing {
    context: Option<OtelContext>,
    measured: Option<(Arc<Observed>, Arc<Labelled>)>,
}

impl std::fmt::Debug for Publishing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Publishing").finish_non_exhaustive()
    }
}

impl Observer {
    /// A message is about to be published: its draft gets the context of its span, and its trace
    /// id unless it has one.
    pub(crate) fn publishing(&self, draft: &mut Draft) -> Publishing {
        let named = matches!(draft.urn, Cow::Borrowed(_));
        let given = draft.trace_id.as_deref();
        let (publishing, stamp) = self.begin(&draft.urn, named, given, &mut draft.headers);
        if stamp.is_some() {
            draft.trace_id = stamp;
        }
        publishing
    }

    /// Bytes that are a message already are about to be sent: only what goes beside them gets the
    /// context of the span.
    pub(crate) fn sending_on(
        &self,
        urn: &str,
        trace_id: &str,
        headers: &mut Vec<(String, String)>,
    ) -> Publishing {
        let urn = if urn.is_empty() { OTHER } else { urn };
        self.begin(urn, false, Some(trace_id), headers).0
    }

    /// Begins, and gives the trace id that the message is to have, if it has none.
    fn begin(
        &self,
        urn: &str,
        named: bool,
        trace_id: Option<&str>,
        headers: &mut Vec<(String, String)>,
    ) -> (Publishing, Option<String>) {
        let measured = self.observed.as_ref().and_then(|observed| {
            observed.telemetry.instruments.as_ref()?;
            Some((Arc::clone(observed), observed.sent(urn, named)))
        });
        let mut trace = None;
        let context = self.observed.as_ref().and_then(|observed| {
            let given = trace_id.filter(|id| !is_blank(id));
            let current = OtelContext::current();
            let remote = surroundings(&current, given, headers);
            let parent = match &remote {
                Some(remote) => current.with_remote_span_context(remote.clone()),
                None => current,
            };
            let about = About {
                kind: SpanKind::Producer,
                family: "publish",
                operation: "send",
                urn,
                destination: urn.to_owned().into(),
            };
            let context = observed.start(about, [], &parent, None)?;
            let span = context.span().span_context().clone();
            // A tracer that makes no spans hands the parent on: there is nothing new to tell.
            if span.is_valid() && remote.as_ref() != Some(&span) {
                if given.is_none() {
                    trace = Some(stamp(&span, parent.get::<Carried>()));
                }
                parent::inject(&span, headers);
            }
            Some(context)
        });
        (Publishing { context, measured }, trace)
    }
}

/// The parent of a publish outside of every span: what the caller said of its trace.
fn surroundings(
    current: &OtelContext,
    trace_id: Option<&str>,
    headers: &[(String, String)],
) -> Option<SpanContext> {
    if current.span().span_context().is_valid() {
        return None;
    }
    parent::of_headers(headers)
        .or_else(|| trace_id.map(|trace_id| parent::of_message(None, None, trace_id)))
}

/// The trace id that stands for a trace: the text that the message being handled has, when it
/// means the same trace; else the UUID of the TraceId.
fn stamp(span: &SpanContext, carried: Option<&Carried>) -> String {
    let trace_id = span.trace_id().to_bytes();
    match carried {
        Some(Carried(text)) if trace_id_of(text) == trace_id => text.clone(),
        _ => uuid_text(trace_id),
    }
}

impl Publishing {
    /// Runs a future with the span as the current one.
    pub(crate) fn scope<F>(&self, future: F) -> Scoped<'_, F> {
        Scoped::new(self.context.as_ref(), future)
    }

    /// What the publish came to.
    pub(crate) fn end(mut self, result: &Result<Published, PublishError>) {
        self.count(result.as_ref().err().map(PublishError::kind));
        let Some(context) = self.context.take() else {
            return;
        };
        let span = context.span();
        match result {
            Ok(published) => {
                span.set_attribute(KeyValue::new(MESSAGE_ID, published.message_id.clone()));
            }
            Err(error) => record(&context, error.kind(), || Failure {
                exception: Some("PublishError"),
                text: Some(error_text(error)),
            }),
        }
        span.end();
    }

    /// Counts it once.
    fn count(&mut self, failed: Option<&'static str>) {
        let Some((observed, sent)) = self.measured.take() else {
            return;
        };
        let Some(kind) = failed else {
            sent.tally.add(1);
            return;
        };
        let mut labels = sent.labels.clone();
        labels.push(KeyValue::new(ERROR_TYPE, kind));
        if let Some(instruments) = &observed.telemetry.instruments {
            instruments.sent.add(1, &labels);
        }
    }
}

impl Drop for Publishing {
    fn drop(&mut self) {
        self.count(Some(CANCELLED));
        if let Some(context) = &self.context {
            cancelled(context);
            context.span().end();
        }
    }
}
