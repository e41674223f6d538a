//! The seam: what a consumer or publisher of one queue tells telemetry. It costs one look when no
//! telemetry was given.

use std::sync::Arc;

use opentelemetry::trace::{Link, SpanBuilder, SpanKind, Tracer as _};
use opentelemetry::{Context as OtelContext, KeyValue, StringValue, Value};

use super::attributes::{
    DESTINATION, FAMILY_SYSTEM, OPERATION, OPERATION_NAME, OPERATION_TYPE, SQS_SYSTEM, SYSTEM, URN,
};
use super::settings::{Conventions, Inner};
use super::tallies::Tallies;
use crate::error_text::Redact;

/// Observes for one queue.
#[derive(Clone, Default)]
pub(crate) struct Observer {
    pub(super) observed: Option<Arc<Observed>>,
}

pub(super) struct Observed {
    pub(super) telemetry: Arc<Inner>,
    /// Name of the queue.
    pub(super) queue: StringValue,
    /// What takes the secrets out of what is said of calls.
    pub(super) redact: Option<Redact>,
    /// What every metric is labelled with.
    pub(super) labels: [KeyValue; 2],
    pub(super) tallies: Tallies,
}

impl Observer {
    pub(super) fn new(telemetry: Option<Arc<Inner>>, queue: &str, redact: Option<&Redact>) -> Self {
        Self {
            observed: telemetry.map(|telemetry| {
                let tellers = telemetry
                    .instruments
                    .as_ref()
                    .map(|all| all.tellers.clone());
                let queue: StringValue = Arc::<str>::from(queue).into();
                let labels = [
                    KeyValue::new(SYSTEM, SQS_SYSTEM),
                    KeyValue::new(DESTINATION, queue.clone()),
                ];
                let observed = Arc::new(Observed {
                    telemetry,
                    queue,
                    redact: redact.cloned(),
                    labels,
                    tallies: Tallies::default(),
                });
                if let Some(tellers) = tellers {
                    tellers.add(&observed);
                }
                observed
            }),
        }
    }
}

impl std::fmt::Debug for Observer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Observer")
            .field("on", &self.observed.is_some())
            .finish_non_exhaustive()
    }
}

/// What a message's span is about; its name follows.
pub(super) struct About<'a> {
    pub(super) kind: SpanKind,
    /// The family's name of the operation.
    pub(super) family: &'static str,
    /// OpenTelemetry's type of the operation, which is also its name.
    pub(super) operation: &'static str,
    pub(super) urn: &'a str,
    /// The family's destination.
    pub(super) destination: Value,
}

impl Observed {
    /// The labels of a metric that has more of them, with room for one.
    pub(super) fn labelled<const N: usize>(&self, more: [KeyValue; N]) -> Vec<KeyValue> {
        let mut labels = Vec::with_capacity(self.labels.len() + N + 1);
        labels.extend_from_slice(&self.labels);
        labels.extend(more);
        labels
    }

    /// Starts the span of one message, if there are spans: the context that has it.
    pub(super) fn start(
        &self,
        about: About<'_>,
        more: impl IntoIterator<Item = KeyValue>,
        parent: &OtelContext,
        links: Option<Vec<Link>>,
    ) -> Option<OtelContext> {
        use opentelemetry::trace::TraceContextExt as _;
        let tracer = self.telemetry.tracer.as_ref()?;
        let mut attributes = Vec::with_capacity(8);
        let name = match self.telemetry.conventions {
            Conventions::Family => {
                attributes.push(KeyValue::new(SYSTEM, FAMILY_SYSTEM));
                attributes.push(KeyValue::new(OPERATION, about.family));
                attributes.push(KeyValue::new(DESTINATION, about.destination));
                [about.family, " ", about.urn].concat()
            }
            Conventions::Messaging => {
                attributes.push(KeyValue::new(SYSTEM, SQS_SYSTEM));
                attributes.push(KeyValue::new(OPERATION_TYPE, about.operation));
                attributes.push(KeyValue::new(OPERATION_NAME, about.operation));
                attributes.push(KeyValue::new(DESTINATION, self.queue.clone()));
                attributes.push(KeyValue::new(URN, about.urn.to_owned()));
                [about.operation, " ", self.queue.as_str()].concat()
            }
        };
        attributes.extend(more);
        let mut builder = SpanBuilder::from_name(name)
            .with_kind(about.kind)
            .with_attributes(attributes);
        builder.links = links;
        let span = tracer.build_with_context(builder, parent);
        Some(parent.with_span(span))
    }
}
