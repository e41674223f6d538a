//! Batch handlers behind the polling consumer: on standard queues, by count and linger.

use std::time::Duration;

use babelqueue::local::RawMessage;
use babelqueue::prelude::*;
use babelqueue::sqs::SqsConsumerBuilder;
use babelqueue::{BuildError, ReportKind};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::sleep;

use crate::support::{Bench, Lab, SECOND, body, router};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:test:row"]
struct Row {
    name: String,
    does: String,
}

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:test:tenant-row"]
struct TenantRow {
    name: String,
}

#[babel_handler(batch)]
async fn rows(rows: Batch<Row>, State(lab): State<Lab>) -> Result<(), &'static str> {
    let names: Vec<_> = rows.payloads().map(|row| row.name.as_str()).collect();
    lab.begin(&names.join(" "));
    for row in &rows {
        match row.does.as_str() {
            "fail" => row.fail("it failed"),
            "later" => row.fail(HandlerError::retry_after("later", 7 * SECOND)),
            "dead" => row.settle(Outcome::dead_letter("no use")),
            "all" => return Err("all of them failed"),
            "sleep" => sleep(20 * SECOND).await,
            _ => {}
        }
    }
    Ok(())
}

#[babel_handler(batch, per_attribute = "tenant")]
async fn tenant_rows(rows: Batch<TenantRow>, State(lab): State<Lab>) {
    let names: Vec<_> = rows.payloads().map(|row| row.name.as_str()).collect();
    lab.begin(&names.join(" "));
}

fn consumer(bench: &Bench) -> SqsConsumerBuilder<impl Routes<Lab>, Lab> {
    let handlers = Router::from_handlers![rows, tenant_rows];
    SqsConsumer::builder(bench.sqs.client(), &bench.url, handlers.merge(router()))
        .state(bench.lab.clone())
        .on_error(bench.lab.hook())
        .retry(Backoff::fixed(1000 * SECOND))
}

fn put(bench: &Bench, name: &str, does: &str) {
    let data = json!({ "name": name, "does": does });
    bench.put_raw(RawMessage::new(body("urn:test:row", &data)));
}

