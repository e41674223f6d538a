//! The order of a standard queue: whatever became visible first goes out first.
//! SQS promises no order here, and the fault plan can shuffle it.

use std::collections::VecDeque;

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

    /// Takes out the next message, or the one `skip` places further back when there are as many.
    pub(crate) fn next(&mut self, store: &Store, skip: usize) -> Option<Ticket> {
        if skip > 0 && skip < self.ready.len() {
            self.ready.swap(0, skip);
        }
        while let Some(ticket) = self.ready.pop_front() {
            if is_visible(store, ticket) {
                return Some(ticket);
            }
        }
        None
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
