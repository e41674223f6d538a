//! The loop of a consumer. One task owns everything that is in flight, so that nothing is locked
//! and nothing can leak: it starts polls and handlers, and performs their settlements. What it
//! decides by is in the small files beside it.

mod arrivals;
mod calls;
mod claims;
mod deletes;
mod flights;
mod heartbeat;
mod lanes;
mod payloads;
mod permits;
mod polls;
mod pools;
mod releases;
mod settling;
mod stop;
mod tasks;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until};

use self::arrivals::Arrivals;
use self::calls::{Call, Done, Received};
use self::deletes::Deletes;
use self::flights::Flights;
use self::heartbeat::Heartbeat;
use self::lanes::Lanes;
use self::permits::Permits;
use self::polls::Polls;
use self::pools::Pools;
use self::releases::Release;
use self::stop::Stopping;
pub(super) use self::stop::{Signal, Stop};
use self::tasks::Tasks;
use super::error::RunError;
use super::facts::{self, DeadLetterFacts};
use super::handle::{Phase, Wish};
use super::shared::Shared;
use super::worker::PollSummary;
use crate::BoxFuture;
use crate::fields;

/// One run of a consumer.
pub(super) struct Driver {
    shared: Arc<Shared>,
    flights: Flights,
    arrivals: Arrivals,
    pools: Pools,
    lanes: Lanes,
    polls: Polls,
    deletes: Deletes,
    releases: Vec<Release>,
    heartbeat: Heartbeat,
    stopping: Option<Stopping>,
    paused: bool,
    permits: Permits,
    /// The running handlers.
    tasks: Tasks,
    /// The open long polls, apart from the other calls because a stop cancels them.
    receives: FuturesUnordered<Call<Received>>,
    calls: FuturesUnordered<Call<Done>>,
    /// Objects being deleted, of messages that are gone.
    discards: FuturesUnordered<BoxFuture<'static, ()>>,
    /// Why the run ends by itself.
    fatal: Option<RunError>,
    tally: PollSummary,
}

