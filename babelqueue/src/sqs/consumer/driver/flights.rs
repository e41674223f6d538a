//! The messages in flight: received and not settled. A message is entered on receipt and removed
//! when its settlement is confirmed or given up, and nowhere else.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::time::Instant;

use crate::lease::Lease;
use crate::pipeline::{DeliveryNumber, Processed, Record, Subject};
use crate::telemetry::{Held, Settled};

/// Names a message in flight, in the order of receipt.
pub(super) type Key = u64;

/// One message in flight.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) delivery: DeliveryNumber,
    pub(super) message_id: String,
    pub(super) receipt_handle: Option<String>,
    pub(super) receives: Option<u64>,
    /// The FIFO group; `None` on a standard queue.
    pub(super) group: Option<Arc<str>>,
    pub(super) received_at: Instant,
    /// Until when SQS keeps it invisible, as far as known.
    pub(super) lease: Option<Instant>,
    /// Tells its handler when that is over.
    pub(super) hold: Lease,
    pub(super) next_beat: Option<Instant>,
    pub(super) beat_failed: bool,
    pub(super) bytes: usize,
    pub(super) stage: Stage,
    /// Until a handler has it.
    pub(super) record: Option<Box<Record>>,
    /// From when a handler had it.
    pub(super) processed: Option<Processed>,
    pub(super) delete_tries: u32,
    /// Counts it as in flight.
    pub(super) _gauge: Held,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Waiting,
    Running,
    /// Being settled: not renewed and not interrupted any more.
    Settling,
}

impl Flight {
    /// For a report.
    pub(super) fn subject(&self) -> Subject<'_> {
        Subject {
            message_id: &self.message_id,
            receive_count: self.receives,
            envelope: self.processed.as_ref().and_then(Processed::envelope),
            settlement: None,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Flights {
    /// Boxed: a node of the tree has room for eleven, and is half empty as a rule.
    flights: BTreeMap<Key, Box<Flight>>,
    next: Key,
    bytes: usize,
}

impl Flights {
    pub(super) fn insert(&mut self, flight: Flight) -> Key {
        let key = self.next;
        self.next += 1;
        self.bytes += flight.bytes;
        self.flights.insert(key, Box::new(flight));
        key
    }

    pub(super) fn remove(&mut self, key: Key) -> Option<Box<Flight>> {
        let flight = self.flights.remove(&key)?;
        self.bytes -= flight.bytes;
        Some(flight)
    }

    pub(super) fn get(&self, key: Key) -> Option<&Flight> {
        self.flights.get(&key).map(Box::as_ref)
    }

    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut Flight> {
        self.flights.get_mut(&key).map(Box::as_mut)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (Key, &mut Flight)> {
        self.flights
            .iter_mut()
            .map(|(key, flight)| (*key, flight.as_mut()))
    }

    /// What a call about these messages settles.
    pub(super) fn settled(&self, keys: impl Iterator<Item = Key>) -> Settled {
        let processed = keys.filter_map(|key| self.get(key)?.processed.as_ref());
        Settled::of(processed.map(|processed| &processed.handled))
    }

    /// Those that no handler has begun with, in the order of receipt.
    pub(super) fn waiting(&self) -> Vec<Key> {
        let waiting = |flight: &Flight| flight.stage == Stage::Waiting;
        self.flights
            .iter()
            .filter(|(_, flight)| waiting(flight))
            .map(|(key, _)| *key)
            .collect()
    }

    /// When the oldest of them was received.
    pub(super) fn oldest(&self) -> Option<Instant> {
        let (_, oldest) = self.flights.first_key_value()?;
        Some(oldest.received_at)
    }

    pub(super) fn len(&self) -> usize {
        self.flights.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.flights.is_empty()
    }

    /// Bytes of their bodies.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}
