//! Random histories: messages, failures, faults of SQS, consumers that stop and consumers that are
//! killed, replayed by their seed. Whatever happens, each message is handled or
//! dead-lettered before it is deleted, those of a group one after the other, within the bounds of
//! each consumer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use babelqueue::Handle;
use babelqueue::local::{LocalSqs, MessageSnapshot, Operation, RawMessage, Refusal};
use babelqueue::prelude::*;
use tokio::time::sleep;

use crate::support::{Bench, Lab, SECOND, all_of, envelope};

/// How many histories of each kind; `CHAOS_SEEDS` sets another number.
const SEEDS: u64 = 50;
const MESSAGES: usize = 24;
const CONCURRENCY: usize = 4;
const MAX_IN_FLIGHT: usize = 14;

fn steps(random: &mut fastrand::Rng) -> Vec<&'static str> {
    let first = [
        "ok",
        "sleep=700 ok",
        "fail",
        "sleep=40000 ok",
        "panic",
        "retry=1500",
        "permanent",
        "discard",
        "sleep=900 fail",
    ];
    let mut steps = vec![first[random.usize(..first.len())]];
    if random.bool() {
        steps.push(first[random.usize(..first.len())]);
    }
    steps.push("ok");
    steps
}

/// Every kind of fault, now and then.
pub fn plan_faults(sqs: &LocalSqs, duplicates: bool) {
    let faults = sqs.faults();
    let on = |operation, probability| faults.on(operation).probability(probability);
    let operations = [
        Operation::ReceiveMessage,
        Operation::DeleteMessageBatch,
        Operation::ChangeMessageVisibilityBatch,
        Operation::SendMessage,
    ];
    for operation in operations {
        drop(on(operation, 0.03).lose_request());
        drop(on(operation, 0.03).lose_response());
        drop(on(operation, 0.03).refuse(Refusal::InternalError));
        drop(on(operation, 0.03).refuse(Refusal::Throttled));
        drop(on(operation, 0.02).delay(3 * SECOND));
        drop(on(operation, 0.01).hang());
    }
    // The SDK retries the others: of these sends some fail for good.
    drop(on(Operation::SendMessage, 0.2).refuse(Refusal::AccessDenied));
    for operation in [
        Operation::DeleteMessageBatch,
        Operation::ChangeMessageVisibilityBatch,
    ] {
        drop(on(operation, 0.1).fail_entries([0], "InternalError", false));
        drop(on(operation, 0.1).omit_entries([1]));
    }
    if duplicates {
        drop(on(Operation::ReceiveMessage, 0.05).duplicate());
    }
}

/// The name of the message with this number: they sort as the numbers do.
fn name(i: usize) -> String {
    format!("m{i:02}")
}

fn name_of(message: &MessageSnapshot) -> String {
    let body: serde_json::Value = serde_json::from_str(&message.body).unwrap();
    body["data"]["name"].as_str().unwrap().to_owned()
}

/// Looks at the queues whenever a handler begins, and notes what must not be.
#[derive(Clone)]
struct Judge {
    sqs: LocalSqs,
    queue: String,
    dlq: String,
    lab: Lab,
    /// The group of each message, on a FIFO queue.
    groups: Arc<BTreeMap<String, String>>,
    /// The consumers at work.
    handles: Arc<Mutex<Vec<Handle>>>,
    wrongs: Arc<Mutex<Vec<String>>>,
}

impl Judge {
    fn look(&self, begun: &str) {
        let left: BTreeSet<_> = all_of(&self.sqs, &self.queue).iter().map(name_of).collect();
        let dead: BTreeSet<_> = all_of(&self.sqs, &self.dlq).iter().map(name_of).collect();
        let handled = self.lab.handled();
        for name in (0..MESSAGES).map(name) {
            if !(left.contains(&name) || dead.contains(&name) || handled.contains(&name)) {
                self.wrong(format!("{name} was deleted and nobody has handled it"));
            }
        }
        let group = self.groups.get(begun);
        for earlier in left.iter().filter(|name| name.as_str() < begun) {
            if group.is_some() && self.groups.get(earlier) == group {
                self.wrong(format!(
                    "{begun} began before its group was done with {earlier}"
                ));
            }
        }
        for handle in self.handles.lock().unwrap().iter() {
            let stats = handle.stats();
            if stats.in_flight > MAX_IN_FLIGHT || stats.running > CONCURRENCY {
                self.wrong(format!("beyond the bounds: {stats:?}"));
            }
        }
    }

