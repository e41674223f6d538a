//! Whose child a span is: headers, derived parents, and publishes from inside of handlers.

use babelqueue::envelope::trace_context::{fallback_span_id, trace_id_of};
use babelqueue::prelude::*;
use babelqueue::telemetry::Telemetry;
use opentelemetry::Context as OtelContext;
use opentelemetry::trace::{FutureExt as _, SpanId, TraceContextExt as _, TraceId, Tracer as _};

use crate::support::{
    Attributes, Bench, MailWanted, PARENT, PARENT_SPAN, PARENT_TRACE, QUEUE, attribute, envelope,
    id, order, rider, trace,
};

const PUBLISH: &str = "publish urn:babel:orders:created";
const PROCESS: &str = "process urn:babel:orders:created";
const MAIL: &str = "publish urn:babel:mails:wanted";

fn derived(trace_id: &str) -> (TraceId, SpanId) {
    let span = SpanId::from_bytes(fallback_span_id(trace_id));
    (TraceId::from_bytes(trace_id_of(trace_id)), span)
}

fn parent() -> (TraceId, SpanId) {
    let span = SpanId::from_hex(PARENT_SPAN).unwrap();
    (TraceId::from_hex(PARENT_TRACE).unwrap(), span)
}

#[tokio::test(start_paused = true)]
async fn a33_the_callers_headers_ride_beside_the_trace() {
    let bench = Bench::new();
    let publish = order(&[]).publish(&bench.app.publisher);
    publish
        .header("tenant", "acme")
        .header("bq-job", "forged")
        .await
        .unwrap();
    let message = bench.message(QUEUE);
    assert_eq!(rider(&message, "tenant").as_deref(), Some("acme"));
    assert_eq!(
        rider(&message, "bq-job").as_deref(),
        Some("urn:babel:orders:created")
    );
    let span = bench.only(PUBLISH);
    let expected = format!("00-{}-{}-01", trace(&span), id(&span));
    assert_eq!(rider(&message, "traceparent"), Some(expected));
    assert!(
        !message.body.contains("traceparent"),
        "it rides beside the envelope"
    );
    assert_eq!(message.attributes.len(), 8);
}

#[tokio::test(start_paused = true)]
async fn a34_delivered_headers_reach_the_handler() {
    let bench = Bench::new();
    order(&[])
        .publish(&bench.app.publisher)
        .header("tenant", "acme")
        .await
        .unwrap();
    bench.poll().await;
    let seen = bench.app.seen.lock().unwrap().remove(0);
    assert_eq!(seen.get("tenant"), Some("acme"));
    assert_eq!(seen.get("bq-schema-version"), Some("1"));
    let span = bench.only(PUBLISH);
    assert!(
        seen.get("traceparent")
            .unwrap()
            .contains(&id(&span).to_string())
    );
}

