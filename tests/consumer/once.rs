//! Messages that are handled once, though SQS delivers them several times.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_sdk_sqs::types::QueueAttributeName;
use babelqueue::idempotency::{Claim, ClaimStore, Idempotency, IdempotencyStore, MemoryStore};
use babelqueue::local::{Operation, RawMessage};
use babelqueue::{BoxError, DeadLetterQueue, ReportKind};

use crate::support::{Bench, SECOND, envelope};

/// Notes the ids that it is asked about.
#[derive(Clone, Default)]
struct Noted {
    store: MemoryStore,
    ids: Arc<Mutex<Vec<String>>>,
}

impl Noted {
    fn note(&self, id: &str) {
        self.ids.lock().unwrap().push(id.to_owned());
    }
}

impl IdempotencyStore for Noted {
    async fn seen(&self, id: &str) -> Result<bool, BoxError> {
        self.note(id);
        self.store.seen(id).await
    }

    async fn remember(&self, id: &str) -> Result<(), BoxError> {
        self.note(id);
        self.store.remember(id).await
    }

    async fn forget(&self, id: &str) -> Result<(), BoxError> {
        self.note(id);
        self.store.forget(id).await
    }
}

impl ClaimStore for Noted {
    async fn claim(&self, id: &str, token: &str, lease: Duration) -> Result<Claim, BoxError> {
        self.note(id);
        self.store.claim(id, token, lease).await
    }

    async fn renew(&self, id: &str, token: &str, lease: Duration) -> Result<bool, BoxError> {
        self.note(id);
        self.store.renew(id, token, lease).await
    }

    async fn complete(&self, id: &str, token: &str) -> Result<bool, BoxError> {
        self.note(id);
        self.store.complete(id, token).await
    }

    async fn release(&self, id: &str, token: &str) -> Result<bool, BoxError> {
        self.note(id);
        self.store.release(id, token).await
    }
}

