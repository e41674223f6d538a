//! One queue: its messages, the order they go out in, and what becomes of them
//! as time goes by. It knows nothing of other queues and does nothing by
//! itself; every call first brings it up to the moment it is made at.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::Notify;

use super::attributes::QueueAttributes;
use super::dedup::Dedup;
use super::message::{Message, State};
use super::order::Order;
use super::store::{Store, Ticket};
use super::timers::Timers;
use crate::local::clock::At;

#[derive(Debug)]
pub(crate) struct Queue {
    /// Random and never used twice, so that a handle of a deleted queue opens nothing.
    pub(crate) uid: u64,
    pub(crate) arn: Arc<str>,
    pub(crate) attributes: QueueAttributes,
    pub(crate) tags: BTreeMap<String, String>,
    pub(crate) created: At,
    pub(crate) modified: At,
    pub(crate) purged: Option<At>,
    pub(crate) dedup: Dedup,
    pub(crate) attempts: super::attempts::Attempts,
    /// Rung once for every chance that a waiting receive should take.
    pub(crate) bell: Arc<Notify>,
    pub(crate) store: Store,
    pub(crate) order: Order,
    pub(crate) counts: Counts,
    next_sequence: u64,
    timers: Timers,
    ages: Timers,
}

/// How many messages stand where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) visible: usize,
    pub(crate) in_flight: usize,
    pub(crate) delayed: usize,
}

impl Counts {
    fn of(&mut self, state: State) -> &mut usize {
        match state {
            State::Visible => &mut self.visible,
            State::InFlight { .. } => &mut self.in_flight,
            State::Delayed { .. } => &mut self.delayed,
        }
    }

    fn add(&mut self, state: State) {
        *self.of(state) += 1;
    }

    fn sub(&mut self, state: State) {
        let count = self.of(state);
        *count = count.saturating_sub(1);
    }
}

impl Queue {
    pub(crate) fn new(uid: u64, arn: Arc<str>, attributes: QueueAttributes, now: At) -> Self {
        let order = Order::new(attributes.fifo);
        Self {
            uid,
            arn,
            attributes,
            tags: BTreeMap::new(),
            created: now,
            modified: now,
            purged: None,
            dedup: Dedup::default(),
            attempts: super::attempts::Attempts::default(),
            bell: Arc::new(Notify::new()),
            store: Store::default(),
            order,
            counts: Counts::default(),
            next_sequence: 0,
            timers: Timers::default(),
            ages: Timers::default(),
        }
    }

    /// Brings the queue up to `now`: what is due becomes visible, what is too old is gone.
    pub(crate) fn advance(&mut self, now: At) {
        let mut woke = false;
        while let Some((at, ticket)) = self.timers.pop_due(now) {
            if timer_holds(&self.store, at, ticket) {
                self.surface(ticket);
                woke = true;
            }
        }
        let expired = now.minus(self.retention());
        while let Some((at, ticket)) = self.ages.pop_due(expired) {
            if age_holds(&self.store, at, ticket) {
                self.remove(ticket);
                // Its group may be free now.
                woke = true;
            }
        }
        if woke {
            self.ring();
        }
    }

    /// When the next thing happens by itself.
    pub(crate) fn next_due(&mut self) -> Option<At> {
        let store = &self.store;
        let timer = self
            .timers
            .next(|at, ticket| timer_holds(store, at, ticket));
        let age = self.ages.next(|at, ticket| age_holds(store, at, ticket));
        let age = age.map(|at| at.plus(self.retention()));
        timer.into_iter().chain(age).min()
    }

    fn retention(&self) -> std::time::Duration {
        std::time::Duration::from_secs(u64::from(self.attributes.retention))
    }

    /// Wakes one waiting receive.
    pub(crate) fn ring(&self) {
        if self.order.has_ready() {
            self.bell.notify_one();
        }
    }

    pub(crate) fn next_sequence(&mut self) -> u64 {
        self.next_sequence += 1;
        self.next_sequence
    }

    /// Puts a message on the queue in the state it has.
    pub(crate) fn put(&mut self, message: Message) -> Ticket {
        let (state, enqueued) = (message.state, message.enqueued);
        let ticket = self.store.insert(message);
        self.counts.add(state);
        self.ages.push(enqueued, ticket);
        let store = &self.store;
        self.ages
            .sweep(store.len(), |at, ticket| age_holds(store, at, ticket));
        self.order.sweep(store, self.counts.visible);
        if let Some(message) = store.get(ticket) {
            self.order
                .arrived(ticket, message, store, state == State::Visible);
        }
        if let State::Delayed { due } | State::InFlight { due, .. } = state {
            self.time(due, ticket);
        }
        self.ring();
        ticket
    }

    /// Takes the next visible message out of the order. Until [`Queue::finish`] it must
    /// be put in flight or removed.
    pub(crate) fn next_visible(&mut self, skip: usize) -> Option<Ticket> {
        self.order.next(&self.store, skip)
    }

