//! Releases: messages made visible again, with a pause or at once (SPEC §2.12, §2.16).

use std::sync::Arc;

use tokio::time::Instant;

use super::Driver;
use super::calls::{Call, Change, Done, EntryResult, change_visibility};
use super::flights::{Key, Stage};
use crate::fields;
use crate::policy::{ReportKind, WireDelay};
use crate::sqs::convert::batches;

/// A failed message on its way back.
#[derive(Debug)]
pub(super) struct Release {
    pub(super) key: Key,
    pub(super) receipt_handle: String,
    pub(super) delay: WireDelay,
    /// From when the delay counts.
    pub(super) decided: Instant,
}

impl Driver {
    /// Sends what failed since the last look: in batches, each with its own pause.
    ///
    /// On a FIFO queue it waits for the end of open polls that ask for several messages: they
    /// would receive those behind the failed head along with it, time and again, until these have
    /// used up their own receives. Such polls are short while the queue is busy.
    pub(super) fn flush_releases(&mut self, now: Instant) {
        let fifo = self.shared.config.fifo;
        if self.releases.is_empty() || self.is_lingering() || (fifo && self.polls.has_wide()) {
            return;
        }
        let releases = std::mem::take(&mut self.releases);
        let mut changes = Vec::with_capacity(releases.len());
        for Release {
            key,
            receipt_handle,
            delay,
            decided,
        } in releases
        {
            let Some(flight) = self.flights.get_mut(key) else {
                continue;
            };
            // That it was clamped before has been said before.
            let delay = WireDelay {
                altered: false,
                ..delay
            }
            .less(now - decided)
            .within_lease(now - flight.received_at);
            if delay.altered {
                tracing::warn!(
                    { fields::MESSAGE_ID } = flight.message_id,
                    { fields::SECONDS } = delay.seconds,
                    "the delay reaches beyond 12 h from the receive and has been clamped"
                );
            }
            // Those behind it share this pause.
            flight.lease = Some(now + delay.duration());
            changes.push(Change {
                key,
                receipt_handle,
                seconds: delay.seconds,
            });
        }
        self.send_changes(changes);
    }

    /// Releases messages that no handler had, one after the other in this order, all with the
    /// same pause.
    pub(super) fn release_in_order(&mut self, keys: Vec<Key>, delay: WireDelay) {
        let now = Instant::now();
        let mut changes = Vec::with_capacity(keys.len());
        for key in keys {
            let Some(flight) = self.flights.get_mut(key) else {
                continue;
            };
            flight.stage = Stage::Settling;
            flight.next_beat = None;
            let Some(receipt_handle) = flight.receipt_handle.clone() else {
                tracing::warn!(
                    { fields::MESSAGE_ID } = flight.message_id,
                    "no receipt handle: cannot be released"
                );
                self.leave(key);
                continue;
            };
            let seconds = delay.within_lease(now - flight.received_at).seconds;
            changes.push(Change {
                key,
                receipt_handle,
                seconds,
            });
        }
        self.send_changes(changes);
    }

    fn send_changes(&mut self, changes: Vec<Change>) {
        if changes.is_empty() {
            return;
        }
        let claims = self.claims_of(changes.iter().map(|change| change.key));
        let batches: Vec<_> = batches(changes)
            .map(|batch| {
                let settled = self.flights.settled(batch.iter().map(|change| change.key));
                (settled, batch)
            })
            .collect();
        let shared = Arc::clone(&self.shared);
        self.calls.push(Call::start(async move {
            claims.abandon(&shared).await;
            let mut results = Vec::new();
            // One after the other: the order is that of the queue.
            for (settled, batch) in batches {
                let call = change_visibility(Arc::clone(&shared), batch);
                results.extend(settled.scope(call).await);
            }
            Done::Released(results)
        }));
    }

    pub(super) fn on_released(&mut self, results: Vec<(Key, EntryResult)>) {
        let now = Instant::now();
        for (key, result) in results {
            let released = result.is_ok();
            if let Err(error) = result {
                self.report_settle_error(ReportKind::Release, key, &error);
            }
            let Some(flight) = self.flights.remove(key) else {
                continue;
            };
            if released {
                self.shared.counters().released.one();
                self.tally.released += 1;
            } else {
                self.shared.counters().left.one();
                self.tally.left += 1;
            }
            let Some(group) = flight.group.filter(|group| self.lanes.is_head(group, key)) else {
                continue;
            };
            // The head is back on its way: those behind it follow, with the same pause.
            let until = flight.lease.unwrap_or(now);
            self.lanes.begin_episode(&group, until);
            let behind = self.lanes.fail(&group, key);
            self.release_in_order(
                behind,
                WireDelay::given(until.saturating_duration_since(now)),
            );
        }
    }
}