/// The batches, and when each of them began.
fn batches(bench: &Bench) -> Vec<(String, u64)> {
    let log = bench.lab.log().into_iter();
    let begins = log.filter(|entry| entry.what == "begin");
    begins
        .map(|entry| (entry.name, entry.at.as_millis() as u64))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_batch_goes_out_when_it_is_full_and_the_rest_after_the_linger() {
    let bench = Bench::new();
    for name in ["a", "b", "c", "d", "e"] {
        put(&bench, name, "ok");
    }
    bench.put("single", &["ok"]);
    let linger = Duration::from_millis(400);
    let consumer = consumer(&bench).handler_batch(2, linger);
    bench.run(consumer, 5 * SECOND).await;
    let mut batches = batches(&bench);
    batches.sort_by_key(|(_, at)| *at);
    let (last, at) = batches.pop().unwrap();
    assert_eq!((last.as_str(), at), ("e", 400), "it waited for others");
    let mut names: Vec<_> = batches.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["a b", "c d", "single"]);
    assert!(batches.iter().all(|(_, at)| *at < 50), "{batches:?}");
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn each_message_of_a_batch_is_settled_on_its_own() {
    let bench = Bench::new();
    for (name, does) in [
        ("a", "ok"),
        ("b", "fail"),
        ("c", "later"),
        ("d", "dead"),
        ("e", "ok"),
    ] {
        put(&bench, name, does);
    }
    let broken = json!({ "name": 7 });
    bench.put_raw(RawMessage::new(body("urn:test:row", &broken)));
    let dlq = DeadLetterQueue::default_name();
    let consumer = consumer(&bench).dead_letter_queue(dlq).build().unwrap();
    let handle = consumer.handle();
    consumer.run_until(sleep(5 * SECOND)).await.unwrap();
    assert_eq!(batches(&bench).len(), 1);
    let left: Vec<_> = bench
        .left()
        .iter()
        .map(|m| m.body.contains("\"later\""))
        .collect();
    assert_eq!(left.iter().filter(|later| **later).count(), 1);
    assert_eq!((left.len(), bench.dead().len()), (2, 2));
    let stats = handle.stats();
    assert_eq!(
        (stats.handled, stats.failed, stats.dead_lettered),
        (2, 4, 2)
    );
    assert_eq!(bench.lab.kinds(), [ReportKind::Handler; 4]);
}

#[tokio::test(start_paused = true)]
async fn an_error_or_a_panic_fails_the_whole_batch() {
    let bench = Bench::new();
    for (name, does) in [("a", "ok"), ("b", "all")] {
        put(&bench, name, does);
    }
    bench.run(consumer(&bench), 5 * SECOND).await;
    assert_eq!((batches(&bench).len(), bench.left().len()), (1, 2));
    assert_eq!(bench.lab.kinds(), [ReportKind::Handler; 2]);
}

#[tokio::test(start_paused = true)]
async fn batches_are_divided_by_an_attribute() {
    let bench = Bench::new();
    for (name, tenant) in [
        ("a", Some("x")),
        ("b", None),
        ("c", Some("y")),
        ("d", Some("x")),
    ] {
        let message = RawMessage::new(body("urn:test:tenant-row", &json!({ "name": name })));
        bench.put_raw(match tenant {
            Some(tenant) => message.attribute("tenant", "String", tenant),
            None => message,
        });
    }
    bench.run(consumer(&bench), 5 * SECOND).await;
    let mut names: Vec<_> = batches(&bench).into_iter().map(|(name, _)| name).collect();
    names.sort();
    assert_eq!(names, ["a d", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn a_batch_takes_one_place_and_what_waits_for_it_is_given_back_at_the_stop() {
    let bench = Bench::new();
    put(&bench, "a", "sleep");
    put(&bench, "b", "ok");
    let consumer = consumer(&bench)
        .concurrency(1)
        .handler_batch(2, 60 * SECOND);
    let run = tokio::spawn(consumer.build().unwrap().run_until(sleep(5 * SECOND)));
    sleep(SECOND).await;
    put(&bench, "c", "ok");
    run.await.unwrap().unwrap();
    assert_eq!(
        batches(&bench).len(),
        1,
        "the pooled one has no company yet"
    );
    let left = bench.sqs.snapshot(&bench.queue);
    assert_eq!((left.visible.len(), left.in_flight.len()), (1, 0));
    assert!(
        left.visible[0].body.contains("\"c\""),
        "a and b were handled to the end"
    );
}

#[tokio::test(start_paused = true)]
async fn the_visibility_of_a_waiting_batch_is_renewed() {
    let bench = Bench::new();
    put(&bench, "a", "ok");
    // Longer than the visibility timeout of 30 s.
    let consumer = consumer(&bench).handler_batch(2, 100 * SECOND);
    bench.run(consumer, 200 * SECOND).await;
    assert_eq!(batches(&bench), [("a".to_owned(), 100_000)]);
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn one_poll_handles_a_batch_to_its_end() {
    let bench = Bench::new();
    put(&bench, "a", "ok");
    put(&bench, "b", "ok");
    let summary = consumer(&bench).build().unwrap().poll().await.unwrap();
    assert_eq!((summary.received, summary.deleted), (2, 2));
    assert_eq!(batches(&bench).len(), 1);
}

#[tokio::test]
async fn what_cannot_work_is_not_built() {
    let fifo = consumer(&Bench::fifo()).build().unwrap_err();
    let queue = "orders.fifo".to_owned();
    assert_eq!(fifo, BuildError::BatchOnFifo { queue });
    let bench = Bench::new();
    let large = consumer(&bench).max_in_flight(5).handler_batch(6, SECOND);
    let error = large.build().unwrap_err().to_string();
    assert!(
        error.contains("`handler_batch` of 6") && error.contains("max_in_flight"),
        "{error}"
    );
    assert!(consumer(&bench).handler_batch(0, SECOND).build().is_err());
    assert!(
        consumer(&bench)
            .max_in_flight(5)
            .handler_batch(5, SECOND)
            .build()
            .is_ok()
    );
    // Without batch handlers none of it matters.
    assert!(
        Bench::fifo()
            .consumer()
            .handler_batch(0, SECOND)
            .build()
            .is_ok()
    );
}
