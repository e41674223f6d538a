//! Tower layers around handlers.

use std::sync::{Arc, Mutex};
use std::task::{Context as Cx, Poll};
use std::time::Duration;

use babelqueue::local::{Operation, RawMessage};
use babelqueue::middleware::{Next, Outcomes, Work};
use babelqueue::prelude::*;
use babelqueue::{BoxError, BoxFuture, ReportKind};
use tower::limit::ConcurrencyLimitLayer;
use tower::timeout::TimeoutLayer;
use tower_layer::layer_fn;
use tower_service::Service;

use crate::support::{Bench, SECOND, envelope};

type Log = Arc<Mutex<Vec<String>>>;

/// What a layer of the tests does.
#[derive(Clone, Copy, PartialEq)]
enum Deed {
    /// Only notes what passes.
    Note,
    Panic,
    Permanent,
    Discard,
    /// Answers for more messages than there are.
    Miscount,
    /// Wraps the handler's error into another one.
    Wrap,
    /// Hands on a message that no handler takes.
    Rename,
}

#[derive(Debug, thiserror::Error)]
#[error("wrapped by a layer")]
struct Wrapped(#[source] BoxError);

#[derive(Clone)]
struct Layered {
    next: Next,
    name: &'static str,
    deed: Deed,
    log: Log,
}

fn layer(
    name: &'static str,
    deed: Deed,
    log: &Log,
) -> impl tower_layer::Layer<Next, Service = Layered> + Send + Sync + 'static {
    let log = Arc::clone(log);
    layer_fn(move |next| Layered {
        next,
        name,
        deed,
        log: Arc::clone(&log),
    })
}

impl Service<Work> for Layered {
    type Response = Outcomes;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Outcomes, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Cx<'_>) -> Poll<Result<(), BoxError>> {
        self.next.poll_ready(cx)
    }

    fn call(&mut self, mut work: Work) -> Self::Future {
        let (name, deed, log) = (self.name, self.deed, Arc::clone(&self.log));
        let note = move |what: String| log.lock().unwrap().push(format!("{name} {what}"));
        note(format!("{} {}", work.urn(), work.deliveries().len()));
        if deed == Deed::Rename {
            let envelope = Envelope::decode(envelope("x", &[]).replace("test:task", "test:nobody"));
            let context = work.deliveries()[0].context();
            let renamed = Context::new(
                envelope.unwrap(),
                context.attempts(),
                context.headers().clone(),
                context.source().clone(),
            );
            work = Work::from(babelqueue::Delivery::new(renamed));
        }
        let next = self.next.call(work);
        Box::pin(async move {
            match deed {
                Deed::Panic => panic!("{name} panicked"),
                Deed::Permanent => return Err(HandlerError::permanent("not allowed").into()),
                Deed::Discard => return Ok(Outcome::Discard.into()),
                Deed::Miscount => return Ok(Outcomes::each(vec![])),
                Deed::Note | Deed::Wrap | Deed::Rename => {}
            }
            let result = next.await;
            match &result {
                Ok(outcomes) => note(format!("{:?}", outcomes.get(0).unwrap().unwrap())),
                Err(error) => note(error.to_string()),
            }
            match deed {
                Deed::Wrap => result.map_err(|error| Wrapped(error).into()),
                _ => result,
            }
        })
    }
}