impl Driver {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let config = &shared.config;
        Self {
            flights: Flights::default(),
            arrivals: Arrivals::default(),
            pools: Pools::default(),
            lanes: Lanes::default(),
            polls: Polls::new(config.max_in_flight, config.batch_size),
            deletes: Deletes::default(),
            releases: Vec::new(),
            heartbeat: Heartbeat::new(config, shared.facts.get()),
            stopping: None,
            paused: false,
            permits: Permits::default(),
            tasks: Tasks::default(),
            receives: FuturesUnordered::new(),
            calls: FuturesUnordered::new(),
            discards: FuturesUnordered::new(),
            fatal: None,
            tally: PollSummary::default(),
            shared,
        }
    }

    /// Shares places for handlers with other consumers.
    pub(super) fn sharing(mut self, places: Option<Arc<Semaphore>>) -> Self {
        if let Some(places) = places {
            self.permits = Permits::of(places);
        }
        self
    }

    /// Runs until told to stop and everything is settled.
    pub(super) async fn run<F>(mut self, stop: Stop<F>) -> Result<(), RunError>
    where
        F: Future<Output = Option<BoxFuture<'static, ()>>>,
    {
        self.shared.control.enter(Phase::Running);
        self.drive(stop).await;
        self.shared.control.enter(Phase::Ended);
        tracing::info!({ fields::QUEUE } = self.shared.queue(), "consumer stopped");
        self.fatal.take().map_or(Ok(()), Err)
    }

    /// Makes one receive and settles what it brings.
    pub(super) async fn run_once(mut self) -> Result<PollSummary, RunError> {
        self.polls.allow_one();
        self.drive(Stop::by(std::future::pending())).await;
        self.fatal.take().map_or(Ok(self.tally), Err)
    }

    async fn drive<F>(&mut self, mut stop: Stop<F>)
    where
        F: Future<Output = Option<BoxFuture<'static, ()>>>,
    {
        let shared = Arc::clone(&self.shared);
        let mut wishes = shared.control.wishes();
        let wish = *wishes.borrow_and_update();
        self.heed(wish);
        self.read_facts();
        // One timer for the whole run: to register a new one each time costs a lock.
        let mut timer = std::pin::pin!(sleep_until(Instant::now()));
        loop {
            let now = Instant::now();
            self.advance(now);
            if self.is_finished() {
                break;
            }
            let wake = self.next_wake();
            if let Some(at) = wake.filter(|at| *at != timer.deadline()) {
                timer.as_mut().reset(at);
            }
            tokio::select! {
                biased;
                signal = stop.next() => self.on_signal(signal),
                Ok(()) = wishes.changed() => {
                    let wish = *wishes.borrow_and_update();
                    self.heed(wish);
                }
                ended = self.tasks.ended() => {
                    ended.into_iter().for_each(|(keys, ended)| self.on_task(keys, ended));
                    // A runtime with threads comes here right after each handler: those that are
                    // ready to end go first, and are settled in one go.
                    tokio::task::yield_now().await;
                }
                Some(done) = self.calls.next() => done.into_iter().for_each(|done| self.on_done(done)),
                Some(received) = self.receives.next() => {
                    received.into_iter().for_each(|received| self.on_received(received));
                }
                Some(()) = self.discards.next() => {}
                () = self.permits.ready() => {}
                () = &mut timer, if wake.is_some() => {}
            }
            // What else has ended by now is settled in the same batches.
            for (keys, ended) in self.tasks.take_ended() {
                self.on_task(keys, ended);
            }
        }
        self.shared.control.gauge(0, 0, None);
    }

    /// Does everything that is due.
    fn advance(&mut self, now: Instant) {
        self.stop_in_stages(now);
        self.start_handlers(now);
        self.start_batches(now);
        self.flush_deletes(now);
        self.flush_releases(now);
        self.beat(now);
        self.start_receives(now);
        let (in_flight, running) = (self.flights.len(), self.tasks.len());
        let control = &self.shared.control;
        control.gauge(in_flight, running, self.flights.oldest());
    }

    /// When something becomes due by itself.
    fn next_wake(&self) -> Option<Instant> {
        let stopping = self.stopping.as_ref().and_then(Stopping::next_deadline);
        // A batch that is due waits for a free place, and not for the time.
        let pools = self.pools.next_wake().filter(|due| *due > Instant::now());
        let polls = self.may_receive().then(|| self.polls.next_wake()).flatten();
        [
            stopping,
            polls,
            pools,
            self.deletes.next_wake(),
            self.heartbeat.next_wake(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn is_finished(&self) -> bool {
        let over = self.stopping.is_some() || self.polls.is_exhausted();
        let settled = self.flights.is_empty() && self.discards.is_empty();
        over && settled && self.receives.is_empty()
    }

    fn heed(&mut self, wish: Wish) {
        self.paused = wish.paused;
        if wish.stop {
            self.begin_stop();
        }
    }

    /// Reads the queue's attributes, once for all runs of the consumer.
    fn read_facts(&mut self) {
        if self.shared.facts.initialized() || !facts::are_needed(&self.shared.config) {
            return;
        }
        let shared = Arc::clone(&self.shared);
        self.calls.push(Call::start(async move {
            let calls = facts::calls(&shared.config);
            let count = || shared.counters().other_calls.add(calls);
            Done::Facts(facts::read(&shared.clients.settle, &shared.config, count).await)
        }));
    }

    fn on_facts(&mut self, facts: Result<Option<facts::QueueFacts>, RunError>) {
        match facts {
            Ok(Some(facts)) => {
                if self.shared.config.startup_checks {
                    for misfit in facts::misfits(&self.shared.config, &facts) {
                        tracing::warn!({ fields::QUEUE } = self.shared.queue(), "{misfit}");
                    }
                }
                if let (Some(target), DeadLetterFacts::Takes(bytes)) =
                    (&self.shared.pipeline.dead_letters, facts.dead_letter_queue)
                {
                    target.max_bytes.fetch_min(bytes, Ordering::Relaxed);
                }
                self.heartbeat = Heartbeat::new(&self.shared.config, Some(&facts));
                self.heartbeat.adopt(&mut self.flights);
                self.renew_running_claims();
                // Another run of the same consumer may have been first; both read the same.
                let _ = self.shared.facts.set(facts);
            }
            Ok(None) => {}
            Err(error) => self.fail(error),
        }
    }

    /// Ends the run, unless the queue has been there before.
    fn fail(&mut self, error: RunError) {
        if self.polls.has_succeeded() {
            tracing::error!({ fields::QUEUE } = self.shared.queue(), { fields::ERROR } = %error, "queue lost");
            return;
        }
        self.fatal.get_or_insert(error);
        self.begin_stop();
    }
}
