//! The order of a standard queue: whatever became visible first goes out first.
//! SQS promises no order here, and the fault plan can shuffle it.

use std::collections::VecDeque;

use super::limits::MAX_BATCH;
use super::message::State;
use super::store::{Store, Ticket};

#[derive(Debug, Default)]
pub(crate) struct Standard {
    /// Tickets whose message is gone stay in here until they come up or are swept.
    ready: VecDeque<Ticket>,
}

impl Standard {
    pub(crate) fn visible(&mut self, ticket: Ticket) {
        self.ready.push_back(ticket);
    }

    /// Takes out the next message; with `shuffle` any of the first ten.
    pub(crate) fn next(
        &mut self,
        store: &Store,
        shuffle: Option<&mut fastrand::Rng>,
    ) -> Option<Ticket> {
        let among = if shuffle.is_some() { MAX_BATCH } else { 1 };
        let mut found = 0;
        while found < among
            && let Some(&ticket) = self.ready.get(found)
        {
            if is_visible(store, ticket) {
                found += 1;
            } else {
                self.ready.remove(found);
            }
        }
        if let Some(random) = shuffle
            && found > 0
        {
            self.ready.swap(0, random.usize(..found));
        }
        self.ready.pop_front()
    }

    /// Puts back what `next` gave out last.
    pub(crate) fn put_back(&mut self, ticket: Ticket) {
        self.ready.push_front(ticket);
    }

    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    pub(crate) fn sweep(&mut self, store: &Store, visible: usize) {
        if self.ready.len() > 2 * visible + 64 {
            self.ready.retain(|&ticket| is_visible(store, ticket));
        }
    }

    pub(crate) fn clear(&mut self) {
        self.ready = VecDeque::new();
    }
}

fn is_visible(store: &Store, ticket: Ticket) -> bool {
    store
        .get(ticket)
        .is_some_and(|message| message.state == State::Visible)
}
