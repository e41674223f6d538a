//! An application that writes its spans with `tracing`, and exports them by `tracing-opentelemetry`.

use babelqueue::prelude::*;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
use tracing::Instrument as _;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};

use crate::support::{Bench, MailWanted, OrderCreated, id, order, trace};
use babelqueue::telemetry::Telemetry;

#[babel_handler]
async fn charged(
    _order: OrderCreated,
    State(publisher): State<SqsPublisher>,
) -> Result<(), HandlerError> {
    let work = async { MailWanted {}.publish(&publisher).await.map(drop) };
    Ok(work.instrument(tracing::info_span!("charge")).await?)
}

#[derive(Clone, FromRef)]
struct App {
    publisher: SqsPublisher,
}

#[tokio::test(start_paused = true)]
async fn spans_of_tracing_stand_between_the_handlers_and_what_it_publishes() {
    let bench = Bench::new();
    let spans = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(spans.clone())
        .build();
    let exported = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("app"))
        // The library's own spans are exported already.
        .with_filter(filter_fn(|metadata| {
            !metadata.target().starts_with("babelqueue")
        }));
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(exported));
    let telemetry = Telemetry::builder().tracer_provider(&provider).build();

    let publisher = SqsPublisher::builder(bench.sqs.client(), &bench.url);
    let publisher = publisher.telemetry(telemetry.clone()).build().unwrap();
    let request = order(&[]).publish(&publisher).into_future();
    request
        .instrument(tracing::info_span!("request"))
        .await
        .unwrap();
    let consumer = SqsConsumer::builder(
        bench.sqs.client(),
        &bench.url,
        Router::from_handlers![charged],
    )
    .state(App { publisher })
    .telemetry(telemetry)
    .wait_time(std::time::Duration::ZERO)
    .build()
    .unwrap();
    consumer.poll().await.unwrap();

    let finished = spans.get_finished_spans().unwrap();
    let named = |name: &str| {
        let found = finished.iter().find(|span| span.name == name);
        found.unwrap_or_else(|| panic!("no {name}: {finished:?}"))
    };
    let line = [
        "request",
        "publish urn:babel:orders:created",
        "process urn:babel:orders:created",
        "charge",
        "publish urn:babel:mails:wanted",
    ];
    for pair in line.windows(2) {
        let (parent, child) = (named(pair[0]), named(pair[1]));
        assert_eq!(
            (trace(child), child.parent_span_id),
            (trace(parent), id(parent)),
            "{pair:?}"
        );
    }
}
