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

    pub(crate) fn clear(&mut self) {
        self.heap = BinaryHeap::new();
    }
}
