//! The objects of large messages: what is in flight of them, and their deletion after that of
//! their messages, as well as may be (SPEC §4.10). All of it does nothing unless the consumer
//! follows pointers.

use super::Driver;
use super::flights::{Flight, Key};

#[cfg(feature = "payload-store")]
impl Driver {
    /// Bytes of the bodies that were read for messages in flight.
    pub(super) fn fetched_bytes(&self) -> usize {
        let payloads = self.shared.pipeline.payloads.as_ref();
        payloads.map_or(0, |payloads| payloads.bytes())
    }

    /// The dead letter points to the object: it stays.
    pub(super) fn keep_payload(&mut self, key: Key) {
        let processed = self.flights.get_mut(key);
        if let Some(processed) = processed.and_then(|flight| flight.processed.as_mut()) {
            processed.offloaded = None;
        }
    }

    /// The message is deleted for certain: its object may go.
    pub(super) fn discard_payload(&mut self, flight: &mut Flight) {
        let processed = flight.processed.as_mut();
        let offloaded = processed.and_then(|processed| processed.offloaded.take());
        if let (Some(offloaded), Some(payloads)) = (offloaded, &self.shared.pipeline.payloads) {
            self.discards.extend(payloads.discard(*offloaded));
        }
    }
}

#[cfg(not(feature = "payload-store"))]
impl Driver {
    pub(super) fn fetched_bytes(&self) -> usize {
        0
    }

    pub(super) fn keep_payload(&mut self, _: Key) {}

    pub(super) fn discard_payload(&mut self, _: &mut Flight) {}
}
