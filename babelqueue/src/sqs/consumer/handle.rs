//! A consumer seen from outside: stop, pause, resume, counters and health, at any time and from
//! any thread.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::pipeline::Counters;

/// Controls a consumer while it runs. Cheap to clone; take it before the run, which consumes the
/// consumer.
#[derive(Clone, Debug)]
pub struct Handle {
    control: Arc<Control>,
}

impl Handle {
    pub(super) fn new(control: Arc<Control>) -> Self {
        Self { control }
    }

    /// Stops the consumer as its signal would (SPEC §2.17). Idempotent, and honoured by a run that
    /// has not started yet.
    pub fn stop(&self) {
        self.control.change(|wish| wish.stop = true);
    }

    /// Starts no new receives until [`resume`](Self::resume). What an open long poll still brings
    /// is handled.
    pub fn pause(&self) {
        self.control.change(|wish| wish.paused = true);
    }

    /// Receives again.
    pub fn resume(&self) {
        self.control.change(|wish| wish.paused = false);
    }

    /// The counters so far.
    pub fn stats(&self) -> Stats {
        let counters = &self.control.counters;
        Stats {
            received: counters.received.get(),
            handled: counters.handled.get(),
            duplicates: counters.duplicates.get(),
            discarded: counters.discarded.get(),
            failed: counters.failed.get(),
            retried: counters.retried.get(),
            dead_lettered: counters.dead_lettered.get(),
            deleted: counters.deleted.get(),
            released: counters.released.get(),
            left: counters.left.get(),
            heartbeats: counters.heartbeats.get(),
            lost_leases: counters.lost_leases.get(),
            errors: counters.errors.get(),
            oldest_in_flight: self.control.oldest(),
            in_flight: self.control.in_flight.load(Ordering::Relaxed),
            running: self.control.running.load(Ordering::Relaxed),
            receive_calls: counters.receive_calls.get(),
            empty_receives: counters.empty_receives.get(),
            delete_calls: counters.delete_calls.get(),
            visibility_calls: counters.visibility_calls.get(),
            send_calls: counters.send_calls.get(),
            other_calls: counters.other_calls.get(),
        }
    }

    /// How the consumer is doing, for a health endpoint.
    pub fn health(&self) -> Health {
        let watched = self
            .control
            .watched
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let paused = self.control.wish.borrow().paused;
        Health {
            state: match watched.phase {
                Phase::Idle => HealthState::NotStarted,
                Phase::Running if watched.failures > 0 => HealthState::Stalled,
                Phase::Running if paused => HealthState::Paused,
                Phase::Running => HealthState::Polling,
                Phase::Stopping => HealthState::Stopping,
                Phase::Ended => HealthState::Stopped,
            },
            failed_receives: watched.failures,
            stalled_for: watched.stalled_since.map(|since| since.elapsed()),
            last_error: watched.last_error.clone(),
        }
    }
}

/// Counters of a consumer since it was built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Messages received, redeliveries included.
    pub received: u64,
    /// Messages whose handler succeeded.
    pub handled: u64,
    /// Messages that were not handled again (SPEC §3.1).
    pub duplicates: u64,
    /// Messages that a handler discarded.
    pub discarded: u64,
    /// Messages whose handler failed, panicked or timed out.
    pub failed: u64,
    /// Failed messages that were released for another try.
    pub retried: u64,
    /// Messages copied to the dead-letter queue.
    pub dead_lettered: u64,
    /// Messages deleted.
    pub deleted: u64,
    /// Messages made visible again, those of a stop and of a blocked group included.
    pub released: u64,
    /// Messages left to their visibility timeout.
    pub left: u64,
    /// Renewals of the visibility of messages in hand.
    pub heartbeats: u64,
    /// Messages that SQS may have given to somebody else while they were in hand.
    pub lost_leases: u64,
    /// Errors reported.
    pub errors: u64,
    /// Messages received and not settled, now.
    pub in_flight: usize,
    /// For how long the oldest of them has been in hand, now; `None` when there is none.
    pub oldest_in_flight: Option<Duration>,
    /// Handlers running, now.
    pub running: usize,
    /// `ReceiveMessage` calls.
    pub receive_calls: u64,
    /// Those of them that brought nothing.
    pub empty_receives: u64,
    /// Delete calls.
    pub delete_calls: u64,
    /// Visibility calls.
    pub visibility_calls: u64,
    /// Sends to the dead-letter queue.
    pub send_calls: u64,
    /// Other calls: reading the queue's attributes.
    pub other_calls: u64,
}

