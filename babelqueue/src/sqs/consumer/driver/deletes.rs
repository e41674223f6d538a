//! Deletes, ten by ten: a batch goes out when it is full, after a short linger, or at once when
//! nothing else is coming (SPEC §2.13).

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::Driver;
use super::calls::{self, Call, EntryResult};
use super::flights::Key;
use crate::policy::ReportKind;
use crate::sqs::consumer::error::SettleError;
use crate::sqs::convert::BATCH;

/// How long a delete waits for others.
const LINGER: Duration = Duration::from_millis(100);

/// How often an entry is tried again that SQS failed on its own account.
const RETRIES: u32 = 3;

/// The pause before the first such retry; it doubles.
const RETRY_PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug, Default)]
pub(super) struct Deletes {
    pending: Vec<(Key, String)>,
    since: Option<Instant>,
    /// A message of the same group waits for one of them.
    urgent: bool,
    retries: Vec<(Instant, Key, String)>,
}

impl Deletes {
    fn push(&mut self, key: Key, receipt_handle: String, now: Instant) {
        self.pending.push((key, receipt_handle));
        self.since.get_or_insert(now);
    }

    pub(super) fn next_wake(&self) -> Option<Instant> {
        let linger = self.since.map(|since| since + LINGER);
        linger
            .into_iter()
            .chain(self.retries.iter().map(|(at, ..)| *at))
            .min()
    }

    /// Takes the batches that are due.
    fn take(&mut self, nothing_else_comes: bool, now: Instant) -> Vec<Vec<(Key, String)>> {
        let mut batches = Vec::new();
        // A retry goes alone: it must not hold up the others, nor they it.
        let mut i = 0;
        while i < self.retries.len() {
            if self.retries[i].0 <= now {
                let (_, key, handle) = self.retries.swap_remove(i);
                batches.push(vec![(key, handle)]);
            } else {
                i += 1;
            }
        }
        while self.pending.len() >= BATCH {
            batches.push(self.pending.drain(..BATCH).collect());
            self.since = (!self.pending.is_empty()).then_some(now);
        }
        let lingered = self.since.is_some_and(|since| since + LINGER <= now);
        if !self.pending.is_empty() && (nothing_else_comes || self.urgent || lingered) {
            batches.push(std::mem::take(&mut self.pending));
        }
        if self.pending.is_empty() {
            self.since = None;
            self.urgent = false;
        }
        batches
    }
}

impl Driver {
    /// Puts the message up for its delete.
    pub(super) fn delete(&mut self, key: Key) {
        let Some(flight) = self.flights.get(key) else {
            return;
        };
        let Some(receipt_handle) = flight.receipt_handle.clone() else {
            let error = SettleError::NoReceiptHandle {
                operation: "DeleteMessage",
            };
            self.report_settle_error(ReportKind::Delete, key, &error);
            self.leave(key);
            return;
        };
        if let Some(group) = &flight.group {
            self.deletes.urgent |= self.lanes.blocks(group, key);
        }
        self.deletes.push(key, receipt_handle, Instant::now());
    }

    pub(super) fn flush_deletes(&mut self, now: Instant) {
        let nothing_else_comes =
            self.tasks.is_empty() && self.arrivals.is_empty() && self.pools.is_empty();
        for batch in self.deletes.take(nothing_else_comes, now) {
            self.shared.counters().delete_calls.one();
            let settled = self.flights.settled(batch.iter().map(|(key, _)| *key));
            let call = calls::delete(Arc::clone(&self.shared), batch);
            self.calls.push(Call::start(settled.scope(call)));
        }
    }

    pub(super) fn on_deleted(&mut self, results: Vec<(Key, EntryResult)>) {
        let now = Instant::now();
        for (key, result) in results {
            match result {
                Ok(()) => self.gone(key),
                Err(error) if is_passing(&error) && self.retry_delete(key, now) => {}
                Err(error) => {
                    self.report_settle_error(ReportKind::Delete, key, &error);
                    self.leave(key);
                }
            }
        }
    }

    /// Plans another try; `false` when there were enough.
    fn retry_delete(&mut self, key: Key, now: Instant) -> bool {
        let Some(flight) = self.flights.get_mut(key) else {
            return false;
        };
        let Some(handle) = flight.receipt_handle.clone() else {
            return false;
        };
        if flight.delete_tries >= RETRIES {
            return false;
        }
        let pause = RETRY_PAUSE * (1 << flight.delete_tries);
        flight.delete_tries += 1;
        self.deletes.retries.push((now + pause, key, handle));
        true
    }
}

/// Whether the fault was SQS's own and another try may succeed. A call that failed as a whole has
/// been retried by the SDK already.
fn is_passing(error: &SettleError) -> bool {
    match error {
        SettleError::Refused { sender_fault, .. } => !sender_fault,
        SettleError::NoResult { .. } => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deletes(pending: u64, now: Instant) -> Deletes {
        let mut deletes = Deletes::default();
        (0..pending).for_each(|key| deletes.push(key, String::new(), now));
        deletes
    }

    fn sizes(batches: &[Vec<(Key, String)>]) -> Vec<usize> {
        batches.iter().map(Vec::len).collect()
    }

    #[test]
    fn a_batch_goes_out_full_or_after_the_linger() {
        let now = Instant::now();
        let mut deletes = deletes(23, now);
        assert_eq!(sizes(&deletes.take(false, now)), [10, 10]);
        assert_eq!(deletes.next_wake(), Some(now + LINGER));
        assert!(deletes.take(false, now + LINGER / 2).is_empty());
        assert_eq!(sizes(&deletes.take(false, now + LINGER)), [3]);
        assert_eq!(deletes.next_wake(), None);
        assert!(
            deletes.take(true, now).is_empty(),
            "an empty batch is never sent"
        );
    }

    #[test]
    fn it_goes_out_at_once_when_nothing_else_comes_or_somebody_waits() {
        let now = Instant::now();
        assert_eq!(sizes(&deletes(3, now).take(true, now)), [3]);
        let mut urgent = deletes(2, now);
        urgent.urgent = true;
        assert_eq!(sizes(&urgent.take(false, now)), [2]);
    }

    #[test]
    fn c_039_a_failed_entry_is_retried_alone() {
        let now = Instant::now();
        let mut deletes = deletes(1, now);
        deletes.retries.push((now + RETRY_PAUSE, 7, String::new()));
        assert_eq!(sizes(&deletes.take(true, now)), [1]);
        assert_eq!(
            deletes.take(true, now + RETRY_PAUSE),
            [vec![(7, String::new())]]
        );
    }
}
