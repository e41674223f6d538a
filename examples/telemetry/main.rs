//! One trace from a request, through a retry, into the dead-letter queue: a producer, a consumer
//! and an SQS in one process.
//!
//! ```text
//! cargo run --features otlp --example telemetry            # the trace as a tree
//! cargo run --features otlp --example telemetry -- --all   # every span and metric, too
//! ```
//!
//! With `OTEL_EXPORTER_OTLP_ENDPOINT` set (such as `http://localhost:4318`), spans and metrics also
//! go there; the other standard variables (`OTEL_SERVICE_NAME`, `OTEL_EXPORTER_OTLP_HEADERS`,
//! `OTEL_TRACES_SAMPLER`, …) apply as well.
#![allow(clippy::print_stdout)]

mod shop;
mod tree;

use std::error::Error;

use babelqueue::telemetry::Telemetry;
use opentelemetry_otlp::{MetricExporter, SpanExporter};
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Result<()> {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .init();
    let finished = InMemorySpanExporter::default();
    // Before the runtime: the exporters have threads, and an HTTP client that blocks, of their own.
    let (tracers, meters) = providers(finished.clone())?;
    let telemetry = Telemetry::builder()
        .tracer_provider(&tracers)
        .meter_provider(&meters)
        .build();

    tokio::runtime::Runtime::new()?.block_on(shop::open(telemetry, &tracers))?;

    // Sends what is still waiting.
    tracers.force_flush()?;
    let spans = finished.get_finished_spans()?;
    tracers.shutdown()?;
    meters.shutdown()?;
    print!("{}", tree::of(&spans));
    Ok(())
}

fn providers(finished: InMemorySpanExporter) -> Result<(SdkTracerProvider, SdkMeterProvider)> {
    let mut tracers = SdkTracerProvider::builder().with_simple_exporter(finished);
    let mut meters = SdkMeterProvider::builder();
    if std::env::args().any(|argument| argument == "--all") {
        tracers = tracers.with_simple_exporter(opentelemetry_stdout::SpanExporter::default());
        meters = meters.with_periodic_exporter(opentelemetry_stdout::MetricExporter::default());
    }
    if std::env::var_os("OTEL_EXPORTER_OTLP_ENDPOINT").is_some() {
        tracers = tracers.with_batch_exporter(SpanExporter::builder().with_http().build()?);
        let exporter = MetricExporter::builder().with_http().build()?;
        meters = meters.with_periodic_exporter(exporter);
    }
    Ok((tracers.build(), meters.build()))
}
