//! The cases of tracing.

use std::time::Duration;

use babelqueue::PublishError;
use babelqueue::envelope::trace_context::{fallback_span_id, trace_id_of};
use babelqueue::prelude::*;
use babelqueue::telemetry::Conventions;
use opentelemetry::trace::{SpanId, SpanKind, Status, TraceId};
use tokio::time::Instant;

use crate::support::{
    App, Attributes, Bench, MailWanted, OrderCreated, PARENT, PARENT_SPAN, PARENT_TRACE, QUEUE,
    attribute, envelope, envelope_of, id, order, rider, trace,
};

const PUBLISH: &str = "publish urn:babel:orders:created";
const PROCESS: &str = "process urn:babel:orders:created";

#[tokio::test(start_paused = true)]
async fn c_112_trace_keys_make_an_eleventh_attribute() {
    // Ten attributes less the six of the contract, less so many of the caller's.
    for (own, riders) in [(2, 2), (3, 1), (4, 0)] {
        let bench = Bench::new();
        let mut publish = order(&[])
            .publish(&bench.app.publisher)
            .header("traceparent", PARENT)
            .header("tracestate", "vendor=x");
        for header in 0..own {
            publish = publish.header(format!("own-{header}"), "v");
        }
        publish.await.unwrap();
        let span = bench.only(PUBLISH);
        assert_eq!(trace(&span).to_string(), PARENT_TRACE);

        let message = bench.message(QUEUE);
        assert_eq!(message.attributes.len(), 6 + own + riders);
        for header in 0..own {
            assert_eq!(
                rider(&message, &format!("own-{header}")).as_deref(),
                Some("v")
            );
        }
        let traceparent = format!("00-{}-{}-01", trace(&span), id(&span));
        let expected = (riders > 0).then_some(traceparent);
        assert_eq!(rider(&message, "traceparent"), expected);
        assert_eq!(rider(&message, "tracestate").is_some(), riders > 1);

        // Without a rider the context is still in the envelope.
        bench.poll().await;
        assert_eq!(trace(&bench.only(PROCESS)), trace(&span));
    }

    // What the application asked for is not dropped in silence.
    let bench = Bench::new();
    let publish = order(&[]).publish(&bench.app.publisher);
    let full = (0..5).fold(publish, |publish, i| {
        publish.header(format!("own-{i}"), "v")
    });
    let error = full.await.unwrap_err();
    assert!(
        matches!(error, PublishError::TooManyHeaders { .. }),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn c_112_one_full_entry_of_a_batch_does_not_concern_the_others() {
    let bench = Bench::new();
    let publisher = &bench.app.publisher;
    let full = (0..4).fold(order(&[]).publish(publisher), |publish, i| {
        publish.header(format!("own-{i}"), "v")
    });
    let batch = publisher
        .batch()
        .push(order(&[]))
        .push_publish(full)
        .push(order(&[]));
    let sent = batch.await.unwrap();
    let messages = bench.sqs.snapshot(QUEUE).visible;
    let spans = bench.named(PUBLISH);
    assert_eq!((messages.len(), spans.len()), (3, 3));
    for (place, (message, span)) in messages.iter().zip(&spans).enumerate() {
        let header = format!("00-{}-{}-01", trace(span), id(span));
        assert_eq!(
            rider(message, "traceparent"),
            (place != 1).then_some(header)
        );
        let trace_id = rider(message, "bq-trace-id").unwrap();
        assert_eq!(trace_id.replace('-', ""), trace(span).to_string());
        let told = attribute(span, "messaging.message.id");
        assert_eq!(told.as_ref(), Some(&sent[place].message_id));
    }
    bench.poll().await;
    let traces = |spans: Vec<_>| {
        let mut traces: Vec<_> = spans.iter().map(|span| trace(span).to_string()).collect();
        traces.sort();
        traces
    };
    assert_eq!(traces(bench.named(PROCESS)), traces(spans));
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_is_sent_points_to_each_of_its_messages() {
    let bench = Bench::with(Conventions::Messaging);
    bench
        .app
        .publisher
        .publish_batch([order(&[]), order(&[])])
        .await
        .unwrap();
    let (calls, messages): (Vec<_>, Vec<_>) = bench
        .named("send orders")
        .into_iter()
        .partition(|span| span.span_kind == SpanKind::Client);
    assert_eq!((calls.len(), messages.len()), (1, 2));
    let linked: Vec<_> = calls[0]
        .links
        .iter()
        .map(|link| link.span_context.span_id())
        .collect();
    assert_eq!(linked, messages.iter().map(id).collect::<Vec<_>>());
    assert_eq!(
        attribute(&calls[0], "messaging.batch.message_count").as_deref(),
        Some("2")
    );
}

#[tokio::test(start_paused = true)]
async fn c_112_a_message_that_just_fits_goes_without_its_trace() {
    let bench = Bench::new();
    order(&[]).publish(&bench.app.publisher).await.unwrap();
    let message = bench.message(QUEUE);
    let attributes = message.attributes.iter();
    let sizes =
        attributes.map(|(name, value)| name.len() + value.data_type.len() + value.value.len());
    let full = message.body.len() + sizes.sum::<usize>();
    bench.poll().await;
    for (bytes, fits) in [(full, true), (full - 1, false)] {
        let publisher = SqsPublisher::builder(bench.sqs.client(), &bench.url)
            .telemetry(bench.telemetry.clone())
            .max_message_bytes(bytes)
            .build()
            .unwrap();
        order(&[]).publish(&publisher).await.unwrap();
        let message = bench.message(QUEUE);
        assert_eq!(rider(&message, "traceparent").is_some(), fits, "{bytes}");
        bench.poll().await;
    }
}

#[tokio::test(start_paused = true)]
async fn c_114_a_receive_of_several_messages_loses_their_contexts() {
    let bench = Bench::new();
    let second = "00-11111111111111111111111111111111-2222222222222222-01";
    let rows: [(&str, Attributes<'_>); 4] = [
        (
            "m-1",
            &[("traceparent", PARENT), ("tracestate", "vendor=x")],
        ),
        ("m-2", &[("traceparent", second)]),
        ("m-3", &[]),
        ("m-4", &[("traceparent", "00-zz")]),
    ];
    for (name, headers) in rows {
        bench.put(envelope(name, name, &["span"]), headers);
    }
    bench.poll().await;
    assert_eq!(bench.app.seen.lock().unwrap().len(), 4, "all are handled");

    let derived = |text: &str| {
        let span = SpanId::from_bytes(fallback_span_id(text));
        (TraceId::from_bytes(trace_id_of(text)), span)
    };
    let of = |trace: &str, span: &str| {
        (
            TraceId::from_hex(trace).unwrap(),
            SpanId::from_hex(span).unwrap(),
        )
    };
    let expected = [
        ("m-1", of(PARENT_TRACE, PARENT_SPAN), "vendor=x"),
        (
            "m-2",
            of("11111111111111111111111111111111", "2222222222222222"),
            "",
        ),
        ("m-3", derived("m-3"), ""),
        ("m-4", derived("m-4"), ""),
    ];
    let spans = bench.named(PROCESS);
    let work = bench.named("work");
    assert_eq!((spans.len(), work.len()), (4, 4));
    for (message, parent, state) in expected {
        let of_message =
            |span: &&_| attribute(span, "messaging.message.id").as_deref() == Some(message);
        let span = spans.iter().find(of_message).unwrap();
        assert_eq!((trace(span), span.parent_span_id), parent, "{message}");
        assert_eq!(span.span_context.trace_state().header(), state);
        // What its handler did is in the same trace, and nothing else is.
        let inside: Vec<_> = work
            .iter()
            .filter(|work| trace(work) == trace(span))
            .collect();
        assert_eq!(inside.len(), 1, "{message}");
        assert_eq!(inside[0].parent_span_id, id(span));
    }
}

/// Publishes one mail for all.
#[babel_handler(batch)]
async fn together(orders: Batch<OrderCreated>, State(app): State<App>) -> Result<(), HandlerError> {
    for order in &orders {
        if order.attempts.iter().any(|step| step == "fail") {
            order.fail("it failed");
        }
    }
    MailWanted {}.publish(&app.publisher).await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn c_114_a_batch_handler_points_to_all_of_its_messages() {
    let bench = Bench::new();
    let second = "00-11111111111111111111111111111111-2222222222222222-01";
    bench.put(envelope("m-1", "m-1", &[]), &[("traceparent", PARENT)]);
    bench.put(
        envelope("m-2", "m-2", &["fail"]),
        &[("traceparent", second)],
    );
    bench.put(envelope("m-3", "m-3", &[]), &[("traceparent", "garbage")]);
    let consumer = SqsConsumer::builder(
        bench.sqs.client(),
        &bench.url,
        Router::from_handlers![together],
    )
    .state(bench.app.clone())
    .wait_time(std::time::Duration::ZERO)
    .handler_batch(3, std::time::Duration::from_secs(1))
    .telemetry(bench.telemetry.clone())
    .build()
    .unwrap();
    consumer.poll().await.unwrap();

    let traces = [
        TraceId::from_hex(PARENT_TRACE).unwrap(),
        TraceId::from_hex("11111111111111111111111111111111").unwrap(),
        TraceId::from_bytes(trace_id_of("m-3")),
    ];
    let (calls, messages): (Vec<_>, Vec<_>) = bench
        .named(PROCESS)
        .into_iter()
        .partition(|span| attribute(span, "messaging.batch.message_count").is_some());
    // One call, which belongs to none of the traces and points to all of them.
    assert_eq!((calls.len(), messages.len()), (1, 3));
    let linked: Vec<_> = calls[0]
        .links
        .iter()
        .map(|link| link.span_context.trace_id())
        .collect();
    assert_eq!(linked, traces);
    assert_eq!(calls[0].parent_span_id, SpanId::INVALID);
    // Each message has its own span in its own trace, with its own end.
    for (place, of_trace) in traces.into_iter().enumerate() {
        let span = messages
            .iter()
            .find(|span| trace(span) == of_trace)
            .unwrap();
        let outcome = ["done", "retry", "done"][place];
        assert_eq!(
            attribute(span, "babelqueue.outcome").as_deref(),
            Some(outcome)
        );
        let failed = matches!(span.status, Status::Error { .. });
        assert_eq!(failed, place == 1);
    }
    // What the handler publishes stands under the call.
    let mail = bench.only("publish urn:babel:mails:wanted");
    assert_eq!(
        (trace(&mail), mail.parent_span_id),
        (trace(&calls[0]), id(&calls[0]))
    );
}

#[babel_handler(batch)]
async fn broken(orders: Batch<OrderCreated>) {
    let step = orders.iter().next().map(|order| order.attempts[0].clone());
    match step.as_deref() {
        Some("hang") => std::future::pending().await,
        Some("fail") => orders.iter().for_each(|order| order.fail("no")),
        _ => panic!("out of cheese"),
    }
}

#[tokio::test(start_paused = true)]
async fn the_span_of_a_batch_of_which_nothing_succeeded_says_so() {
    for (step, kind, text) in [
        ("fail", "handler", "no"),
        ("panic", "panic", "panicked: out of cheese"),
        ("hang", "cancelled", "cancelled"),
    ] {
        let bench = Bench::new();
        bench.put(envelope("m-1", "m-1", &[step]), &[]);
        bench.put(envelope("m-2", "m-2", &[step]), &[]);
        let router = Router::from_handlers![broken];
        let consumer = SqsConsumer::builder(bench.sqs.client(), &bench.url, router)
            .handler_batch(2, Duration::from_secs(1))
            .shutdown_timeout(Duration::ZERO)
            .retry(Backoff::fixed(Duration::from_secs(600)))
            .telemetry(bench.telemetry.clone());
        let soon = tokio::time::sleep(Duration::from_secs(5));
        consumer.build().unwrap().run_until(soon).await.unwrap();
        let is_call =
            |span: &_| attribute(span, "messaging.batch.message_count").as_deref() == Some("2");
        let spans = bench.named(PROCESS);
        let call = spans.iter().find(|span| is_call(span)).unwrap();
        assert_eq!(attribute(call, "error.type").as_deref(), Some(kind));
        assert_eq!(call.status, Status::error(text), "{step}");
    }
}

#[tokio::test(start_paused = true)]
async fn c_114_the_receive_links_to_every_message_and_so_does_the_delete() {
    let bench = Bench::with(Conventions::Messaging);
    bench.put(envelope("m-1", "m-1", &[]), &[("traceparent", PARENT)]);
    bench.put(
        envelope("m-2", "m-2", &[]),
        &[("bq-trace-id", "m-2"), ("traceparent", "00-zz")],
    );
    bench.put(envelope("m-3", "m-3", &[]), &[]);
    bench.poll().await;

    let receive = bench.only("receive orders");
    assert_eq!(receive.parent_span_id, SpanId::INVALID);
    let linked: Vec<_> = receive
        .links
        .iter()
        .map(|link| link.span_context.trace_id())
        .collect();
    let second = TraceId::from_bytes(trace_id_of("m-2"));
    // The third tells its trace only in its body, which a receive does not read.
    assert_eq!(linked, [TraceId::from_hex(PARENT_TRACE).unwrap(), second]);
    assert_eq!(
        attribute(&receive, "messaging.operation.name").as_deref(),
        Some("ReceiveMessage")
    );

    let settle = bench.only("settle orders");
    let mut settled: Vec<_> = settle
        .links
        .iter()
        .map(|link| link.span_context.span_id())
        .collect();
    let mut handled: Vec<_> = bench.named("process orders").iter().map(id).collect();
    settled.sort_by_key(|id| id.to_bytes());
    handled.sort_by_key(|id| id.to_bytes());
    assert_eq!(settled, handled);
    assert_eq!(
        attribute(&settle, "messaging.batch.message_count").as_deref(),
        Some("3")
    );

    // An empty receive leaves none.
    bench.poll().await;
    assert_eq!(bench.named("receive orders").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_counts_the_messages_without_a_trace_and_is_no_part_of_the_others() {
    let bench = Bench::with(Conventions::Messaging);
    bench.put(envelope("m-1", "m-1", &[]), &[("traceparent", PARENT)]);
    let unknown = envelope_of("urn:x:y", "m-2", "m-2", &serde_json::json!({}));
    bench.put(unknown, &[]);
    let consumer = bench.consumer().unknown_urn(UnknownUrn::Delete);
    consumer.build().unwrap().poll().await.unwrap();
    for (name, links) in [("receive orders", 1), ("settle orders", 1)] {
        let call = bench.only(name);
        assert_eq!(call.links.len(), links, "{name}");
        let count = attribute(&call, "messaging.batch.message_count");
        assert_eq!(count.as_deref(), Some("2"), "{name}");
        assert_eq!(call.parent_span_id, SpanId::INVALID, "{name}");
    }
}

/// Fails together with all the others.
#[babel_handler]
async fn fails_at_once(
    _order: OrderCreated,
    State(at): State<Instant>,
) -> Result<(), &'static str> {
    tokio::time::sleep_until(at).await;
    Err("no")
}

#[tokio::test(start_paused = true)]
async fn each_call_that_settles_points_to_its_own_messages() {
    let bench = Bench::with(Conventions::Messaging);
    for i in 0..15 {
        bench.put(envelope(&format!("m-{i}"), &format!("t-{i}"), &[]), &[]);
    }
    let router = Router::from_handlers![fails_at_once];
    let consumer = SqsConsumer::builder(bench.sqs.client(), &bench.url, router)
        .state(Instant::now() + Duration::from_secs(5))
        .concurrency(20)
        .retry(Backoff::fixed(Duration::from_secs(600)))
        .telemetry(bench.telemetry.clone())
        .build()
        .unwrap();
    let stop = tokio::time::sleep(Duration::from_secs(60));
    consumer.run_until(stop).await.unwrap();

    let settled = bench.named("settle orders");
    let counts: Vec<_> = settled.iter().map(|span| span.links.len()).collect();
    assert_eq!(counts, [10, 5]);
    let links = settled.iter().flat_map(|span| span.links.iter());
    let mut linked: Vec<_> = links.map(|link| link.span_context.span_id()).collect();
    let mut handled: Vec<_> = bench.named("process orders").iter().map(id).collect();
    linked.sort_by_key(|id| id.to_bytes());
    handled.sort_by_key(|id| id.to_bytes());
    assert_eq!((linked, handled.len()), (handled, 15));
}

#[tokio::test(start_paused = true)]
async fn what_is_done_to_one_message_is_a_part_of_its_trace() {
    let bench = Bench::with(Conventions::Messaging);
    bench.put(
        envelope("m-1", "m-1", &["fail", "permanent"]),
        &[("traceparent", PARENT)],
    );
    bench.poll().await;
    bench.poll().await;
    let tries = bench.named("process orders");
    let settled = bench.named("settle orders");
    let operations: Vec<_> = settled
        .iter()
        .map(|span| {
            (
                attribute(span, "messaging.operation.name").unwrap(),
                span.parent_span_id,
            )
        })
        .collect();
    let expected = [
        ("ChangeMessageVisibilityBatch".to_owned(), id(&tries[0])),
        ("SendMessage".to_owned(), id(&tries[1])),
        ("DeleteMessageBatch".to_owned(), id(&tries[1])),
    ];
    assert_eq!(operations, expected);
    assert!(
        settled
            .iter()
            .all(|span| trace(span).to_string() == PARENT_TRACE)
    );
}
