//! Stopping, in stages (SPEC §2.17): no new receives; a short linger for answers on their way; a
//! grace period for running handlers; then their end.

use std::future::Future;
use std::pin::Pin;

use tokio::time::Instant;

use super::Driver;
use super::calls::Call;
use super::flights::{self, Key};
use crate::BoxFuture;
use crate::fields;
use crate::policy::WireDelay;
use crate::sqs::consumer::handle::Phase;

/// The signals that a run listens to: one that stops, and perhaps a second one that forces.
pub(in crate::sqs::consumer) struct Stop<F> {
    stage: Stage<F>,
}

enum Stage<F> {
    First(Pin<Box<F>>),
    Second(BoxFuture<'static, ()>),
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sqs::consumer) enum Signal {
    Stop,
    Force,
}

impl<F> Stop<F>
where
    F: Future<Output = Option<BoxFuture<'static, ()>>>,
{
    /// `signal` ends with the wait for the second signal, if there is one.
    pub(in crate::sqs::consumer) fn by(signal: F) -> Self {
        Self {
            stage: Stage::First(Box::pin(signal)),
        }
    }

    /// Waits for the next signal; for ever when there is none. Cancel-safe.
    pub(in crate::sqs::consumer) async fn next(&mut self) -> Signal {
        match &mut self.stage {
            Stage::First(signal) => {
                let second = signal.as_mut().await;
                self.stage = second.map_or(Stage::Over, Stage::Second);
                Signal::Stop
            }
            Stage::Second(signal) => {
                signal.as_mut().await;
                self.stage = Stage::Over;
                Signal::Force
            }
            Stage::Over => std::future::pending().await,
        }
    }
}

/// A stop under way; the deadlines are `None` once they have passed.
#[derive(Debug)]
pub(super) struct Stopping {
    linger_until: Option<Instant>,
    grace_until: Option<Instant>,
    /// Messages that go back once the polls are gone, which would receive them again.
    held: Vec<Key>,
}

impl Stopping {
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.linger_until.into_iter().chain(self.grace_until).min()
    }
}

impl Driver {
    pub(super) fn on_signal(&mut self, signal: Signal) {
        self.begin_stop();
        if signal == Signal::Force
            && let Some(stopping) = &mut self.stopping
        {
            tracing::warn!({ fields::QUEUE } = self.shared.queue(), "forced to stop");
            let now = Instant::now();
            stopping.linger_until = stopping.linger_until.map(|_| now);
            stopping.grace_until = stopping.grace_until.map(|_| now);
        }
    }

    /// No new receives, and what no handler has begun with goes back.
    pub(super) fn begin_stop(&mut self) {
        if self.stopping.is_some() {
            return;
        }
        let now = Instant::now();
        let config = &self.shared.config;
        self.stopping = Some(Stopping {
            linger_until: Some(now + config.shutdown_linger),
            grace_until: Some(now + config.shutdown_timeout),
            held: Vec::new(),
        });
        self.shared.control.enter(Phase::Stopping);
        let running = self.tasks.len();
        tracing::info!(
            { fields::QUEUE } = self.shared.queue(),
            { fields::RUNNING } = running,
            "consumer stopping"
        );
        self.arrivals.clear();
        self.pools.clear();
        self.lanes.clear();
        let waiting = self.flights.waiting();
        self.give_back(waiting);
    }

    /// Performs what of the stop is due.
    pub(super) fn stop_in_stages(&mut self, now: Instant) {
        let Some(stopping) = &mut self.stopping else {
            return;
        };
        if stopping.linger_until.is_some_and(|until| until <= now) {
            stopping.linger_until = None;
            // Side by side. What has an answer already still brings it.
            self.receives.iter().for_each(Call::cancel);
        }
        if stopping.grace_until.is_some_and(|until| until <= now) {
            stopping.grace_until = None;
            if !self.tasks.is_empty() {
                let running = self.tasks.len();
                tracing::warn!(
                    { fields::QUEUE } = self.shared.queue(),
                    { fields::RUNNING } = running,
                    "handlers are cancelled"
                );
            }
            self.tasks.abort_all();
        }
        if let Some(stopping) = &mut self.stopping
            && self.receives.is_empty()
        {
            self.polls.dropped();
            let held = std::mem::take(&mut stopping.held);
            self.release_in_order(held, WireDelay::ZERO);
        }
    }

    /// Whether polls are still open after the stop: they would receive what is released.
    pub(super) fn is_lingering(&self) -> bool {
        self.stopping.is_some() && !self.receives.is_empty()
    }

    /// Makes messages visible again, unhandled: as soon as no poll of this consumer is left that
    /// would only receive them again.
    pub(super) fn give_back(&mut self, keys: Vec<Key>) {
        let Some(stopping) = &mut self.stopping else {
            return self.release_in_order(keys, WireDelay::ZERO);
        };
        for key in &keys {
            if let Some(flight) = self.flights.get_mut(*key) {
                flight.stage = flights::Stage::Settling;
            }
        }
        stopping.held.extend(keys);
    }
}