#[tokio::test(start_paused = true)]
async fn a_header_is_the_true_parent_and_else_one_is_derived() {
    let bench = Bench::new();
    let uuid = "7b3f9c2a-e41d-4f88-9b2a-1c0d5e6f7a8b";
    let unsampled = PARENT.replace("-01", "-00");
    let rows: [(&str, Attributes<'_>, (TraceId, SpanId)); 4] = [
        (
            uuid,
            &[("traceparent", PARENT), ("tracestate", "vendor=x")],
            parent(),
        ),
        (
            uuid,
            &[("traceparent", "garbage"), ("tracestate", "vendor=x")],
            derived(uuid),
        ),
        (uuid, &[], derived(uuid)),
        ("order 17", &[], derived("order 17")),
    ];
    for (trace_id, headers, _) in rows {
        bench.put(envelope(trace_id, trace_id, &[]), headers);
        bench.poll().await;
    }
    let spans = bench.named(PROCESS);
    assert_eq!(spans.len(), rows.len());
    for (span, (trace_id, _, expected)) in spans.iter().zip(rows) {
        assert_eq!((trace(span), span.parent_span_id), expected);
        // The envelope's own is told as it is.
        let told = attribute(span, "messaging.message.conversation_id");
        assert_eq!(told.as_deref(), Some(trace_id));
    }
    let states = spans
        .iter()
        .map(|span| span.span_context.trace_state().header());
    assert_eq!(states.collect::<Vec<_>>(), ["vendor=x", "", "", ""]);

    bench.put(envelope("m", uuid, &[]), &[("traceparent", &unsampled)]);
    bench.poll().await;
    assert_eq!(
        bench.named(PROCESS).len(),
        rows.len(),
        "its trace is not recorded"
    );
}

#[tokio::test(start_paused = true)]
async fn a_publish_joins_the_span_around_it_and_an_explicit_trace_id_wins() {
    let bench = Bench::new();
    let outer = OtelContext::current_with_span(bench.app.tracer.start("request"));
    let expected = outer.span().span_context().clone();
    let publisher = bench.app.publisher.clone();
    let both = async move {
        let first = order(&[]).publish(&publisher).await.unwrap();
        let second = order(&[])
            .publish(&publisher)
            .trace_id("order 17")
            .await
            .unwrap();
        (first.trace_id, second.trace_id)
    };
    let (first, second) = both.with_context(outer).await;
    assert_eq!(first.replace('-', ""), expected.trace_id().to_string());
    assert_eq!(second, "order 17");
    for span in bench.named(PUBLISH) {
        assert_eq!(trace(&span), expected.trace_id());
        assert_eq!(span.parent_span_id, expected.span_id());
        assert!(!span.parent_span_is_remote);
    }
}

#[tokio::test(start_paused = true)]
async fn outside_of_every_span_a_publish_joins_the_trace_that_it_names() {
    let bench = Bench::new();
    let publisher = &bench.app.publisher;
    order(&[])
        .publish(publisher)
        .trace_id("order 17")
        .await
        .unwrap();
    let carried = order(&[]).publish(publisher).header("traceparent", PARENT);
    carried.header("tracestate", "vendor=x").await.unwrap();
    order(&[])
        .publish(publisher)
        .header("traceparent", "garbage")
        .await
        .unwrap();
    let spans = bench.named(PUBLISH);
    let parents: Vec<_> = spans
        .iter()
        .map(|span| (trace(span), span.parent_span_id))
        .collect();
    assert_eq!(parents[..2], [derived("order 17"), parent()]);
    assert_eq!(parents[2].1, SpanId::INVALID, "a new trace");
    let messages = bench.sqs.snapshot(QUEUE).visible;
    for (message, span) in messages.iter().zip(&spans) {
        let header = rider(message, "traceparent").unwrap();
        assert_eq!(header, format!("00-{}-{}-01", trace(span), id(span)));
    }
    assert_eq!(
        rider(&messages[1], "tracestate").as_deref(),
        Some("vendor=x")
    );
    assert_eq!(rider(&messages[0], "tracestate"), None);
}

#[tokio::test(start_paused = true)]
async fn a_publish_inside_a_handler_carries_on() {
    let bench = Bench::new();
    let uuid = "7b3f9c2a-e41d-4f88-9b2a-1c0d5e6f7a8b";
    let headers = [("traceparent", PARENT)];
    let rows: [(&str, Attributes<'_>, &str); 3] = [
        (uuid, &[], uuid),
        // The same trace under the same text, though that is no UUID.
        ("order 17", &[], "order 17"),
        // Another trace than that of the header: the header's wins.
        ("order 18", &headers, "4bf92f35-77b3-4da6-a3ce-929d0e0e4736"),
    ];
    for (trace_id, headers, expected) in rows {
        bench.put(envelope("m", trace_id, &["publish"]), headers);
        bench.poll().await;
        let message = bench.message(QUEUE);
        assert_eq!(rider(&message, "bq-trace-id").as_deref(), Some(expected));
        bench.poll().await;
    }
    let handled = bench.named(PROCESS);
    let sent = bench.named(MAIL);
    let mails = bench.named("process urn:babel:mails:wanted");
    assert_eq!((handled.len(), sent.len(), mails.len()), (3, 3, 3));
    for ((handled, sent), mail) in handled.iter().zip(&sent).zip(&mails) {
        assert_eq!(
            (trace(sent), sent.parent_span_id),
            (trace(handled), id(handled))
        );
        assert_eq!(
            (trace(mail), mail.parent_span_id),
            (trace(handled), id(sent))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn spans_of_the_application_are_children_of_the_handlers() {
    let bench = Bench::new();
    bench.put(envelope("m", "t", &["span"]), &[]);
    bench.poll().await;
    let (handled, work) = (bench.only(PROCESS), bench.only("work"));
    assert_eq!(
        (trace(&work), work.parent_span_id),
        (trace(&handled), id(&handled))
    );
}

#[tokio::test(start_paused = true)]
async fn without_a_tracer_nothing_rides_along() {
    let bench = Bench::new();
    for telemetry in [
        Telemetry::default(),
        Telemetry::builder().build(),
        Telemetry::global(),
    ] {
        let publisher = SqsPublisher::builder(bench.sqs.client(), &bench.url);
        let publisher = publisher.telemetry(telemetry.clone()).build().unwrap();
        MailWanted {}
            .publish(&publisher)
            .trace_id("t")
            .await
            .unwrap();
        let message = bench.message(QUEUE);
        assert_eq!(message.attributes.len(), 6, "{:?}", message.attributes);
        assert_eq!(rider(&message, "bq-trace-id").as_deref(), Some("t"));
        bench
            .consumer()
            .telemetry(telemetry)
            .build()
            .unwrap()
            .poll()
            .await
            .unwrap();
    }
    assert!(bench.spans().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_trace_that_is_not_sampled_goes_on_unseen() {
    let bench = Bench::new();
    let unsampled = format!("00-{PARENT_TRACE}-{PARENT_SPAN}-00");
    let headers = [("traceparent", &*unsampled), ("tracestate", "vendor=x")];
    bench.put(envelope("m-1", "t", &["publish"]), &headers);
    bench.poll().await;
    assert!(bench.spans().is_empty(), "{:?}", bench.spans());
    let handled = bench.metric("babelqueue.consumer.handled");
    assert_eq!(handled.values().sum::<f64>(), 1.0, "{handled:?}");
    let message = bench.message(QUEUE);
    let header = rider(&message, "traceparent").unwrap();
    assert!(
        header.starts_with(&format!("00-{PARENT_TRACE}-")),
        "{header}"
    );
    assert!(header.ends_with("-00"), "{header}");
    assert_eq!(rider(&message, "tracestate").as_deref(), Some("vendor=x"));
}
