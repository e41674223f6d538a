//! [`Telemetry`]: what the application gives to publishers and consumers.

use std::fmt;
use std::sync::Arc;

use opentelemetry::global::BoxedTracer;
use opentelemetry::metrics::{Meter, MeterProvider};
use opentelemetry::trace::{Span, Tracer, TracerProvider};
use opentelemetry::{InstrumentationScope, global};

use super::metrics::Instruments;
use super::observer::Observer;
use crate::error_text::Redact;

/// Where spans and metrics go. Cheap to clone; the default observes nothing.
#[derive(Clone, Default)]
pub struct Telemetry {
    inner: Option<Arc<Inner>>,
}

pub(super) struct Inner {
    pub(super) tracer: Option<BoxedTracer>,
    pub(super) instruments: Option<Instruments>,
    pub(super) conventions: Conventions,
}

/// How spans are named and described. Metrics follow OpenTelemetry's messaging conventions either
/// way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Conventions {
    /// As the other SDKs of the family do (SPEC §3.5): `publish <urn>` and `process <urn>`, with
    /// `messaging.system` = `babelqueue`.
    #[default]
    Family,
    /// OpenTelemetry's messaging conventions: `send <queue>` and `process <queue>`, with
    /// `messaging.system` = `aws_sqs`, `messaging.operation.type` and `messaging.operation.name`,
    /// and the URN as `babelqueue.urn`. Receives and settlements get spans too, linked to the
    /// messages that they are about.
    Messaging,
}

impl Telemetry {
    /// Starts with neither spans nor metrics.
    pub fn builder() -> TelemetryBuilder {
        TelemetryBuilder::default()
    }

    /// Spans and metrics by the providers that are OpenTelemetry's global ones now: set them
    /// before.
    pub fn global() -> Self {
        Self::builder()
            .tracer_provider(&global::tracer_provider())
            .meter_provider(&*global::meter_provider())
            .build()
    }

    #[cfg(feature = "lambda")]
    pub(super) fn tracer(&self) -> Option<&BoxedTracer> {
        self.inner.as_ref()?.tracer.as_ref()
    }

    /// What observes the consumer or publisher of the queue with this name, the texts of whose
    /// errors the hook has first.
    pub(crate) fn observer(&self, queue: &str, redact: Option<&Redact>) -> Observer {
        Observer::new(self.inner.clone(), queue, redact)
    }
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Telemetry");
        if let Some(inner) = &self.inner {
            debug.field("conventions", &inner.conventions);
        }
        debug.finish_non_exhaustive()
    }
}

/// Makes a [`Telemetry`]; start with [`Telemetry::builder`].
#[derive(Default)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct TelemetryBuilder {
    tracer: Option<BoxedTracer>,
    meter: Option<Meter>,
    conventions: Conventions,
}

impl TelemetryBuilder {
    /// Where spans go. Without it there are none, and no `traceparent` is sent.
    pub fn tracer_provider<P>(mut self, provider: &P) -> Self
    where
        P: TracerProvider,
        P::Tracer: Tracer<Span: Span + Send + Sync + 'static> + Send + Sync + 'static,
    {
        let tracer = provider.tracer_with_scope(scope());
        self.tracer = Some(BoxedTracer::new(Box::new(tracer)));
        self
    }

    /// Where metrics go. Without it there are none.
    pub fn meter_provider<P: MeterProvider + ?Sized>(mut self, provider: &P) -> Self {
        self.meter = Some(provider.meter_with_scope(scope()));
        self
    }

    /// How spans are named and described: as in the family unless set.
    pub fn conventions(mut self, conventions: Conventions) -> Self {
        self.conventions = conventions;
        self
    }

    /// Makes it.
    pub fn build(self) -> Telemetry {
        Telemetry {
            inner: Some(Arc::new(Inner {
                tracer: self.tracer,
                instruments: self.meter.as_ref().map(Instruments::new),
                conventions: self.conventions,
            })),
        }
    }
}

impl fmt::Debug for TelemetryBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TelemetryBuilder")
            .field("tracer", &self.tracer.is_some())
            .field("meter", &self.meter.is_some())
            .field("conventions", &self.conventions)
            .finish()
    }
}

fn scope() -> InstrumentationScope {
    InstrumentationScope::builder("babelqueue")
        .with_version(env!("CARGO_PKG_VERSION"))
        .build()
}