    fn wrong(&self, what: String) {
        self.wrongs.lock().unwrap().push(what);
    }

    fn check(&self) {
        let wrongs = self.wrongs.lock().unwrap();
        assert!(wrongs.is_empty(), "{wrongs:#?}");
    }
}

async fn history(seed: u64, fifo: bool) {
    let mut random = fastrand::Rng::with_seed(seed);
    fastrand::seed(seed);
    babelqueue::envelope::seed_ids(Some(seed));
    let bench = if fifo { Bench::fifo() } else { Bench::new() };
    let mut groups = BTreeMap::new();
    for name in (0..MESSAGES).map(name) {
        let mut message = RawMessage::new(envelope(&name, &steps(&mut random)));
        if fifo {
            let group = format!("g{}", random.u32(0..5));
            groups.insert(name.clone(), group.clone());
            message = message.group_id(group).deduplication_id(name);
        }
        bench.put_raw(message);
    }
    let judge = Judge {
        sqs: bench.sqs.clone(),
        queue: bench.queue.clone(),
        dlq: bench.dlq(),
        lab: bench.lab.clone(),
        groups: Arc::new(groups),
        handles: Arc::default(),
        wrongs: Arc::default(),
    };
    let judging = judge.clone();
    bench.lab.watch(move |begun| judging.look(begun));
    let consumer = || {
        let backoff = Backoff::exponential(SECOND).max(60 * SECOND);
        let consumer = bench
            .consumer()
            .concurrency(CONCURRENCY)
            .max_in_flight(MAX_IN_FLIGHT)
            .retry(backoff.jitter(Jitter::Full))
            .max_attempts(6)
            .dead_letter_queue(DeadLetterQueue::default_name())
            .shutdown_timeout(5 * SECOND)
            .build()
            .unwrap();
        judge.handles.lock().unwrap().push(consumer.handle());
        consumer
    };
    plan_faults(&bench.sqs, !fifo);
    for _ in 0..6 {
        let (one, other) = (consumer(), consumer());
        let time = Duration::from_millis(random.u64(1000..90_000));
        let killed = tokio::spawn(one.run());
        other.run_until(sleep(time)).await.unwrap();
        killed.abort();
        let _ = killed.await;
        assert_eq!(bench.lab.running(), 0, "no handler runs after the end");
        judge.handles.lock().unwrap().clear();
    }
    bench.sqs.faults().clear();
    let settled = tokio::time::timeout(1200 * SECOND, bench.sqs.wait_until_empty(&bench.queue));
    consumer().run_until(settled).await.unwrap();
    assert!(bench.left().is_empty(), "everything is settled in the end");
    judge.look("");
    judge.check();
    let log = bench.lab.log().len();
    sleep(100 * SECOND).await;
    assert_eq!(bench.lab.log().len(), log, "nothing happens after the end");
}

/// Runs the histories of all seeds on a runtime of their own each. One that fails is named.
pub fn replay<F: Future<Output = ()>>(kind: &str, history: impl Fn(u64) -> F) {
    for seed in seeds() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        let history = std::panic::AssertUnwindSafe(|| runtime.block_on(history(seed)));
        if std::panic::catch_unwind(history).is_err() {
            panic!("seed {seed} failed ({kind}); replay it with CHAOS_SEED={seed}");
        }
    }
}

/// All seeds, or the one that is asked for.
fn seeds() -> std::ops::Range<u64> {
    let number = |name| {
        std::env::var(name)
            .ok()
            .map(|text| text.parse::<u64>().unwrap())
    };
    match number("CHAOS_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("CHAOS_SEEDS").unwrap_or(SEEDS),
    }
}

#[test]
fn nothing_is_lost_on_a_standard_queue() {
    replay("chaos", |seed| history(seed, false));
}

#[test]
fn nothing_is_lost_on_a_fifo_queue() {
    replay("chaos", |seed| history(seed, true));
}
