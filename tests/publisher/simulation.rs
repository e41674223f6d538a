//! Random histories of publishing under faults of SQS, replayed by their seed. What is reported as
//! sent is on the queue exactly as reported, what is reported as refused is not, and on a FIFO
//! queue nothing is twice and every group is in order.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, UNIX_EPOCH};

use babelqueue::envelope::seed_ids;
use babelqueue::local::{LocalSqs, Operation, Refusal};
use babelqueue::prelude::*;
use babelqueue::{PublishError, Published};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::support::{OrderCreated, order_id};

/// How many histories of batches and of the buffer; `CHAOS_SEEDS` sets another number.
const SEEDS: u64 = 100;
const MESSAGES: u64 = 60;
const MILLIS: Duration = Duration::from_millis(1);
const SEND_TIMEOUT: Duration = Duration::from_secs(12);

type Fate = Result<Published, PublishError>;

/// Every kind of fault, more or less often.
fn plan_faults(sqs: &LocalSqs, random: &mut fastrand::Rng) {
    let faults = sqs.faults();
    let often = f64::from(random.u32(0..4)) / 2.0;
    let operations = [Operation::SendMessage, Operation::SendMessageBatch];
    let on = |probability: f64| {
        let on = faults.on_each_of(operations);
        on.probability((probability * often).min(1.0))
    };
    on(0.04).lose_request();
    on(0.06).lose_response();
    on(0.04).reset();
    on(0.04).refuse(Refusal::InternalError);
    on(0.08).refuse(Refusal::Throttled);
    on(0.01).refuse(Refusal::AccessDenied);
    on(0.02).garbage();
    on(0.03).hang();
    on(0.03).hang_after_effect();
    on(0.1).delay(u32::from(random.u8(1..)) * 20 * MILLIS);
    on(0.1).delay_response(u32::from(random.u8(1..)) * 20 * MILLIS);
    let places = |random: &mut fastrand::Rng| {
        let count = random.usize(1..4);
        (0..count).map(|_| random.usize(0..10)).collect::<Vec<_>>()
    };
    on(0.08).fail_entries(places(random), "InternalError", false);
    on(0.03).fail_entries(places(random), "InvalidMessageContents", true);
    on(0.08).omit_entries(places(random));
}

struct History {
    sqs: LocalSqs,
    queue: &'static str,
    random: fastrand::Rng,
}

impl History {
    fn begin(seed: u64, fifo: bool) -> Self {
        fastrand::seed(seed);
        seed_ids(Some(seed));
        let mut random = fastrand::Rng::with_seed(seed);
        let created = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let sqs = LocalSqs::builder().seed(seed).created_at(created).build();
        let queue = if fifo { "orders.fifo" } else { "orders" };
        sqs.create_queue(queue);
        plan_faults(&sqs, &mut random);
        Self { sqs, queue, random }
    }

    fn publisher(&self) -> SqsPublisher {
        let builder = SqsPublisher::builder(self.sqs.client(), self.sqs.queue_url(self.queue));
        builder.send_timeout(SEND_TIMEOUT).build().unwrap()
    }

    fn order(&mut self, order_id: u64) -> OrderCreated {
        OrderCreated {
            customer: Some(format!("g{}", self.random.u32(0..4))),
            order_id,
        }
    }

    /// Publishes everything in batches of random lengths, some of them once more.
    async fn batches(&mut self) -> BTreeMap<u64, Fate> {
        let publisher = self.publisher();
        let mut fates = BTreeMap::new();
        let mut next = 0;
        while next < MESSAGES {
            let upto = (next + self.random.u64(1..40)).min(MESSAGES);
            let orders: Vec<_> = (next..upto).map(|id| self.order(id)).collect();
            let concurrency = self.random.usize(1..4);
            let batch = publisher.publish_batch(&orders).concurrency(concurrency);
            let mut result = batch.await;
            // A FIFO group that goes on after a gap is out of order by its caller's wish.
            if self.queue == "orders" && self.random.bool() {
                result = match result {
                    Err(error) => error.retry().await,
                    sent => sent,
                };
            }
            let results = match result {
                Ok(sent) => sent.into_iter().map(Ok).collect(),
                Err(error) => error.into_results(),
            };
            assert_eq!(results.len(), orders.len());
            fates.extend((next..upto).zip(results));
            next = upto;
        }
        fates
    }