    /// Puts a message that `next_visible` gave out in flight.
    pub(crate) fn take_off(&mut self, ticket: Ticket, now: At, visibility: u32) {
        let due = now.plus_secs(visibility);
        if let Some(message) = self.store.get_mut(ticket) {
            message.receives = message.receives.saturating_add(1);
            message.first_received.get_or_insert(now);
        }
        let state = State::InFlight {
            due,
            received: now,
            changed: false,
        };
        self.set_state(ticket, state);
        self.order.took_off();
        self.time(due, ticket);
    }

    /// Puts a message that `next_visible` gave out back where it was.
    pub(crate) fn put_back(&mut self, ticket: Ticket) {
        if let Some(message) = self.store.get(ticket) {
            self.order.put_back(ticket, message);
        }
    }

    /// The shared text of a message group's id.
    pub(crate) fn intern_group(&self, id: &str) -> Arc<str> {
        match &self.order {
            Order::Standard(_) => Arc::from(id),
            Order::Fifo(fifo) => fifo.intern(id),
        }
    }

    /// Removes a message that `next_visible` gave out.
    pub(crate) fn pull(&mut self, ticket: Ticket) -> Option<Message> {
        let message = self.store.remove(ticket)?;
        self.counts.sub(message.state);
        Some(message)
    }

    /// Ends a series of `next_visible`, and passes the bell on when something is left.
    pub(crate) fn finish(&mut self) {
        self.order.finish(&self.store);
        self.ring();
    }

    /// Removes a message wherever it stands.
    pub(crate) fn remove(&mut self, ticket: Ticket) -> Option<Message> {
        let message = self.store.remove(ticket)?;
        self.counts.sub(message.state);
        if matches!(message.state, State::InFlight { .. }) {
            self.order.settled(&message, &self.store);
            self.ring();
        } else {
            self.order.removed(&message, &self.store);
        }
        Some(message)
    }

    /// Changes until when a message in flight stays so. A receive that is repeated does that
    /// too (`again`), and stays repeatable.
    pub(crate) fn postpone(&mut self, ticket: Ticket, due: At, received: At, again: bool) {
        let state = State::InFlight {
            due,
            received,
            changed: !again,
        };
        let before = self.set_state(ticket, state);
        // The same moment again has its timer already.
        if !matches!(before, Some(State::InFlight { due: timed, .. }) if timed == due) {
            self.time(due, ticket);
        }
    }

    /// Makes a delayed message or one in flight visible now.
    pub(crate) fn surface(&mut self, ticket: Ticket) {
        let Some(before) = self.set_state(ticket, State::Visible) else {
            return;
        };
        if let Some(message) = self.store.get(ticket) {
            match before {
                State::InFlight { .. } => self.order.returned(ticket, message, &self.store),
                State::Delayed { .. } => self.order.ripened(ticket, message, &self.store),
                State::Visible => {}
            }
        }
    }

    /// Applies a new delay to the messages that wait for their first receive. Only FIFO
    /// queues do that to what is on them already.
    pub(crate) fn delay_anew(&mut self, now: At) {
        let delay = self.attributes.delay;
        for ticket in self.store.tickets() {
            let Some(message) = self.store.get(ticket) else {
                continue;
            };
            let due = message.sent.plus_secs(delay);
            match message.state {
                State::Delayed { .. } | State::Visible if message.receives == 0 && due > now => {
                    self.set_state(ticket, State::Delayed { due });
                    self.time(due, ticket);
                }
                State::Delayed { .. } => self.surface(ticket),
                _ => {}
            }
        }
        self.ring();
    }

    pub(crate) fn purge(&mut self) {
        self.store.clear();
        self.order.clear();
        self.timers.clear();
        self.ages.clear();
        self.counts = Counts::default();
    }

    /// How many entries it holds in all, stale ones included.
    #[cfg(test)]
    pub(crate) fn footprint(&self) -> usize {
        self.store.slots() + self.timers.len() + self.ages.len()
    }

    fn set_state(&mut self, ticket: Ticket, state: State) -> Option<State> {
        let message = self.store.get_mut(ticket)?;
        let before = std::mem::replace(&mut message.state, state);
        self.counts.sub(before);
        self.counts.add(state);
        Some(before)
    }

    fn time(&mut self, due: At, ticket: Ticket) {
        let earliest = self.timers.earliest().is_none_or(|at| due < at);
        self.timers.push(due, ticket);
        if earliest {
            // Receives that wait must not sleep past it.
            self.bell.notify_waiters();
        }
        let store = &self.store;
        let live = self.counts.in_flight + self.counts.delayed;
        self.timers
            .sweep(live, |at, ticket| timer_holds(store, at, ticket));
    }
}

fn timer_holds(store: &Store, at: At, ticket: Ticket) -> bool {
    store
        .get(ticket)
        .is_some_and(|message| match message.state {
            State::Delayed { due } | State::InFlight { due, .. } => due == at,
            State::Visible => false,
        })
}

fn age_holds(store: &Store, at: At, ticket: Ticket) -> bool {
    store
        .get(ticket)
        .is_some_and(|message| message.enqueued == at)
}
