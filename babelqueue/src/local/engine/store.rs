//! Where the messages of a queue lie: a slab whose tickets never mean two
//! messages, so that what is queued up elsewhere may be cleaned out late.

use super::message::Message;

/// Points at one message for ever: `serial` is never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket {
    pub(crate) serial: u64,
    slot: u32,
}

impl Ticket {
    pub(crate) fn parts(self) -> (u64, u32) {
        (self.serial, self.slot)
    }

    pub(crate) fn from_parts(serial: u64, slot: u32) -> Self {
        Self { serial, slot }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Store {
    slots: Vec<Option<Box<(u64, Message)>>>,
    free: Vec<u32>,
    next_serial: u64,
}

impl Store {
    pub(crate) fn insert(&mut self, message: Message) -> Ticket {
        self.next_serial += 1;
        let serial = self.next_serial;
        let entry = Some(Box::new((serial, message)));
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = entry;
                slot
            }
            None => {
                self.slots.push(entry);
                u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
            }
        };
        Ticket { serial, slot }
    }

    pub(crate) fn get(&self, ticket: Ticket) -> Option<&Message> {
        match self.slots.get(ticket.slot as usize)?.as_deref() {
            Some((serial, message)) if *serial == ticket.serial => Some(message),
            _ => None,
        }
    }

    pub(crate) fn get_mut(&mut self, ticket: Ticket) -> Option<&mut Message> {
        match self.slots.get_mut(ticket.slot as usize)?.as_deref_mut() {
            Some((serial, message)) if *serial == ticket.serial => Some(message),
            _ => None,
        }
    }

    pub(crate) fn remove(&mut self, ticket: Ticket) -> Option<Message> {
        self.get(ticket)?;
        let entry = self.slots.get_mut(ticket.slot as usize)?.take()?;
        self.free.push(ticket.slot);
        Some(entry.1)
    }

    #[cfg(test)]
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// The tickets of all messages in the order in which they came. This one scans too.
    pub(crate) fn tickets(&self) -> Vec<Ticket> {
        let mut all: Vec<_> = (0_u32..)
            .zip(&self.slots)
            .filter_map(|(slot, entry)| {
                let serial = entry.as_ref()?.0;
                Some(Ticket { serial, slot })
            })
            .collect();
        all.sort_unstable();
        all
    }

    pub(crate) fn clear(&mut self) {
        // The serials go on, so that old tickets stay dead.
        self.slots = Vec::new();
        self.free = Vec::new();
    }
}
