//! Telemetry: OpenTelemetry spans and metrics of publishers and consumers, behind the feature
//! `otel` (SPEC §3.5). What the rest of the crate calls is one small seam, which is empty without
//! the feature, and silent while no [`Telemetry`] is given. Reads the envelope's types, the
//! context of a delivery and the draft of a publish; knows neither pipeline nor SQS.
#![cfg_attr(
    feature = "otel",
    doc = r#"
One value is made from the application's providers and given to publishers and consumers:

```no_run
# async fn run(
#     sqs: aws_sdk_sqs::Client,
#     tracers: impl opentelemetry::trace::TracerProvider<
#         Tracer = opentelemetry::global::BoxedTracer,
#     >,
#     meters: impl opentelemetry::metrics::MeterProvider,
# ) -> Result<(), babelqueue::Error> {
use babelqueue::prelude::*;
use babelqueue::telemetry::Telemetry;

let telemetry = Telemetry::builder().tracer_provider(&tracers).meter_provider(&meters).build();

let url = "https://sqs.eu-west-1.amazonaws.com/1234/orders";
let publisher = SqsPublisher::builder(sqs.clone(), url).telemetry(telemetry.clone()).build()?;
let router = Router::from_handlers![];
let consumer = SqsConsumer::builder(sqs, url, router).telemetry(telemetry).build()?;
# Ok(())
# }
```

While a handler runs, its span is OpenTelemetry's current context: a publish from inside of it,
spans of the application's own, and `tracing` spans that `tracing-opentelemetry` exports become its
children without further ado."#
)]

mod counted;
mod ended;
#[cfg(not(feature = "otel"))]
mod off;
#[cfg(feature = "otel")]
mod on;

pub(crate) use counted::Counted;
pub(crate) use ended::Ended;
#[cfg(not(feature = "otel"))]
pub(crate) use off::{Handled, Held, Metric, Observer, Processing, Publishing, Settled, Telemetry};
#[cfg(feature = "otel")]
pub(crate) use on::{Call, Handled, Held, Metric, Observer, Processing, Publishing, Settled};
#[cfg(feature = "otel")]
pub use on::{Conventions, Telemetry, TelemetryBuilder};

/// A failure as telemetry tells it.
#[cfg_attr(not(feature = "otel"), allow(dead_code))]
pub(crate) struct Failure<'a> {
    /// The name of the error's type.
    pub(crate) exception: Option<&'a str>,
    /// Its text, cut and free of secrets; `None` when there is none to be told.
    pub(crate) text: Option<String>,
}
