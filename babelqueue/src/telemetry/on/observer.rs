//! The seam: what a consumer or publisher of one queue tells telemetry. It costs one look when no
//! telemetry was given.

use std::sync::Arc;

use opentelemetry::trace::{Link, SpanBuilder, SpanKind, Tracer as _};
use opentelemetry::{Context as OtelContext, KeyValue, StringValue, Value};

use super::attributes::{
    DESTINATION, FAMILY_SYSTEM, OPERATION, OPERATION_NAME, OPERATION_TYPE, SQS_SYSTEM, SYSTEM, URN,
};
use super::settings::{Conventions, Inner};

/// Observes for one queue.
#[derive(Clone, Default)]
pub(crate) struct Observer {
    pub(super) observed: Option<Arc<Observed>>,
}

pub(super) struct Observed {
    pub(super) telemetry: Arc<Inner>,
    /// Name of the queue.
    pub(super) queue: StringValue,
    /// What every metric is labelled with.
    pub(super) labels: [KeyValue; 2],
}

impl Observer {
    pub(super) fn new(telemetry: Option<Arc<Inner>>, queue: &str) -> Self {
        Self {
            observed: telemetry.map(|telemetry| {
                let queue: StringValue = Arc::<str>::from(queue).into();
                let labels = [
                    KeyValue::new(SYSTEM, SQS_SYSTEM),
                    KeyValue::new(DESTINATION, queue.clone()),
                ];
                Arc::new(Observed {
                    telemetry,
                    queue,
                    labels,
                })
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
    /// The labels of a metric that has more of them.
    pub(super) fn labelled<const N: usize>(&self, more: [KeyValue; N]) -> Vec<KeyValue> {
        self.labels.iter().cloned().chain(more).collect()
    }

    /// Starts the span of one message, if there are spans: the context that has it.
    pub(super) fn start(
        &self,
        about: About<'_>,
        more: impl IntoIterator<Item = KeyValue>,
        parent: &OtelContext,
        links: Vec<Link>,
    ) -> Option<OtelContext> {
        use opentelemetry::trace::TraceContextExt as _;
        let tracer = self.telemetry.tracer.as_ref()?;
        let mut attributes = Vec::with_capacity(8);
        let name = match self.telemetry.conventions {
            Conventions::Family => {
                attributes.push(KeyValue::new(SYSTEM, FAMILY_SYSTEM));
                attributes.push(KeyValue::new(OPERATION, about.family));
                attributes.push(KeyValue::new(DESTINATION, about.destination));
                format!("{} {}", about.family, about.urn)
            }
            Conventions::Messaging => {
                attributes.push(KeyValue::new(SYSTEM, SQS_SYSTEM));
                attributes.push(KeyValue::new(OPERATION_TYPE, about.operation));
                attributes.push(KeyValue::new(OPERATION_NAME, about.operation));
                attributes.push(KeyValue::new(DESTINATION, self.queue.clone()));
                attributes.push(KeyValue::new(URN, about.urn.to_owned()));
                format!("{} {}", about.operation, self.queue.as_str())
            }
        };
        attributes.extend(more);
        let builder = SpanBuilder::from_name(name)
            .with_kind(about.kind)
            .with_links(links)
            .with_attributes(attributes);
        let span = tracer.build_with_context(builder, parent);
        Some(parent.with_span(span))
    }
}
