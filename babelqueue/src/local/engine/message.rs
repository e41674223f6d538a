//! A stored message and what a receive hands out of it.

use std::sync::Arc;

use super::attribute::{self, AttributeMap};
use crate::local::clock::At;

/// A message on a queue. A million of these must fit, so that what is rare is boxed.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) id: u128,
    pub(crate) body: Arc<str>,
    pub(crate) md5: [u8; 16],
    pub(crate) attributes: Option<Arc<Attributes>>,
    pub(crate) trace_header: Option<Box<str>>,
    pub(crate) group: Option<Arc<str>>,
    pub(crate) dedup: Option<Box<str>>,
    /// The place in the order of a FIFO queue; 0 on a standard queue.
    pub(crate) sequence: u64,
    pub(crate) sent: At,
    /// From when the retention period counts.
    pub(crate) enqueued: At,
    pub(crate) first_received: Option<At>,
    pub(crate) receives: u32,
    /// The queue that a redrive policy moved it from.
    pub(crate) dead_letter_source: Option<Arc<str>>,
    pub(crate) state: State,
}

#[derive(Clone, Debug)]
pub(crate) struct Attributes {
    pub(crate) map: AttributeMap,
    pub(crate) md5: [u8; 16],
}

impl Attributes {
    pub(crate) fn of(map: AttributeMap) -> Option<Arc<Self>> {
        (!map.is_empty()).then(|| {
            let md5 = attribute::md5(map.iter());
            Arc::new(Self { map, md5 })
        })
    }
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
}

/// How a message id looks: a version-4 UUID.
pub(crate) fn id_text(id: u128) -> String {
    uuid::Builder::from_random_bytes(id.to_be_bytes())
        .into_uuid()
        .to_string()
}

/// How a sequence number looks: 20 digits that grow, and not by one.
pub(crate) fn sequence_text(sequence: u64) -> String {
    format!(
        "{}",
        18_000_000_000_000_000_000_u64.saturating_add(sequence.saturating_mul(256))
    )
}
