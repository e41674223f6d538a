//! From the end of a handler, or of a call, to what comes next for the message.

use std::sync::Arc;

use tokio::time::Instant;

use super::Driver;
use super::calls::{self, Call, Done};
use super::flights::{Key, Stage};
use super::releases::Release;
use super::tasks::{Ended, Keys};
use crate::fields;
use crate::pipeline::{Ending, Processed, Settlement};
use crate::policy::{ReportKind, WireDelay};
use crate::sqs::consumer::error::SettleError;

impl Driver {
    /// A handler's task has ended.
    pub(super) fn on_task(&mut self, keys: Keys, ended: Ended) {
        for key in keys.as_slice() {
            if let Some(flight) = self.flights.get_mut(*key) {
                flight.stage = Stage::Settling;
            }
        }
        match ended {
            Ended::One(processed) => {
                if let Some(key) = keys.as_slice().first() {
                    self.settle(*key, processed);
                }
            }
            Ended::Many(processed) => {
                for (key, processed) in keys.as_slice().iter().zip(processed) {
                    self.settle(*key, processed);
                }
            }
            Ended::Cancelled => self.give_back(keys.as_slice().to_vec()),
            Ended::Panicked(panicked) => {
                for key in keys.as_slice() {
                    if let Some(flight) = self.flights.get(*key) {
                        let reporter = &self.shared.pipeline.reporter;
                        reporter.report(ReportKind::Handler, flight.subject().left(), &panicked);
                    }
                    self.leave(*key);
                }
            }
        }
    }

    fn settle(&mut self, key: Key, mut processed: Processed) {
        self.count(&processed);
        let settlement = std::mem::replace(&mut processed.settlement, Settlement::Leave);
        if let Some(flight) = self.flights.get_mut(key) {
            flight.processed = Some(processed);
        }
        match settlement {
            Settlement::Delete => self.delete(key),
            Settlement::Release { delay, .. } => self.release_failed(key, delay),
            Settlement::Leave => self.leave(key),
            Settlement::DeadLetter(message) => {
                self.shared.counters().send_calls.one();
                let settled = self.flights.settled(std::iter::once(key));
                let call = calls::send(Arc::clone(&self.shared), key, *message);
                self.calls.push(Call::start(settled.scope(call)));
            }
        }
    }

    fn count(&mut self, processed: &Processed) {
        let counters = self.shared.counters();
        match processed.ending {
            Ending::Handled => {
                counters.handled.one();
                self.tally.handled += 1;
            }
            Ending::Duplicate => counters.duplicates.one(),
            Ending::Discarded => counters.discarded.one(),
            Ending::Unhandled => {}
            Ending::Failed => {
                counters.failed.one();
                self.tally.failed += 1;
                if matches!(processed.settlement, Settlement::Release { .. }) {
                    counters.retried.one();
                }
            }
        }
    }

    /// A call has ended.
    pub(super) fn on_done(&mut self, done: Done) {
        match done {
            Done::Deleted(results) => self.on_deleted(results),
            Done::Released(results) => self.on_released(results),
            Done::Beaten(beaten) => self.on_beaten(beaten),
            Done::Facts(facts) => self.on_facts(facts),
            Done::Sent(key, Ok(())) => {
                self.shared.counters().dead_lettered.one();
                self.tally.dead_lettered += 1;
                if let Some(flight) = self.flights.get(key) {
                    self.shared.moved().insert(&flight.message_id);
                }
                self.keep_payload(key);
                self.delete(key);
            }
            Done::Sent(key, Err(error)) => {
                if let Some(flight) = self.flights.get(key) {
                    let reporter = &self.shared.pipeline.reporter;
                    reporter.report(ReportKind::DeadLetter, flight.subject().left(), &*error);
                }
                self.leave(key);
            }
        }
    }

    /// The message is deleted: its group goes on.
    pub(super) fn gone(&mut self, key: Key) {
        let Some(mut flight) = self.flights.remove(key) else {
            return;
        };
        self.discard_payload(&mut flight);
        self.shared.moved().remove(&flight.message_id);
        self.shared.counters().deleted.one();
        self.tally.deleted += 1;
        let Some(group) = flight.group else { return };
        self.lanes.end_episode(&group);
        if let Some(next) = self.lanes.done(&group, key)
            && self.stopping.is_none()
        {
            self.arrivals.push(next);
        }
    }

    /// Nothing is done to the message: its visibility timeout brings it back.
    pub(super) fn leave(&mut self, key: Key) {
        let Some(flight) = self.flights.remove(key) else {
            return;
        };
        self.shared.counters().left.one();
        self.tally.left += 1;
        let Some(group) = flight.group else { return };
        let now = Instant::now();
        self.lanes
            .begin_episode(&group, flight.lease.unwrap_or(now));
        let behind = self.lanes.fail(&group, key);
        if behind.is_empty() {
            return;
        }
        // Those behind it must not come before it: they stay hidden as long as it does.
        match flight.lease.filter(|until| *until > now) {
            Some(until) => {
                self.release_in_order(behind, WireDelay::given(until - now));
            }
            // Unknown, or over: then so are theirs, and there is nothing to release.
            None => {
                for key in behind {
                    self.flights.remove(key);
                    self.shared.counters().left.one();
                    self.tally.left += 1;
                }
            }
        }
    }

    /// A failed message goes back with its pause, and those behind it stay where they are.
    fn release_failed(&mut self, key: Key, delay: WireDelay) {
        let Some(flight) = self.flights.get(key) else {
            return;
        };
        let Some(receipt_handle) = flight.receipt_handle.clone() else {
            tracing::warn!(
                { fields::MESSAGE_ID } = flight.message_id,
                "no receipt handle: cannot be released"
            );
            self.leave(key);
            return;
        };
        let now = Instant::now();
        if let Some(group) = flight.group.clone() {
            self.lanes.begin_episode(&group, now + delay.duration());
            let behind: Vec<_> = self.lanes.behind(&group).collect();
            for key in behind {
                if let Some(flight) = self.flights.get_mut(key) {
                    flight.next_beat = None;
                }
            }
        }
        self.releases.push(Release {
            key,
            receipt_handle,
            delay,
            decided: now,
        });
    }

    /// Tells that a delete or release did not succeed.
    pub(super) fn report_settle_error(&self, kind: ReportKind, key: Key, error: &SettleError) {
        let Some(flight) = self.flights.get(key) else {
            return;
        };
        // While a handler has it, it is not settled yet.
        let subject = match flight.stage {
            Stage::Settling => flight.subject().left(),
            Stage::Waiting | Stage::Running => flight.subject(),
        };
        self.shared.pipeline.reporter.report(kind, subject, error);
    }
}