fn log_of(log: &Log) -> Vec<String> {
    log.lock().unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn the_first_layer_is_the_outermost() {
    let (bench, log) = (Bench::new(), Log::default());
    bench.put("t", &["discard"]);
    let consumer = bench
        .consumer()
        .layer(layer("outer", Deed::Note, &log))
        .layer(layer("inner", Deed::Note, &log));
    bench.run(consumer, 5 * SECOND).await;
    assert_eq!(
        log_of(&log),
        [
            "outer urn:test:task 1",
            "inner urn:test:task 1",
            "inner Discard",
            "outer Discard"
        ]
    );
    assert_eq!(bench.lab.calls(), ["t/0"]);
    assert!(bench.left().is_empty());
}

/// What a handler's failure asks for goes through layers, also through one that wraps it.
#[tokio::test(start_paused = true)]
async fn a_handlers_failure_is_found_again() {
    for deed in [Deed::Note, Deed::Wrap] {
        let (bench, log) = (Bench::new(), Log::default());
        bench.put("later", &["later=40000", "ok"]);
        bench.put("never", &["permanent"]);
        let bad = envelope("bad", &["ok"]).replace("\"name\":\"bad\"", "\"name\":5");
        bench.put_raw(RawMessage::new(bad));
        bench.put("panic", &["panic", "ok"]);
        let consumer = bench
            .consumer()
            .layer(layer("l", deed, &log))
            .retry(Backoff::fixed(100 * SECOND))
            .dead_letter_queue(DeadLetterQueue::default_name());
        bench.run(consumer, 200 * SECOND).await;
        let later = bench.lab.begins("later");
        assert_eq!((later[1] - later[0]).as_secs(), 40, "its own pause");
        let panic = bench.lab.begins("panic");
        assert!((panic[1] - panic[0]).as_secs() >= 100, "the policy's pause");
        assert_eq!(bench.dead().len(), 2, "permanent ones at once");
        assert!(bench.left().is_empty());
        if deed == Deed::Note {
            let mut exceptions: Vec<_> = bench
                .dead_json()
                .iter()
                .map(|body| {
                    body["dead_letter"]["exception"]
                        .as_str()
                        .unwrap()
                        .to_owned()
                })
                .collect();
            exceptions.sort();
            assert_eq!(exceptions, ["PayloadError", "TaskError"]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn c_047_a_permanent_failure_of_a_layer_is_settled_at_once() {
    let (bench, log) = (Bench::new(), Log::default());
    bench.put("t", &["ok"]);
    let consumer = bench
        .consumer()
        .layer(layer("guard", Deed::Permanent, &log))
        .retry(Backoff::fixed(SECOND))
        .max_attempts(5)
        .dead_letter_queue(DeadLetterQueue::default_name());
    bench.run(consumer, 30 * SECOND).await;
    let changes = Operation::ChangeMessageVisibilityBatch;
    assert_eq!(bench.sqs.calls().count(changes), 0);
    assert!(bench.lab.calls().is_empty(), "the handler never ran");
    assert_eq!(bench.lab.kinds(), [ReportKind::Handler]);
    let dead = &bench.dead_json()[0]["dead_letter"];
    assert_eq!(dead["error"], "not allowed");
    assert_eq!(dead["reason"], "failed");
}

#[tokio::test(start_paused = true)]
async fn c_047_a_permanent_failure_of_decoding_is_settled_at_once() {
    let bench = Bench::new();
    bench.put_raw(RawMessage::new("order x"));
    let consumer = bench
        .consumer()
        .decoder(|_: &babelqueue::decode::Foreign<'_>| Err("no such order".into()))
        .retry(Backoff::fixed(SECOND))
        .dead_letter_queue(DeadLetterQueue::default_name());
    bench.run(consumer, 30 * SECOND).await;
    let changes = Operation::ChangeMessageVisibilityBatch;
    assert_eq!(bench.sqs.calls().count(changes), 0);
    assert_eq!(bench.lab.kinds(), [ReportKind::Poison]);
    let dead = &bench.dead_json()[0];
    assert_eq!(dead["raw"], "order x");
    let error = dead["dead_letter"]["error"].as_str().unwrap();
    assert!(error.contains("no such order"), "{error}");
}

/// What a layer does wrong is a failure of that one message, and tried again.
#[tokio::test(start_paused = true)]
async fn a_layer_that_misbehaves_harms_only_its_message() {
    for (deed, expected) in [
        (Deed::Panic, "l panicked"),
        (Deed::Miscount, "answered for 0 messages"),
        (Deed::Rename, "no handler takes `urn:test:nobody`"),
    ] {
        let (bench, log) = (Bench::new(), Log::default());
        bench.put("t", &["ok"]);
        let consumer = bench.consumer().layer(layer("l", deed, &log));
        let consumer = consumer.retry(Backoff::fixed(3600 * SECOND));
        bench.run(consumer, 5 * SECOND).await;
        let errors = bench.lab.errors();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].0, ReportKind::Handler);
        assert!(errors[0].2.contains(expected), "{errors:?}");
        assert_eq!(bench.left().len(), 1, "released");
    }
}

#[tokio::test(start_paused = true)]
async fn a_layer_may_answer_in_the_handlers_place() {
    let (bench, log) = (Bench::new(), Log::default());
    bench.put("t", &["ok"]);
    let consumer = bench.consumer().layer(layer("l", Deed::Discard, &log));
    let consumer = consumer.build().unwrap();
    let handle = consumer.handle();
    consumer
        .run_until(tokio::time::sleep(5 * SECOND))
        .await
        .unwrap();
    assert_eq!(handle.stats().discarded, 1);
    assert!(bench.lab.calls().is_empty() && bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn towers_own_timeout_and_limit_fit() {
    let bench = Bench::new();
    bench.put("slow", &["sleep=20000", "ok"]);
    for i in 0..5 {
        bench.put(&format!("t{i}"), &["sleep=1000"]);
    }
    let consumer = bench
        .consumer()
        .layer(ConcurrencyLimitLayer::new(2))
        .layer(TimeoutLayer::new(5 * SECOND))
        .retry(Backoff::fixed(30 * SECOND));
    bench.run(consumer, 60 * SECOND).await;
    assert_eq!(bench.lab.most_at_once(), 2);
    let slow = bench.lab.ends("slow")[0] - bench.lab.begins("slow")[0];
    assert_eq!(slow.as_secs(), 5, "cancelled");
    assert_eq!(bench.lab.kinds(), [ReportKind::Handler]);
    assert!(bench.left().is_empty());
}

/// The documented order: the guard outside of the layers, the handler's timeout inside of them.
#[tokio::test(start_paused = true)]
async fn the_guard_is_outside_of_the_layers_and_the_timeout_inside() {
    use babelqueue::idempotency::{Idempotency, MemoryStore};
    let (bench, log) = (Bench::new(), Log::default());
    bench.put("t", &["sleep=20000", "ok"]);
    let guard = Idempotency::claims(MemoryStore::new());
    let consumer = || {
        bench
            .consumer()
            .idempotency(guard.clone())
            .layer(layer("l", Deed::Note, &log))
            .handler_timeout(Duration::from_secs(3))
            .retry(Backoff::fixed(SECOND))
    };
    bench.run(consumer(), 20 * SECOND).await;
    let seen = log_of(&log);
    assert!(seen[1].contains("longer than its timeout"), "{seen:?}");
    assert_eq!(seen[3], "l Done");
    bench.put("t", &["ok"]);
    bench.run(consumer(), 20 * SECOND).await;
    assert_eq!(log_of(&log).len(), 4, "a duplicate passes no layer");
}
