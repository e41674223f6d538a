//! Random histories with everything in them: a publisher, several consumers that stop and crash,
//! an SQS and a store that fail. Checks what the idempotency guard promises (SPEC §3.1): each
//! message has its effect once, and exceeds that by at most the crashes, lost leases and store
//! failures that it met. Replayed by the seed, as in `chaos`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use babelqueue::idempotency::{Idempotency, MemoryStore};
use babelqueue::prelude::*;
use babelqueue::{Handle, RunError};
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::chaos::{plan_faults, replay};
use crate::shaky::Shaky;
use crate::support::{Bench, SECOND};

const MESSAGES: u64 = 24;
const MAX_IN_FLIGHT: usize = 9;

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:test:effect"]
struct Effect {
    #[babel(group_id)]
    group: String,
    seq: u64,
    /// One per attempt, the last one repeated.
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Step {
    /// Milliseconds before the effect, and between it and the return.
    before: u64,
    after: u64,
    end: End,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
enum End {
    Effect,
    Fail,
    Panic,
    Permanent,
    Discard,
}

#[derive(Default)]
pub struct Books {
    /// How often each message had its effect.
    effects: BTreeMap<String, u32>,
    /// What befell it: crashes and cancelled handlers, lost leases, failures of the store.
    blows: BTreeMap<String, u32>,
    discarded: BTreeSet<String>,
    /// The first effects, in the order of their time: group and number.
    order: Vec<(String, u64)>,
    running: usize,
}

#[derive(Clone, Default)]
pub struct World(Arc<Mutex<Books>>);

impl World {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.0.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    fn effect(&self, id: &str, work: &Effect) {
        let mut books = self.books();
        let count = books.effects.entry(id.to_owned()).or_default();
        *count += 1;
        if *count == 1 {
            books.order.push((work.group.clone(), work.seq));
        }
    }

    pub fn blow(&self, id: &str) {
        *self.books().blows.entry(id.to_owned()).or_default() += 1;
    }
}

/// A run of a handler, or a call of the store; a blow when it is cut off in the middle.
pub struct Whole<'a> {
    world: &'a World,
    id: &'a str,
    handler: bool,
    pub ended: bool,
}

impl<'a> Whole<'a> {
    pub fn begin(world: &'a World, id: &'a str, handler: bool) -> Self {
        world.books().running += usize::from(handler);
        Self {
            world,
            id,
            handler,
            ended: false,
        }
    }
}

impl Drop for Whole<'_> {
    fn drop(&mut self) {
        self.world.books().running -= usize::from(self.handler);
        if !self.ended {
            self.world.blow(self.id);
        }
    }
}

#[babel_handler]
async fn effect(
    work: Effect,
    ctx: &Context,
    Attempts(attempt): Attempts,
    State(world): State<World>,
) -> Result<Outcome, HandlerError> {
    let id = ctx.meta().id().unwrap();
    let mut whole = Whole::begin(&world, id, true);
    let last = work.steps.len() - 1;
    let step = work.steps[(attempt as usize).min(last)];
    sleep(Duration::from_millis(step.before)).await;
    if step.end == End::Effect {
        world.effect(id, &work);
        sleep(Duration::from_millis(step.after)).await;
    }
    whole.ended = !ctx.lease().is_lost();
    match step.end {
        End::Effect => Ok(Outcome::Done),
        End::Fail => Err(HandlerError::new("failed")),
        End::Panic => panic!("panicked"),
        End::Permanent => Err(HandlerError::permanent("never")),
        End::Discard => {
            world.books().discarded.insert(id.to_owned());
            Ok(Outcome::Discard)
        }
    }
}

fn steps(random: &mut fastrand::Rng) -> Vec<Step> {
    let ends = [
        End::Effect,
        End::Effect,
        End::Effect,
        End::Fail,
        End::Panic,
        End::Permanent,
        End::Discard,
    ];
    let pauses = [0, 0, 20, 700, 2500, 40_000];
    let mut steps = Vec::new();
    for i in (0..=random.usize(..3)).rev() {
        let end = if i == 0 {
            End::Effect
        } else {
            ends[random.usize(..ends.len())]
        };
        steps.push(Step {
            before: pauses[random.usize(..pauses.len())],
            after: pauses[random.usize(..pauses.len())],
            end,
        });
    }
    steps
}

/// One consumer that is running, and how to end it.
struct Slot {
    handle: Handle,
    run: JoinHandle<Result<(), RunError>>,
}

struct History {
    bench: Bench,
    world: World,
    guard: Idempotency,
    random: fastrand::Rng,
}

