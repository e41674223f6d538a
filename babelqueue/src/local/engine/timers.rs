//! What is due when: a heap that is looked at on every call. Entries are never
//! taken out of the middle; whoever pops one checks whether it still holds,
//! and the heap is swept when more than half of it is stale.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::store::Ticket;
use crate::local::clock::At;

#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(At, Ticket)>>,
}

impl Timers {
    pub(crate) fn push(&mut self, at: At, ticket: Ticket) {
        self.heap.push(Reverse((at, ticket)));
    }

    /// When the first entry is due, stale or not.
    pub(crate) fn earliest(&self) -> Option<At> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// The next entry that is due at `now`.
    pub(crate) fn pop_due(&mut self, now: At) -> Option<(At, Ticket)> {
        if self.heap.peek()?.0.0 > now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry)
    }

    /// When the next entry is due that `holds`; stale ones before it are dropped.
    pub(crate) fn next(&mut self, holds: impl Fn(At, Ticket) -> bool) -> Option<At> {
        while let Some(&Reverse((at, ticket))) = self.heap.peek() {
            if holds(at, ticket) {
                return Some(at);
            }
            self.heap.pop();
        }
        None
    }

    /// Drops the stale entries when they are the greater part. `live` is how many hold.
    pub(crate) fn sweep(&mut self, live: usize, holds: impl Fn(At, Ticket) -> bool) {
        if self.heap.len() > 2 * live + 64 {
            self.heap.retain(|&Reverse((at, ticket))| holds(at, ticket));
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    pub(crate) fn clear(&mut self) {
        self.heap = BinaryHeap::new();
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::local::clock::Clock;

    #[test]
    fn stale_entries_are_swept_and_live_ones_kept() {
        let start = Clock::new(SystemTime::UNIX_EPOCH).now();
        let at = |n: u64| start.plus(Duration::from_secs(n));
        let is_live = |_: At, ticket: Ticket| ticket.serial.is_multiple_of(1000);
        let mut timers = Timers::default();
        for n in (1..=10_000).rev() {
            timers.push(at(n), Ticket::from_parts(n, 0));
            timers.sweep(10, is_live);
            assert!(timers.heap.len() <= 85, "{}", timers.heap.len());
        }
        let mut due = Vec::new();
        while timers.next(is_live).is_some() {
            due.extend(timers.pop_due(at(10_000)).map(|(_, ticket)| ticket.serial));
        }
        let expected: Vec<_> = (1..=10).map(|n| n * 1000).collect();
        assert_eq!(due, expected);
    }
}
