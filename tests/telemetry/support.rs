//! An embedded SQS, and the spans that a publisher and a consumer of it leave in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use babelqueue::local::{LocalSqs, MessageSnapshot, RawMessage};
use babelqueue::prelude::*;
use babelqueue::sqs::SqsConsumerBuilder;
use babelqueue::telemetry::{Conventions, Telemetry};
use opentelemetry::KeyValue;
use opentelemetry::trace::{SpanId, TraceId, Tracer as _, TracerProvider as _};
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, Metric, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracer, SdkTracerProvider, SpanData};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub const URN: &str = "urn:babel:orders:created";
pub const QUEUE: &str = "orders";
pub const DEAD: &str = "orders-dlq";

/// A `traceparent`, and its parts.
pub const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
pub const PARENT_TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
pub const PARENT_SPAN: &str = "00f067aa0ba902b7";

/// Attributes of a message: names and texts.
pub type Attributes<'a> = &'a [(&'a str, &'a str)];

#[derive(Debug, Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
pub struct OrderCreated {
    pub order_id: u64,
    /// What the handler does, per attempt; the last one is repeated.
    #[serde(default)]
    pub attempts: Vec<String>,
}

pub fn order(attempts: &[&str]) -> OrderCreated {
    OrderCreated {
        order_id: 1042,
        attempts: attempts.iter().map(|&step| step.to_owned()).collect(),
    }
}

#[derive(Debug, Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:mails:wanted"]
pub struct MailWanted {}

#[derive(Clone)]
pub struct App {
    pub publisher: SqsPublisher,
    pub tracer: SdkTracer,
    /// The headers that handlers saw.
    pub seen: Arc<Mutex<Vec<Headers>>>,
}

#[derive(Debug, thiserror::Error)]
#[error("the bank said {0}")]
pub struct BankError(String);

#[babel_handler]
pub async fn order_created(
    order: OrderCreated,
    ctx: &Context,
    State(app): State<App>,
) -> Result<Outcome, HandlerError> {
    app.seen.lock().unwrap().push(ctx.headers().clone());
    let step = order.attempts.get(ctx.attempts() as usize);
    match step.or(order.attempts.last()).map_or("ok", String::as_str) {
        "ok" => {}
        "fail" => return Err(BankError("no".to_owned()).into()),
        "permanent" => return Err(HandlerError::permanent(BankError("never".to_owned()))),
        "panic" => panic!("out of cheese"),
        "retry" => return Ok(Outcome::retry()),
        "discard" => return Ok(Outcome::Discard),
        "publish" => {
            // A wait, so that the context must be there after it, too.
            tokio::time::sleep(Duration::from_millis(1)).await;
            MailWanted {}.publish(&app.publisher).await.map(drop)?;
        }
        "span" => app.tracer.in_span("work", |_| {}),
        "hang" => std::future::pending().await,
        other => panic!("no such step: {other}"),
    }
    Ok(Outcome::Done)
}

#[babel_handler]
pub async fn mail_wanted(_mail: MailWanted) {}

/// Handles both messages.
pub fn router() -> impl Routes<App> {
    Router::from_handlers![order_created, mail_wanted]
}

pub struct Bench {
    pub sqs: LocalSqs,
    pub url: String,
    pub telemetry: Telemetry,
    pub app: App,
    spans: InMemorySpanExporter,
    meters: SdkMeterProvider,
    metrics: InMemoryMetricExporter,
}

impl Bench {
    pub fn new() -> Self {
        Self::with(Conventions::Family)
    }

    pub fn with(conventions: Conventions) -> Self {
        let sqs = LocalSqs::new();
        let url = sqs
            .create_queue_with(QUEUE, [("VisibilityTimeout", "30")])
            .unwrap();
        sqs.create_queue(DEAD);
        let spans = InMemorySpanExporter::default();
        let provider = SdkTracerProvider::builder()
            .with_simple_exporter(spans.clone())
            .build();
        let metrics = InMemoryMetricExporter::default();
        let meters = SdkMeterProvider::builder()
            .with_periodic_exporter(metrics.clone())
            .build();
        let telemetry = Telemetry::builder()
            .tracer_provider(&provider)
            .meter_provider(&meters)
            .conventions(conventions)
            .build();
        let publisher = SqsPublisher::builder(sqs.client(), &url).telemetry(telemetry.clone());
        let app = App {
            publisher: publisher.build().unwrap(),
            tracer: provider.tracer("app"),
            seen: Arc::default(),
        };
        Self {
            sqs,
            url,
            telemetry,
            app,
            spans,
            meters,
            metrics,
        }
    }

    /// A consumer of the queue, with a dead-letter queue and three attempts.
    pub fn consumer(&self) -> SqsConsumerBuilder<impl Routes<App>, App> {
        SqsConsumer::builder(self.sqs.client(), &self.url, router())
            .state(self.app.clone())
            .wait_time(Duration::ZERO)
            .max_attempts(3)
            .dead_letter_queue(DeadLetterQueue::default_name())
            .telemetry(self.telemetry.clone())
    }

    /// Telemetry of its own, with the same meters and without spans.
    pub fn another_telemetry(&self) -> Telemetry {
        Telemetry::builder().meter_provider(&self.meters).build()
    }

    /// One receive, handled to the end.
    pub async fn poll(&self) {
        self.consumer().build().unwrap().poll().await.unwrap();
    }