#[tokio::test(start_paused = true)]
async fn c_012_the_key_is_the_envelopes_id_also_after_a_redrive() {
    let noted = Noted::default();
    for guard in [
        Idempotency::new(noted.clone()),
        Idempotency::claims(noted.clone()),
    ] {
        noted.store.forget("m-1").await.unwrap();
        let bench = Bench::fifo();
        // SQS itself takes the message away after two receives.
        let policy = format!(
            r#"{{"deadLetterTargetArn":"{}","maxReceiveCount":2}}"#,
            bench.sqs.queue_arn(&bench.dlq())
        );
        let client = bench.sqs.client();
        let set = client.set_queue_attributes().queue_url(&bench.url);
        set.attributes(QueueAttributeName::RedrivePolicy, policy)
            .send()
            .await
            .unwrap();
        let first = bench.put_in("g", "t", &["sleep=100 fail", "sleep=100 fail", "ok"]);
        let consumer = || bench.consumer().idempotency(guard.clone());
        bench.run(consumer(), 20 * SECOND).await;
        assert_eq!(bench.lab.calls(), ["t/0", "t/1"]);
        let dead = bench.dead();
        assert_eq!(dead.len(), 1, "moved by the redrive policy");

        // The redrive: the same body, and everything that SQS assigns is new.
        let again = |dedup: &str, attempts: u32| {
            let message = RawMessage::new(dead[0].body.clone()).group_id("g");
            bench.put_raw(message.deduplication_id(dedup).receive_count(attempts))
        };
        let second = again("other-1", 2);
        assert_ne!(first, second, "another message to SQS");
        // A native redrive policy of 2 would take it away at once.
        let set = client.set_queue_attributes().queue_url(&bench.url);
        set.attributes(QueueAttributeName::RedrivePolicy, "")
            .send()
            .await
            .unwrap();
        bench.run(consumer(), 20 * SECOND).await;
        assert_eq!(bench.lab.calls(), ["t/0", "t/1", "t/2"]);
        // And once more, after it has succeeded: the same message to the guard.
        again("other-2", 0);
        let last = consumer().build().unwrap();
        let handle = last.handle();
        last.run_until(tokio::time::sleep(20 * SECOND))
            .await
            .unwrap();
        assert_eq!(bench.lab.calls().len(), 3, "not handled again");
        assert_eq!(handle.stats().duplicates, 1);
        assert!(bench.left().is_empty());
    }
    let ids = noted.ids.lock().unwrap();
    assert!(
        ids.len() > 10 && ids.iter().all(|id| id == "m-1"),
        "{ids:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn c_042_a_delete_succeeds_and_the_message_stays() {
    // Visible again after a second, while its handler is busy for three.
    let bench = Bench::named("orders", [("VisibilityTimeout", "1")]);
    let _silent = bench.sqs.faults().on_any().old_handles_silent();
    bench.put("x", &["sleep=3000 ok"]);
    let guard = Idempotency::claims(MemoryStore::new()).lease(10 * SECOND);
    let consumer = bench
        .consumer()
        .heartbeat(false)
        .startup_checks(false)
        .idempotency(guard)
        .build()
        .unwrap();
    let handle = consumer.handle();
    let run = tokio::spawn(consumer.run());
    tokio::time::sleep(2 * SECOND).await;
    let stats = handle.stats();
    assert!(stats.received >= 2, "X has come again: {stats:?}");
    assert_eq!(
        stats.deleted + stats.duplicates,
        0,
        "and is not acknowledged"
    );
    tokio::time::sleep(40 * SECOND).await;
    assert_eq!(bench.lab.calls(), ["x/0"], "handled once");
    assert!(handle.stats().duplicates >= 1, "recognised as done");
    assert!(bench.left().is_empty(), "deleted with its own handle");
    handle.stop();
    run.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn c_043_with_idempotency_the_second_run_has_no_effect() {
    let bench = Bench::named(
        "orders.fifo",
        [("FifoQueue", "true"), ("VisibilityTimeout", "2")],
    );
    bench.put_in("g", "t", &["sleep=3000 ok"]);
    let consumer = bench.consumer().heartbeat(false);
    bench
        .run(consumer.idempotency(MemoryStore::new()), 20 * SECOND)
        .await;
    assert_eq!(bench.lab.calls(), ["t/0"]);
    assert_eq!(bench.lab.kinds(), [ReportKind::Delete], "one event");
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_second_consumer_knows_of_what_the_first_one_handled() {
    // Handled, but its delete is lost: another process, with the same store, has it next.
    let bench = Bench::new();
    let store = MemoryStore::new();
    bench.put_raw(RawMessage::new(envelope("t", &["ok"])));
    let fault = bench.sqs.faults().on(Operation::DeleteMessageBatch);
    let lost = fault.fail_entries([0], "ReceiptHandleIsInvalid", true);
    bench
        .run(bench.consumer().idempotency(store.clone()), 5 * SECOND)
        .await;
    drop(lost);
    bench.sqs.faults().clear();
    bench
        .run(bench.consumer().idempotency(store), 60 * SECOND)
        .await;
    assert_eq!(bench.lab.calls(), ["t/0"]);
    assert!(bench.left().is_empty());
}

/// A claim store with one fault.
#[derive(Clone)]
struct Faulty {
    store: MemoryStore,
    /// `renew` of the first id that asks never answers.
    hang_one_renewal: Arc<Mutex<bool>>,
    complete_takes: Duration,
    panics: bool,
    renewal_panics: bool,
}

impl Faulty {
    fn new() -> Self {
        Self {
            store: MemoryStore::new(),
            hang_one_renewal: Arc::default(),
            complete_takes: Duration::ZERO,
            panics: false,
            renewal_panics: false,
        }
    }
}

impl IdempotencyStore for Faulty {
    async fn seen(&self, id: &str) -> Result<bool, BoxError> {
        self.store.seen(id).await
    }

    async fn remember(&self, id: &str) -> Result<(), BoxError> {
        self.store.remember(id).await
    }

    async fn forget(&self, id: &str) -> Result<(), BoxError> {
        self.store.forget(id).await
    }
}

impl ClaimStore for Faulty {
    async fn claim(&self, id: &str, token: &str, lease: Duration) -> Result<Claim, BoxError> {
        assert!(!self.panics, "the store panics");
        self.store.claim(id, token, lease).await
    }

    async fn renew(&self, id: &str, token: &str, lease: Duration) -> Result<bool, BoxError> {
        assert!(!self.renewal_panics, "no renewal");
        if std::mem::take(&mut *self.hang_one_renewal.lock().unwrap()) {
            std::future::pending::<()>().await;
        }
        self.store.renew(id, token, lease).await
    }

    async fn complete(&self, id: &str, token: &str) -> Result<bool, BoxError> {
        tokio::time::sleep(self.complete_takes).await;
        self.store.complete(id, token).await
    }

    async fn release(&self, id: &str, token: &str) -> Result<bool, BoxError> {
        self.store.release(id, token).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_renewal_of_one_claim_that_hangs_costs_no_other_message_its_lease() {
    let bench = Bench::new();
    for i in 0..10 {
        let body = envelope(&format!("t{i}"), &["sleep=70000 ok"]);
        bench.put_raw(RawMessage::new(body.replace("m-1", &format!("id-{i}"))));
    }
    let store = Faulty::new();
    *store.hang_one_renewal.lock().unwrap() = true;
    let consumer = bench.consumer().idempotency(Idempotency::claims(store));
    bench.run(consumer.concurrency(10), 300 * SECOND).await;
    // The one whose claim was not renewed is asked for again a beat later, and keeps it.
    assert_eq!(bench.lab.calls().len(), 10, "{:?}", bench.lab.calls());
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_was_handled_is_remembered_though_the_grace_period_ends_meanwhile() {
    let bench = Bench::new();
    bench.put("a", &["sleep=500 ok"]);
    let mut store = Faulty::new();
    store.complete_takes = Duration::from_millis(300);
    let consumer = || {
        bench
            .consumer()
            .idempotency(Idempotency::claims(store.clone()))
    };
    let stopped = consumer().shutdown_timeout(Duration::from_millis(600));
    bench.run(stopped, Duration::from_millis(100)).await;
    bench.run(consumer(), 120 * SECOND).await;
    assert_eq!(bench.lab.calls(), ["a/0"]);
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_store_that_panics_fails_the_message_like_any_other_error() {
    let bench = Bench::new();
    bench.put("a", &["ok"]);
    let mut store = Faulty::new();
    store.panics = true;
    let consumer = bench
        .consumer()
        .idempotency(Idempotency::claims(store))
        .max_attempts(2)
        .dead_letter_queue(DeadLetterQueue::default_name());
    bench.run(consumer, 60 * SECOND).await;
    let dead = bench.dead_json();
    assert_eq!(dead.len(), 1, "{dead:?}");
    assert_eq!(
        dead[0]["dead_letter"]["error"],
        "panicked: the store panics"
    );
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_panics_ends_neither_the_loop_nor_the_handler() {
    let bench = Bench::new();
    bench.put("a", &["sleep=25000 ok"]);
    let mut store = Faulty::new();
    store.renewal_panics = true;
    let consumer = bench.consumer().idempotency(Idempotency::claims(store));
    bench.run(consumer, 60 * SECOND).await;
    assert_eq!(bench.lab.calls(), ["a/0"]);
    assert!(bench.left().is_empty(), "handled and deleted");
}

#[tokio::test]
async fn a_lease_without_end_is_no_panic() {
    let store = MemoryStore::new();
    let claim = store.claim("a", "token", Duration::MAX).await.unwrap();
    assert!(matches!(claim, Claim::Won));
    assert!(store.renew("a", "token", Duration::MAX).await.unwrap());
}
