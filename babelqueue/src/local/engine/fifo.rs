//! The order of a FIFO queue. Every message group is a line of its own, in the
//! order in which they came; a group with a message in flight is locked, and
//! the groups that can be served stand in a ring.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::line::Line;
use super::message::{Message, State};
use super::store::{Store, Ticket};

#[derive(Debug)]
struct Group {
    id: Arc<str>,
    /// Messages that are not in flight, delayed ones included.
    waiting: Line,
    in_flight: u32,
    /// Whether the group stands in the ring.
    queued: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Fifo {
    groups: Vec<Option<Group>>,
    free: Vec<u32>,
    /// Only looked up, never walked: its order is random.
    index: HashMap<Arc<str>, u32>,
    ring: VecDeque<u32>,
    /// The group that the receive of this moment is taking from.
    current: Option<u32>,
}

impl Fifo {
    /// The shared text of a group's id.
    pub(crate) fn intern(&self, id: &str) -> Arc<str> {
        match self.index.get_key_value(id) {
            Some((shared, _)) => Arc::clone(shared),
            None => Arc::from(id),
        }
    }

    /// A new message, visible or delayed.
    pub(crate) fn arrived(&mut self, ticket: Ticket, message: &Message, store: &Store) {
        let index = self.group_of(message);
        self.line_up(index, ticket);
        self.refresh(index, store);
    }

    /// A message whose delay is over.
    pub(crate) fn ripened(&mut self, message: &Message, store: &Store) {
        let index = self.group_of(message);
        self.refresh(index, store);
    }

    /// A message in flight that is visible again: it takes its old place.
    pub(crate) fn returned(&mut self, ticket: Ticket, message: &Message, store: &Store) {
        let index = self.group_of(message);
        self.line_up(index, ticket);
        self.landed(index, store);
    }

    /// A message in flight that is gone.
    pub(crate) fn settled(&mut self, message: &Message, store: &Store) {
        let index = self.group_of(message);
        self.landed(index, store);
    }

    /// A waiting message that is gone.
    pub(crate) fn removed(&mut self, ticket: Ticket, message: &Message, store: &Store) {
        let index = self.group_of(message);
        if let Some(group) = self.group_mut(index) {
            group.waiting.remove(ticket);
        }
        self.refresh(index, store);
    }

    /// Takes out the next message: as many of one group as are asked for, then of the next group.
    pub(crate) fn next(&mut self, store: &Store) -> Option<Ticket> {
        loop {
            let index = match self.current {
                Some(index) => index,
                None => {
                    let index = self.ring.pop_front()?;
                    self.current = Some(index);
                    let locked = self.group_mut(index).is_none_or(|group| {
                        group.queued = false;
                        group.in_flight > 0
                    });
                    if locked {
                        self.finish(store);
                        continue;
                    }
                    index
                }
            };
            if let Some(group) = self.group_mut(index)
                && let Some(ticket) = group.waiting.front()
                && is_visible(store, ticket)
            {
                group.waiting.pop_front();
                return Some(ticket);
            }
            self.finish(store);
        }
    }

    /// The message that `next` gave out last is in flight now, and locks its group.
    pub(crate) fn took_off(&mut self) {
        if let Some(index) = self.current
            && let Some(group) = self.group_mut(index)
        {
            group.in_flight += 1;
        }
    }

    /// Puts back what `next` gave out last.
    pub(crate) fn put_back(&mut self, ticket: Ticket) {
        if let Some(index) = self.current {
            self.line_up(index, ticket);
        }
    }

    /// Ends a receive.
    pub(crate) fn finish(&mut self, store: &Store) {
        if let Some(index) = self.current.take() {
            self.refresh(index, store);
        }
    }

    pub(crate) fn has_ready(&self) -> bool {
        !self.ring.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    fn group_mut(&mut self, index: u32) -> Option<&mut Group> {
        self.groups.get_mut(index as usize)?.as_mut()
    }

    fn group_of(&mut self, message: &Message) -> u32 {
        let id = message.group.clone().unwrap_or_else(|| Arc::from(""));
        if let Some(&index) = self.index.get(&id) {
            return index;
        }
        let group = Group {
            id: Arc::clone(&id),
            waiting: Line::default(),
            in_flight: 0,
            queued: false,
        };
        let index = match self.free.pop() {
            Some(index) => {
                self.groups[index as usize] = Some(group);
                index
            }
            None => {
                self.groups.push(Some(group));
                u32::try_from(self.groups.len() - 1).unwrap_or(u32::MAX)
            }
        };
        self.index.insert(id, index);
        index
    }

    fn line_up(&mut self, index: u32, ticket: Ticket) {
        if let Some(group) = self.group_mut(index) {
            group.waiting.insert(ticket);
        }
    }

    fn landed(&mut self, index: u32, store: &Store) {
        if let Some(group) = self.group_mut(index) {
            group.in_flight = group.in_flight.saturating_sub(1);
        }
        self.refresh(index, store);
    }

    /// Puts a group that can be served into the ring, and forgets one that is empty.
    fn refresh(&mut self, index: u32, store: &Store) {
        if self.current == Some(index) {
            return;
        }
        let Some(group) = self.group_mut(index) else {
            return;
        };
        if group.queued || group.in_flight > 0 {
            return;
        }
        match group.waiting.front() {
            Some(head) if is_visible(store, head) => {
                group.queued = true;
                self.ring.push_back(index);
            }
            Some(_) => {}
            None => {
                let id = Arc::clone(&group.id);
                self.index.remove(&id);
                self.groups[index as usize] = None;
                self.free.push(index);
            }
        }
    }
}

fn is_visible(store: &Store, ticket: Ticket) -> bool {
    store
        .get(ticket)
        .is_some_and(|message| message.state == State::Visible)
}
