//! A stored message and what a receive hands out of it.

use std::sync::Arc;

use uuid::Uuid;

use super::dedup::DedupId;
use super::packed::Packed;
use crate::local::clock::At;

/// A message on a queue. A million of these must fit, so that what is rare is boxed.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) id: Uuid,
    pub(crate) body: Arc<str>,
    pub(crate) md5: [u8; 16],
    pub(crate) attributes: Option<Packed>,
    pub(crate) group: Option<Arc<str>>,
    pub(crate) dedup: DedupId,
    pub(crate) sent: At,
    /// When it was received first, if it was received at all.
    pub(crate) first_received: At,
    pub(crate) receives: u32,
    /// How many of its receives were from queues that it was on before: a redrive policy counts
    /// those of its own queue only, or rings of dead-letter queues would never come to rest.
    pub(crate) receives_elsewhere: u32,
    pub(crate) state: State,
    pub(crate) rare: Option<Box<Rare>>,
}

/// What few messages have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rare {
    pub(crate) trace_header: Option<Box<str>>,
    /// The queue that a redrive policy moved it from.
    pub(crate) dead_letter_source: Option<Arc<str>>,
    /// From when the retention period counts, when that is not when it was sent.
    pub(crate) enqueued: Option<At>,
    /// Whether it is another copy of a message that the fault plan delivers twice.
    pub(crate) is_copy: bool,
}

impl Message {
    pub(crate) fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    pub(crate) fn trace_header(&self) -> Option<&str> {
        self.rare.as_deref()?.trace_header.as_deref()
    }

    pub(crate) fn dead_letter_source(&self) -> Option<&Arc<str>> {
        self.rare.as_deref()?.dead_letter_source.as_ref()
    }

    /// From when the retention period counts.
    pub(crate) fn enqueued(&self) -> At {
        let other = self.rare.as_deref().and_then(|rare| rare.enqueued);
        other.unwrap_or(self.sent)
    }

    pub(crate) fn is_copy(&self) -> bool {
        self.rare.as_deref().is_some_and(|rare| rare.is_copy)
    }

    /// How often it was received from the queue that it is on.
    pub(crate) fn receives_here(&self) -> u32 {
        self.receives.saturating_sub(self.receives_elsewhere)
    }
}

/// What is rare of a message, if anything.
pub(crate) fn rare_of(trace_header: Option<Box<str>>) -> Option<Box<Rare>> {
    trace_header.map(|header| {
        Box::new(Rare {
            trace_header: Some(header),
            ..Rare::default()
        })
    })
}

/// Where a message stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Delayed {
        due: At,
    },
    Visible,
    /// `changed`: whether its visibility was changed since it was received.
    InFlight {
        due: At,
        received: At,
        changed: bool,
    },
}

/// What a receive hands out: cheap to make while the engine is locked.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) message: Message,
    pub(crate) handle: String,
    /// The place in the order of a FIFO queue.
    pub(crate) sequence: Option<u64>,
}

/// A new id, which looks like those of SQS: a version-4 UUID.
pub(crate) fn new_id(random: &mut fastrand::Rng) -> Uuid {
    uuid::Builder::from_random_bytes(random.u128(..).to_be_bytes()).into_uuid()
}

/// How a sequence number looks: 20 digits that grow, and not by one.
pub(crate) fn sequence_text(sequence: u64) -> String {
    format!(
        "{}",
        18_000_000_000_000_000_000_u64.saturating_add(sequence.saturating_mul(256))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_stays_small() {
        // With the number that the store puts beside it.
        assert!(size_of::<(u64, Message)>() <= 168);
    }
}
