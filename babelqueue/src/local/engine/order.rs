//! In which order a queue hands its messages out: one face for both kinds.

use super::fifo::Fifo;
use super::message::Message;
use super::standard::Standard;
use super::store::{Store, Ticket};

#[derive(Debug)]
pub(crate) enum Order {
    Standard(Standard),
    Fifo(Box<Fifo>),
}

impl Order {
    pub(crate) fn new(fifo: bool) -> Self {
        if fifo {
            Self::Fifo(Box::default())
        } else {
            Self::Standard(Standard::default())
        }
    }

    pub(crate) fn arrived(
        &mut self,
        ticket: Ticket,
        message: &Message,
        store: &Store,
        visible: bool,
    ) {
        match self {
            Self::Standard(it) if visible => it.visible(ticket),
            Self::Standard(_) => {}
            Self::Fifo(it) => it.arrived(ticket, message, store),
        }
    }

    pub(crate) fn ripened(&mut self, ticket: Ticket, message: &Message, store: &Store) {
        match self {
            Self::Standard(it) => it.visible(ticket),
            Self::Fifo(it) => it.ripened(message, store),
        }
    }

    pub(crate) fn returned(&mut self, ticket: Ticket, message: &Message, store: &Store) {
        match self {
            Self::Standard(it) => it.visible(ticket),
            Self::Fifo(it) => it.returned(ticket, message, store),
        }
    }

    /// A message in flight has left the queue.
    pub(crate) fn settled(&mut self, message: &Message, store: &Store) {
        if let Self::Fifo(it) = self {
            it.settled(message, store);
        }
    }

    /// A message that was not in flight has left the queue.
    pub(crate) fn removed(&mut self, ticket: Ticket, message: &Message, store: &Store) {
        if let Self::Fifo(it) = self {
            it.removed(ticket, message, store);
        }
    }

    /// Takes out the next message; with `shuffle`, on a standard queue, any of the next few.
    pub(crate) fn next(
        &mut self,
        store: &Store,
        shuffle: Option<&mut fastrand::Rng>,
    ) -> Option<Ticket> {
        match self {
            Self::Standard(it) => it.next(store, shuffle),
            Self::Fifo(it) => it.next(store),
        }
    }

    /// Puts back what `next` gave out last.
    pub(crate) fn put_back(&mut self, ticket: Ticket) {
        match self {
            Self::Standard(it) => it.put_back(ticket),
            Self::Fifo(it) => it.put_back(ticket),
        }
    }

    pub(crate) fn took_off(&mut self) {
        if let Self::Fifo(it) = self {
            it.took_off();
        }
    }

    pub(crate) fn finish(&mut self, store: &Store) {
        if let Self::Fifo(it) = self {
            it.finish(store);
        }
    }

    pub(crate) fn has_ready(&self) -> bool {
        match self {
            Self::Standard(it) => it.has_ready(),
            Self::Fifo(it) => it.has_ready(),
        }
    }

    pub(crate) fn sweep(&mut self, store: &Store, visible: usize) {
        if let Self::Standard(it) = self {
            it.sweep(store, visible);
        }
    }

    pub(crate) fn clear(&mut self) {
        match self {
            Self::Standard(it) => it.clear(),
            Self::Fifo(it) => it.clear(),
        }
    }
}
