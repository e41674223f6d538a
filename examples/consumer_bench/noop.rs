//! Telemetry that is made in full and then thrown away.

use std::time::Duration;

use babelqueue::telemetry::Telemetry;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use opentelemetry_sdk::metrics::{SdkMeterProvider, Temporality};
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};

#[derive(Debug)]
struct Nowhere;

impl SpanExporter for Nowhere {
    async fn export(&self, _: Vec<SpanData>) -> OTelSdkResult {
        Ok(())
    }
}

impl PushMetricExporter for Nowhere {
    async fn export(&self, _: &ResourceMetrics) -> OTelSdkResult {
        Ok(())
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }

    fn temporality(&self) -> Temporality {
        Temporality::Cumulative
    }
}

/// Batches of spans and periodic metrics, as a service would have them.
pub(crate) fn telemetry() -> Telemetry {
    let tracers = SdkTracerProvider::builder().with_batch_exporter(Nowhere);
    let meters = SdkMeterProvider::builder().with_periodic_exporter(Nowhere);
    Telemetry::builder()
        .tracer_provider(&tracers.build())
        .meter_provider(&meters.build())
        .build()
}
