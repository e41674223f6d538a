//! Random histories: messages, failures, faults of SQS, consumers that stop and consumers that are
//! killed, replayed by their seed. Whatever happens, no message may get lost.

use std::collections::BTreeSet;
use std::time::Duration;

use babelqueue::local::{LocalSqs, Operation, RawMessage, Refusal};
use babelqueue::prelude::*;
use tokio::time::sleep;

use crate::support::{Bench, SECOND, envelope};

/// How many histories of each kind; `CHAOS_SEEDS` sets another number.
const SEEDS: u64 = 12;
const MESSAGES: usize = 40;

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

async fn history(seed: u64, fifo: bool) {
    let mut random = fastrand::Rng::with_seed(seed);
    fastrand::seed(seed);
    let bench = if fifo { Bench::fifo() } else { Bench::new() };
    let consumer = || {
        bench
            .consumer()
            .concurrency(4)
            .max_in_flight(14)
            .retry(
                Backoff::exponential(SECOND)
                    .max(60 * SECOND)
                    .jitter(Jitter::Full),
            )
            .max_attempts(6)
            .dead_letter_queue(DeadLetterQueue::default_name())
            .shutdown_timeout(5 * SECOND)
            .build()
            .unwrap()
    };
    for i in 0..MESSAGES {
        let body = envelope(&format!("m{i:02}"), &steps(&mut random));
        let mut message = RawMessage::new(body);
        if fifo {
            let group = format!("g{}", random.u32(0..5));
            message = message.group_id(group).deduplication_id(format!("d{i}"));
        }
        bench.put_raw(message);
    }
    plan_faults(&bench.sqs, true);
    for _ in 0..6 {
        let (one, other) = (consumer(), consumer());
        let time = Duration::from_millis(random.u64(1000..90_000));
        let killed = tokio::spawn(one.run());
        other.run_until(sleep(time)).await.unwrap();
        assert!(bench.lab.most_at_once() <= 8, "the bound holds in both");
        killed.abort();
        let _ = killed.await;
        assert_eq!(bench.lab.running(), 0, "no handler runs after the end");
    }
    bench.sqs.faults().clear();
    consumer().run_until(sleep(1200 * SECOND)).await.unwrap();
    assert!(bench.left().is_empty(), "everything is settled in the end");

    let log = bench.lab.log();
    let ended: BTreeSet<_> = log
        .iter()
        .filter(|e| e.what == "end")
        .map(|e| &e.name)
        .collect();
    let dead = bench.dead_json();
    for i in 0..MESSAGES {
        let name = format!("m{i:02}");
        let is_dead = dead.iter().any(|body| body["data"]["name"] == *name);
        assert!(is_dead || ended.contains(&name), "{name} is lost");
    }
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
