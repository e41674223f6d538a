//! From an answered poll to running handlers.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::Driver;
use super::calls::{self, Arrival, Call, ReceiveError, Received};
use super::flights::{Flight, Key, Stage};
use super::permits::Permit;
use super::pools::Pools;
use super::tasks::{Ended, Keys};
use crate::fields;
use crate::pipeline::Subject;
use crate::policy::ReportKind;
use crate::sqs::consumer::error::RunError;

/// Messages that may start as soon as there is a free handler, in the order of receipt.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    ready: VecDeque<Key>,
}

impl Arrivals {
    pub(super) fn push(&mut self, key: Key) {
        self.ready.push_back(key);
    }

    pub(super) fn clear(&mut self) {
        self.ready.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    fn pop(&mut self) -> Option<Key> {
        self.ready.pop_front()
    }
}

impl Driver {
    pub(super) fn may_receive(&self) -> bool {
        let bytes = self.shared.config.max_in_flight_bytes;
        let full = bytes.is_some_and(|most| self.flights.bytes() + self.fetched_bytes() >= most);
        self.stopping.is_none() && !self.paused && !full
    }

    pub(super) fn start_receives(&mut self, now: Instant) {
        if !self.may_receive() {
            return;
        }
        // Of a failing group the messages behind its head would lose a receive each time.
        let single = self.lanes.has_episode(now);
        while let Some(asked) = self.polls.begin(self.flights.len(), single, now) {
            self.shared.counters().receive_calls.one();
            let wait = self.wait_seconds(asked);
            let call = calls::receive(Arc::clone(&self.shared), asked, wait);
            self.receives.push(Call::start(call));
        }
    }

    /// How long a poll waits. On a busy FIFO queue polls for several messages are short: the
    /// release of a failed head waits for their end, because they would take the messages behind
    /// it along (see [`flush_releases`](Self::flush_releases)).
    fn wait_seconds(&self, asked: usize) -> i32 {
        let config = &self.shared.config;
        let busy = !self.flights.is_empty() || self.polls.open() > 1;
        if config.fifo && asked > 1 && busy {
            config.wait_seconds.min(1)
        } else {
            config.wait_seconds
        }
    }

    pub(super) fn on_received(&mut self, received: Received) {
        let now = Instant::now();
        let Received { asked, result } = received;
        match result {
            Ok(messages) => {
                self.polls.answered(asked, messages.len());
                self.shared.control.receive_succeeded();
                if messages.is_empty() {
                    self.shared.counters().empty_receives.one();
                }
                self.shared.counters().received.add(messages.len());
                self.tally.received += messages.len();
                let keys: Vec<_> = messages
                    .into_iter()
                    .map(|arrival| self.enter(arrival, now))
                    .collect();
                if self.stopping.is_some() {
                    self.give_back(keys);
                } else {
                    keys.into_iter().for_each(|key| self.line_up(key));
                }
            }
            Err(error) => {
                self.polls.failed(asked, now, fastrand::f64());
                self.on_receive_error(error);
            }
        }
    }

    fn on_receive_error(&mut self, error: ReceiveError) {
        let ReceiveError {
            queue_is_missing,
            source,
        } = error;
        let text = crate::pipeline::error_text(&*source);
        self.shared.control.receive_failed(text);
        let reporter = &self.shared.pipeline.reporter;
        reporter.report(ReportKind::Receive, Subject::default(), &*source);
        if queue_is_missing && !self.polls.has_succeeded() {
            let queue_url = self.shared.config.queue_url.clone();
            self.fail(RunError::QueueDoesNotExist { queue_url, source });
        } else if self.polls.is_exhausted() {
            let queue = self.shared.queue().to_owned();
            self.fatal
                .get_or_insert(RunError::Receive { queue, source });
        }
    }

    /// Enters a message into the books.
    fn enter(&mut self, arrival: Arrival, now: Instant) -> Key {
        let Arrival {
            receipt_handle,
            record,
        } = arrival;
        let group = record
            .group_id
            .as_deref()
            .filter(|_| self.shared.config.fifo);
        let flight = Flight {
            delivery: record.delivery,
            message_id: record.message_id.clone(),
            receipt_handle,
            receives: record.receives(),
            group: group.map(Into::into),
            received_at: now,
            lease: None,
            hold: record.lease.clone(),
            next_beat: None,
            beat_failed: false,
            bytes: record.body.len(),
            stage: Stage::Waiting,
            record: Some(record),
            processed: None,
            delete_tries: 0,
            _gauge: self.shared.pipeline.observer.in_flight(),
        };
        let key = self.flights.insert(flight);
        if let Some(flight) = self.flights.get_mut(key) {
            self.heartbeat.watch(flight);
        }
        key
    }

    fn line_up(&mut self, key: Key) {
        let group = self
            .flights
            .get(key)
            .and_then(|flight| flight.group.as_ref());
        if group.is_none_or(|group| self.lanes.push(group, key)) {
            self.arrivals.push(key);
        }
    }

    /// Starts handlers as long as there are messages for them and places free.
    pub(super) fn start_handlers(&mut self, now: Instant) {
        while self.stopping.is_none() && self.tasks.len() < self.shared.config.concurrency {
            if self.arrivals.is_empty() {
                break;
            }
            let Some(permit) = self.permits.take() else {
                return;
            };
            if let Some(key) = self.arrivals.pop() {
                self.start(key, permit, now);
            }
        }
        if !self.pools.has_ready(self.shared.config.handler_batch, now) {
            self.permits.let_go();
        }
    }

    fn start(&mut self, key: Key, permit: Permit, now: Instant) {
        let Some(visible_after) = self.may_start(key, now) else {
            return;
        };
        let Some(flight) = self.flights.get_mut(key) else {
            return;
        };
        let Some(mut record) = flight.record.take() else {
            return;
        };
        record.visible_after = visible_after;
        let pipeline = Arc::clone(&self.shared.pipeline);
        let mut prepared = None;
        if self.shared.config.takes_batches {
            let one = pipeline.prepare(record);
            if let Some(pool) = Pools::name(&one, &pipeline) {
                let due = now + self.shared.config.handler_linger;
                self.pools.push(pool, key, one, due);
                return;
            }
            prepared = Some(Box::new(one));
            record = Box::default();
        }
        flight.stage = Stage::Running;
        let work = Box::pin(async move {
            let processed = match prepared {
                None => pipeline.process(record).await,
                Some(prepared) => Box::pin(pipeline.handle(*prepared)).await,
            };
            drop(permit);
            Ended::One(processed)
        });
        self.tasks.spawn(Keys::One(key), work);
    }

    /// Whether a message that has waited may still be handled, and until when it is ours if that
    /// is known. One that may not is settled.
    pub(super) fn may_start(&mut self, key: Key, now: Instant) -> Option<Option<Duration>> {
        let flight = self.flights.get_mut(key)?;
        if flight.hold.is_lost() || flight.lease.is_some_and(|until| until <= now) {
            // SQS may have given it to somebody else by now. One that was lost is lost for good: it
            // is renewed no more.
            tracing::warn!(
                { fields::MESSAGE_ID } = flight.message_id,
                "the message expired while it waited"
            );
            self.leave(key);
            return None;
        }
        if self.shared.moved().contains(&flight.message_id) {
            // It is in the dead-letter queue already: only its delete had failed.
            flight.stage = Stage::Settling;
            self.delete(key);
            return None;
        }
        Some(flight.lease.map(|until| until - now))
    }
}