/// How a consumer is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// What it does.
    pub state: HealthState,
    /// Receives that failed in a row.
    pub failed_receives: u32,
    /// For how long no receive has succeeded.
    pub stalled_for: Option<Duration>,
    /// The last receive's error, until one succeeds.
    pub last_error: Option<String>,
}

/// What a consumer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HealthState {
    /// Not run yet.
    NotStarted,
    /// Receiving.
    Polling,
    /// Running, and its receives fail.
    Stalled,
    /// Paused by its handle.
    Paused,
    /// Draining.
    Stopping,
    /// Ended.
    Stopped,
}

/// What the handle asks of the run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wish {
    pub(super) stop: bool,
    pub(super) paused: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    #[default]
    Idle,
    Running,
    Stopping,
    Ended,
}

#[derive(Debug, Default)]
struct Watched {
    phase: Phase,
    failures: u32,
    stalled_since: Option<Instant>,
    last_error: Option<String>,
}

/// The meeting point of handle and run.
#[derive(Debug)]
pub(super) struct Control {
    counters: Arc<Counters>,
    wish: watch::Sender<Wish>,
    watched: Mutex<Watched>,
    in_flight: AtomicUsize,
    running: AtomicUsize,
    born: Instant,
    /// When the oldest message in flight was received: microseconds after `born`, and 1; or 0.
    oldest: AtomicU64,
}

impl Control {
    pub(super) fn new(counters: Arc<Counters>) -> Self {
        Self {
            counters,
            wish: watch::Sender::default(),
            watched: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            running: AtomicUsize::new(0),
            born: Instant::now(),
            oldest: AtomicU64::new(0),
        }
    }

    pub(super) fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(super) fn wishes(&self) -> watch::Receiver<Wish> {
        self.wish.subscribe()
    }

    fn change(&self, change: impl FnOnce(&mut Wish)) {
        self.wish.send_modify(change);
    }

    pub(super) fn enter(&self, phase: Phase) {
        self.watch(|watched| watched.phase = phase);
    }

    pub(super) fn receive_succeeded(&self) {
        self.watch(|watched| {
            watched.failures = 0;
            watched.stalled_since = None;
            watched.last_error = None;
        });
    }

    pub(super) fn receive_failed(&self, error: String) {
        self.watch(|watched| {
            watched.failures = watched.failures.saturating_add(1);
            watched.stalled_since.get_or_insert_with(Instant::now);
            watched.last_error = Some(error);
        });
    }

    pub(super) fn gauge(&self, in_flight: usize, running: usize, oldest: Option<Instant>) {
        self.in_flight.store(in_flight, Ordering::Relaxed);
        self.running.store(running, Ordering::Relaxed);
        let micros = |at: Instant| at.saturating_duration_since(self.born).as_micros();
        let oldest = oldest.and_then(|at| u64::try_from(micros(at) + 1).ok());
        self.oldest.store(oldest.unwrap_or(0), Ordering::Relaxed);
    }

    fn oldest(&self) -> Option<Duration> {
        let micros = self.oldest.load(Ordering::Relaxed).checked_sub(1)?;
        let received_at = self.born + Duration::from_micros(micros);
        Some(received_at.elapsed())
    }

    fn watch(&self, change: impl FnOnce(&mut Watched)) {
        change(&mut self.watched.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
