//! Claims: of two deliveries of one message one is handled, the other waits (SPEC §3.1).

use std::time::Duration;

use babelqueue::idempotency::{Idempotency, IdempotencyStore, MemoryStore};
use babelqueue::{BoxError, ReportKind};
use tokio::time::sleep;

use crate::support::{Bench, SECOND};

fn claims() -> Idempotency {
    Idempotency::claims(MemoryStore::new())
}

#[tokio::test(start_paused = true)]
async fn the_second_delivery_waits_and_the_lease_lives_with_the_heartbeat() {
    let bench = Bench::new();
    // The handler runs for longer than three times the visibility timeout of 30 s.
    bench.put("a", &["sleep=100000 ok"]);
    bench.put("b", &["ok"]);
    let consumer = bench.consumer().idempotency(claims()).build().unwrap();
    let handle = consumer.handle();
    let run = tokio::spawn(consumer.run());
    sleep(99 * SECOND).await;
    assert_eq!(bench.lab.calls(), ["a/0"]);
    let released = handle.stats().released;
    assert!(
        (3..=10).contains(&released),
        "released {released} times, no busy loop"
    );
    sleep(60 * SECOND).await;
    assert_eq!(bench.lab.calls(), ["a/0"], "the other one is only deleted");
    assert!(bench.left().is_empty());
    assert!(bench.lab.kinds().is_empty(), "{:?}", bench.lab.errors());
    let stats = handle.stats();
    assert_eq!((stats.handled, stats.duplicates, stats.failed), (1, 1, 0));
    handle.stop();
    run.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_failure_frees_the_claim_at_once() {
    let bench = Bench::new();
    bench.put("a", &["fail", "ok"]);
    bench
        .run(bench.consumer().idempotency(claims()), SECOND)
        .await;
    assert_eq!(bench.lab.calls(), ["a/0", "a/1"]);
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_handler_gives_its_claim_back() {
    let bench = Bench::new();
    let store = MemoryStore::new();
    bench.put("a", &["sleep=600000 ok", "ok"]);
    let guard = || Idempotency::claims(store.clone());
    let first = bench
        .consumer()
        .shutdown_timeout(Duration::ZERO)
        .shutdown_linger(Duration::ZERO);
    bench.run(first.idempotency(guard()), 5 * SECOND).await;
    assert_eq!(bench.lab.running(), 0);
    // Else it would have to wait for the rest of the lease of 30 s.
    bench
        .run(bench.consumer().idempotency(guard()), SECOND)
        .await;
    assert_eq!(bench.lab.calls(), ["a/0", "a/1"]);
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_lost_lease_is_reported_and_the_message_deleted() {
    let bench = Bench::named("orders", [("VisibilityTimeout", "5")]);
    let store = MemoryStore::new();
    bench.put("a", &["sleep=20000 ok"]);
    let guard = Idempotency::claims(store.clone());
    let slow = bench.consumer().heartbeat(false).idempotency(guard.clone());
    let slow = slow.build().unwrap();
    let handle = slow.handle();
    let run = tokio::spawn(slow.run());
    sleep(10 * SECOND).await;
    // Somebody else takes it, who does not know this consumer.
    let other = Idempotency::claims(store);
    other.forget("m-1").await.unwrap();
    let taken = other.run("m-1", async || Ok::<_, BoxError>(())).await;
    assert!(
        matches!(taken, babelqueue::idempotency::Guarded::Ran { .. }),
        "{taken:?}"
    );
    sleep(30 * SECOND).await;
    assert!(
        bench.lab.kinds().contains(&ReportKind::Idempotency),
        "{:?}",
        bench.lab.errors()
    );
    assert!(bench.left().is_empty());
    handle.stop();
    run.await.unwrap().unwrap();
}

/// A seen-set that is down in one of its operations.
struct Down(&'static str);

impl Down {
    fn at<T>(&self, step: &str, value: T) -> Result<T, BoxError> {
        if self.0 == step {
            Err("the store is down".into())
        } else {
            Ok(value)
        }
    }
}

impl IdempotencyStore for Down {
    async fn seen(&self, _: &str) -> Result<bool, BoxError> {
        self.at("seen", false)
    }

    async fn remember(&self, _: &str) -> Result<(), BoxError> {
        self.at("remember", ())
    }

    async fn forget(&self, _: &str) -> Result<(), BoxError> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_down_before_the_run_is_a_failure_to_be_retried() {
    let bench = Bench::new();
    bench.put("a", &["ok"]);
    let consumer = bench.consumer().release_delay(|_| 10 * SECOND);
    bench
        .run(consumer.idempotency(Down("seen")), 5 * SECOND)
        .await;
    assert!(bench.lab.calls().is_empty());
    assert_eq!(bench.lab.kinds(), [ReportKind::Handler]);
    assert_eq!(bench.left().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_down_after_the_run_is_reported_and_the_message_deleted() {
    let bench = Bench::new();
    bench.put("a", &["ok"]);
    bench
        .run(bench.consumer().idempotency(Down("remember")), 5 * SECOND)
        .await;
    assert_eq!(bench.lab.calls(), ["a/0"]);
    assert_eq!(bench.lab.kinds(), [ReportKind::Idempotency]);
    assert!(bench.left().is_empty());
}