    /// A message from elsewhere, with these attributes.
    pub fn put(&self, body: String, attributes: Attributes<'_>) {
        let message = attributes
            .iter()
            .fold(RawMessage::new(body), |message, (name, value)| {
                message.attribute(*name, "String", *value)
            });
        self.sqs.inject_raw(QUEUE, message);
    }

    /// The finished spans in the order of their ends, with those of this name.
    pub fn named(&self, name: &str) -> Vec<SpanData> {
        let spans = self.spans.get_finished_spans().unwrap();
        spans.into_iter().filter(|span| span.name == name).collect()
    }

    pub fn spans(&self) -> Vec<SpanData> {
        self.spans.get_finished_spans().unwrap()
    }

    /// The one span of this name.
    pub fn only(&self, name: &str) -> SpanData {
        let mut spans = self.named(name);
        assert_eq!(spans.len(), 1, "{name}: {:?}", self.spans());
        spans.remove(0)
    }

    /// The metrics so far: a number for each set of labels, a histogram's being its count. Labels
    /// are written `name=value`, without those that every metric has.
    pub fn metric(&self, name: &str) -> BTreeMap<String, f64> {
        self.points(name)
            .into_iter()
            .map(|(labels, value, _)| (labels, value))
            .collect()
    }

    /// The sum of a histogram over all labels.
    pub fn sum(&self, name: &str) -> f64 {
        self.points(name).iter().map(|(_, _, sum)| sum).sum()
    }

    /// The names of all metrics.
    pub fn metrics(&self) -> Vec<String> {
        self.collect(|metric| Some(metric.name().to_owned()))
    }

    fn points(&self, name: &str) -> Vec<(String, f64, f64)> {
        let found = self.collect(|metric| (metric.name() == name).then(|| points(metric)));
        found.into_iter().flatten().collect()
    }

    fn collect<T>(&self, pick: impl Fn(&Metric) -> Option<T>) -> Vec<T> {
        self.metrics.reset();
        self.meters.force_flush().unwrap();
        let finished = self.metrics.get_finished_metrics().unwrap();
        let scopes = finished.iter().flat_map(|all| all.scope_metrics());
        scopes
            .flat_map(|scope| scope.metrics())
            .filter_map(pick)
            .collect()
    }

    pub fn message(&self, queue: &str) -> MessageSnapshot {
        let mut visible = self.sqs.snapshot(queue).visible;
        assert_eq!(visible.len(), 1, "{queue}");
        visible.remove(0)
    }
}

/// An envelope from elsewhere.
pub fn envelope(id: &str, trace_id: &str, attempts: &[&str]) -> String {
    let data = json!({ "order_id": 1, "attempts": attempts });
    envelope_of(URN, id, trace_id, &data)
}

pub fn envelope_of(urn: &str, id: &str, trace_id: &str, data: &Value) -> String {
    let meta =
        json!({ "id": id, "queue": QUEUE, "lang": "php", "schema_version": 1, "created_at": 5 });
    json!({ "job": urn, "trace_id": trace_id, "data": data, "meta": meta, "attempts": 0 })
        .to_string()
}

/// The attribute's text; numbers in decimal.
pub fn attribute(span: &SpanData, key: &str) -> Option<String> {
    let mut found = span
        .attributes
        .iter()
        .filter(|pair| pair.key.as_str() == key);
    found.next().map(|pair| pair.value.as_str().into_owned())
}

/// All attributes of the names given, in that order.
pub fn attributes<const N: usize>(span: &SpanData, keys: [&str; N]) -> [String; N] {
    keys.map(|key| attribute(span, key).unwrap_or_else(|| format!("no {key}")))
}

pub fn trace(span: &SpanData) -> TraceId {
    span.span_context.trace_id()
}

pub fn id(span: &SpanData) -> SpanId {
    span.span_context.span_id()
}

/// The text of an attribute of a message.
pub fn rider(message: &MessageSnapshot, name: &str) -> Option<String> {
    let attribute = message.attributes.get(name)?;
    attribute.text().map(str::to_owned)
}

fn points(metric: &Metric) -> Vec<(String, f64, f64)> {
    let labels = |attributes: &mut dyn Iterator<Item = &KeyValue>| {
        let shared = ["messaging.system", "messaging.destination.name"];
        let own = attributes.filter(|pair| !shared.contains(&pair.key.as_str()));
        let mut texts: Vec<_> = own
            .map(|pair| format!("{}={}", pair.key, pair.value))
            .collect();
        texts.sort();
        texts.join(" ")
    };
    match metric.data() {
        AggregatedMetrics::U64(MetricData::Sum(sum)) => sum
            .data_points()
            .map(|point| (labels(&mut point.attributes()), point.value() as f64, 0.0))
            .collect(),
        AggregatedMetrics::I64(MetricData::Sum(sum)) => sum
            .data_points()
            .map(|point| (labels(&mut point.attributes()), point.value() as f64, 0.0))
            .collect(),
        AggregatedMetrics::F64(MetricData::Histogram(histogram)) => histogram
            .data_points()
            .map(|point| {
                (
                    labels(&mut point.attributes()),
                    point.count() as f64,
                    point.sum(),
                )
            })
            .collect(),
        other => panic!("no such metric is expected: {other:?}"),
    }
}