    /// Publishes everything one by one, from tasks that share a buffer. Some callers go away.
    async fn buffered(&mut self) -> BTreeMap<u64, Fate> {
        let builder = BufferedPublisher::builder(self.publisher());
        let builder = builder
            .capacity(self.random.usize(10..80))
            .concurrency(self.random.usize(1..5))
            .linger(self.random.u32(0..50) * MILLIS);
        let publisher = builder.build().unwrap();
        let mut tasks = JoinSet::new();
        for id in 0..MESSAGES {
            let (order, shared) = (self.order(id), publisher.clone());
            let patience = match self.random.u32(0..10) {
                0 => self.random.u32(0..100) * MILLIS,
                _ => 1000 * SEND_TIMEOUT,
            };
            tasks.spawn(async move {
                let publish = order.publish(&shared).into_future();
                (id, timeout(patience, publish).await)
            });
            if self.random.u32(0..4) == 0 {
                sleep(self.random.u32(0..30) * MILLIS).await;
            }
            if self.random.u32(0..20) == 0 {
                let begun = Instant::now();
                let _ = publisher.flush().await;
                assert!(
                    begun.elapsed() <= SEND_TIMEOUT + MILLIS,
                    "a flush ends in time"
                );
            }
        }
        let begun = Instant::now();
        let _ = match self.random.bool() {
            true => publisher.close().await,
            false => {
                publisher
                    .close_within(self.random.u32(0..3000) * MILLIS)
                    .await
            }
        };
        assert!(
            begun.elapsed() <= SEND_TIMEOUT + MILLIS,
            "a close ends in time"
        );
        let results = tasks.join_all().await.into_iter();
        results
            .filter_map(|(id, result)| Some((id, result.ok()?)))
            .collect()
    }

    /// Publishes everything one after the other by calls of their own.
    async fn singles(&mut self) -> BTreeMap<u64, Fate> {
        let publisher = self.publisher();
        let mut fates = BTreeMap::new();
        for id in 0..MESSAGES / 3 {
            let begun = Instant::now();
            fates.insert(id, self.order(id).publish(&publisher).await);
            assert!(begun.elapsed() <= SEND_TIMEOUT + MILLIS);
        }
        fates
    }

    /// Compares what was reported with what is there. `ordered`: the order in which messages were
    /// given is that of their ids.
    fn check(&self, fates: &BTreeMap<u64, Fate>, ordered: bool) {
        let fifo = self.queue == "orders.fifo";
        let mut queue = self.sqs.snapshot(self.queue).visible;
        let mut copies: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        queue.sort_by_key(|message| message.sequence_number.clone());
        for (place, message) in queue.iter().enumerate() {
            copies
                .entry(order_id(&message.body))
                .or_default()
                .push(place);
        }
        for (id, fate) in fates {
            let copies = copies.get(id).map(Vec::as_slice).unwrap_or_default();
            match fate {
                Ok(sent) => {
                    let reported = |place: &&usize| {
                        let message = &queue[**place];
                        Some(&message.message_id) == sent.sqs_message_id.as_ref()
                            && message.sequence_number == sent.sequence_number
                            && message.body.contains(&sent.message_id)
                    };
                    let found = copies.iter().filter(reported).count();
                    assert_eq!(found, 1, "{id} was reported as sent");
                }
                Err(error) if error.is_refused() => {
                    assert!(copies.is_empty(), "{id} was refused: {error:?}");
                }
                Err(_) => {}
            }
            // Every copy is the very same message.
            let bodies: BTreeSet<_> = copies.iter().map(|place| &queue[*place].body).collect();
            assert!(bodies.len() <= 1, "{id} has two identities");
            assert!(!fifo || copies.len() <= 1, "{id} is there twice");
        }
        if fifo && ordered {
            let mut groups: BTreeMap<_, Vec<u64>> = BTreeMap::new();
            for message in &queue {
                let ids = groups.entry(&message.group_id).or_default();
                ids.push(order_id(&message.body));
            }
            for (group, ids) in groups {
                assert!(ids.is_sorted(), "group {group:?}: {ids:?}");
            }
        }
    }
}

/// Runs the histories of all seeds on a runtime of their own each. One that fails is named.
fn replay<F: Future<Output = ()>>(kind: &str, history: impl Fn(u64) -> F) {
    let number = |name| {
        let text = std::env::var(name).ok();
        text.map(|text| text.parse::<u64>().unwrap())
    };
    let seeds = match number("CHAOS_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("CHAOS_SEEDS").unwrap_or(SEEDS),
    };
    for seed in seeds {
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

#[test]
fn batches_are_reported_as_they_are() {
    replay("batches", async |seed| {
        let mut history = History::begin(seed, seed % 2 == 0);
        let fates = history.batches().await;
        assert_eq!(fates.len() as u64, MESSAGES);
        history.check(&fates, true);
    });
}

#[test]
fn buffered_publishes_are_reported_as_they_are() {
    replay("buffered", async |seed| {
        let mut history = History::begin(seed, seed % 2 == 0);
        let fates = history.buffered().await;
        // Callers that wait for room side by side have no order.
        history.check(&fates, false);
    });
}

#[test]
fn single_publishes_are_reported_as_they_are() {
    replay("single", async |seed| {
        let mut history = History::begin(seed, seed % 2 == 0);
        let fates = history.singles().await;
        history.check(&fates, false);
    });
}

#[test]
fn a_history_is_the_same_every_time() {
    let told = |seed| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut history = History::begin(seed, true);
            let fates = history.buffered().await;
            let calls = history.sqs.calls();
            let calls = calls.iter().map(|call| (call.at, call.outcome.clone()));
            (format!("{fates:?}"), calls.collect::<Vec<_>>())
        })
    };
    assert_eq!(told(5), told(5));
}