impl History {
    fn start(&mut self) -> Slot {
        let router = Router::from_handlers![effect];
        let mut builder = SqsConsumer::builder(self.bench.sqs.client(), &self.bench.url, router)
            .state(self.world.clone())
            .idempotency(self.guard.clone())
            .concurrency(4)
            .max_in_flight(MAX_IN_FLIGHT)
            .retry(
                Backoff::exponential(SECOND)
                    .max(30 * SECOND)
                    .jitter(Jitter::Full),
            )
            .max_attempts(8)
            .dead_letter_queue(DeadLetterQueue::default_name())
            .shutdown_timeout(5 * SECOND);
        if self.random.bool() {
            builder = builder.visibility_timeout(20 * SECOND);
        }
        let consumer = builder.build().unwrap();
        Slot {
            handle: consumer.handle(),
            run: tokio::spawn(consumer.run()),
        }
    }

    /// A consumer ends: as a process that is killed does, or as it should.
    async fn end(&mut self, slot: Slot) {
        if self.random.bool() {
            slot.run.abort();
            let _ = slot.run.await;
        } else {
            slot.handle.stop();
            slot.run.await.unwrap().unwrap();
        }
    }

    async fn run(mut self, fifo: bool) {
        let published = tokio::spawn(publish(self.bench.sqs.client(), self.bench.url.clone(), {
            let seed = self.random.u64(..);
            fastrand::Rng::with_seed(seed)
        }));
        let mut slots = vec![self.start(), self.start(), self.start()];
        for _ in 0..8 {
            sleep(Duration::from_millis(self.random.u64(500..30_000))).await;
            for slot in &slots {
                let in_flight = slot.handle.stats().in_flight;
                assert!(in_flight <= MAX_IN_FLIGHT, "{in_flight} in flight");
            }
            let number = self.random.usize(..slots.len());
            let slot = slots.swap_remove(number);
            self.end(slot).await;
            slots.push(self.start());
        }
        for slot in slots {
            self.end(slot).await;
        }
        assert_eq!(
            self.world.books().running,
            0,
            "no handler runs after the end"
        );
        let effects = self.world.books().effects.clone();
        sleep(100 * SECOND).await;
        assert_eq!(effects, self.world.books().effects, "nor has an effect");

        self.bench.sqs.faults().clear();
        let published = published.await.unwrap();
        let last = self.start();
        let settled = self.bench.sqs.wait_until_empty(&self.bench.queue);
        let _ = tokio::time::timeout(1500 * SECOND, settled).await;
        last.handle.stop();
        last.run.await.unwrap().unwrap();
        self.check(&published, fifo);
    }

    fn check(&self, published: &[String], fifo: bool) {
        assert!(
            self.bench.left().is_empty(),
            "everything is settled in the end"
        );
        let books = self.world.books();
        let dead: BTreeSet<String> = self
            .bench
            .dead_json()
            .iter()
            .map(|body| body["meta"]["id"].as_str().unwrap().to_owned())
            .collect();
        for id in published {
            let ended = books.effects.contains_key(id) || books.discarded.contains(id);
            assert!(ended || dead.contains(id), "{id} is lost");
        }
        for (id, count) in &books.effects {
            let blows = books.blows.get(id).copied().unwrap_or_default();
            assert!(
                *count <= 1 + blows,
                "{id} had {count} effects and met {blows} blows"
            );
        }
        if fifo {
            let mut groups: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
            for (group, seq) in &books.order {
                groups.entry(group).or_default().push(*seq);
            }
            for (group, order) in groups {
                assert!(order.is_sorted(), "group {group}: {order:?}");
            }
        }
    }
}

/// Publishes over a while, and returns the ids of those that SQS has taken for sure.
async fn publish(
    client: aws_sdk_sqs::Client,
    url: String,
    mut random: fastrand::Rng,
) -> Vec<String> {
    let publisher = SqsPublisher::new(client, url);
    let mut sent = Vec::new();
    for seq in 0..MESSAGES {
        let message = Effect {
            group: format!("g{}", random.u32(..4)),
            seq,
            steps: steps(&mut random),
        };
        match message.publish(&publisher).await {
            Ok(published) => sent.push(published.message_id),
            // It may be on the queue, or not.
            Err(_) => sleep(SECOND).await,
        }
        if random.u32(..3) == 0 {
            sleep(Duration::from_millis(random.u64(..3000))).await;
        }
    }
    sent
}

async fn history(seed: u64, fifo: bool) {
    let mut random = fastrand::Rng::with_seed(seed);
    fastrand::seed(seed);
    babelqueue::envelope::seed_ids(Some(seed));
    let bench = if fifo { Bench::fifo() } else { Bench::new() };
    let calm = random.u32(..4) == 0;
    if !calm {
        plan_faults(&bench.sqs, !fifo);
    }
    let world = World::default();
    let store = Shaky {
        store: MemoryStore::new(),
        world: world.clone(),
        random: Arc::new(Mutex::new(fastrand::Rng::with_seed(random.u64(..)))),
        failing: if random.bool() { 2 } else { 0 },
    };
    let history = History {
        bench,
        world,
        guard: Idempotency::claims(store),
        random,
    };
    history.run(fifo).await;
}

#[test]
fn effects_on_a_standard_queue() {
    replay("effects", |seed| history(seed, false));
}

#[test]
fn effects_on_a_fifo_queue() {
    replay("effects", |seed| history(seed, true));
}
