//! A message that went through: what is to be done with it, and as far as it was read.

use super::copy::DeadLetterMessage;
use crate::context::Delivery;
use crate::envelope::Envelope;
use crate::policy::WireDelay;
use crate::telemetry::{Ended, Handled};

/// What is to be done to the queue.
#[derive(Debug)]
pub(crate) enum Settlement {
    Delete,
    Release {
        delay: WireDelay,
        /// Whether somebody asked for this delay; else it is what the retry policy says.
        #[cfg_attr(not(feature = "lambda"), allow(dead_code))]
        stated: bool,
    },
    DeadLetter(Box<DeadLetterMessage>),
    Leave,
}

impl Settlement {
    pub(super) fn release(delay: WireDelay, stated: bool) -> Self {
        Self::Release { delay, stated }
    }
}

/// How the message ended, for the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Handled,
    Discarded,
    Failed,
    /// It had been handled before.
    Duplicate,
    /// No handler had it.
    Unhandled,
}

/// A message that went through.
#[derive(Debug)]
pub(crate) struct Processed {
    pub(crate) settlement: Settlement,
    pub(crate) ending: Ending,
    pub(super) seen: Seen,
    /// Its span, for what is done to it.
    pub(crate) handled: Handled,
    /// Where the body really was.
    #[cfg(feature = "payload-store")]
    pub(crate) offloaded: Option<Box<super::payloads::Offloaded>>,
}

impl Processed {
    pub(super) fn new(settlement: Settlement, ending: Ending, seen: Seen) -> Self {
        Self {
            settlement,
            ending,
            seen,
            handled: Handled::default(),
            #[cfg(feature = "payload-store")]
            offloaded: None,
        }
    }

    /// A message of which nothing is done.
    pub(super) fn left(body: String) -> Self {
        Self::new(Settlement::Leave, Ending::Unhandled, Seen::Body(body))
    }

    /// What became of the message, for telemetry.
    pub(crate) fn ended(&self) -> Ended {
        match (self.ending, &self.settlement) {
            (Ending::Handled, _) => Ended::Done,
            (Ending::Discarded, _) => Ended::Discarded,
            (Ending::Duplicate, _) => Ended::Duplicate,
            (_, Settlement::DeadLetter(_)) => Ended::DeadLetter,
            (Ending::Failed, Settlement::Release { .. }) => Ended::Retry,
            (_, Settlement::Release { .. }) => Ended::Released,
            (_, Settlement::Delete) => Ended::Deleted,
            (_, Settlement::Leave) => Ended::Left,
        }
    }

    /// The envelope, if the body was one.
    pub(crate) fn envelope(&self) -> Option<&Envelope> {
        self.seen.envelope()
    }
}

/// As far as the message was read.
#[derive(Debug)]
pub(super) enum Seen {
    Body(String),
    /// With the body as it came, when the envelope was found inside of it.
    Envelope(Box<Envelope>, Option<String>),
    Delivery(Delivery),
}

impl Seen {
    pub(super) fn envelope(&self) -> Option<&Envelope> {
        match self {
            Self::Body(_) => None,
            Self::Envelope(envelope, _) => Some(envelope),
            Self::Delivery(delivery) => Some(delivery.context().envelope()),
        }
    }

    pub(super) fn body(&self) -> &str {
        match self {
            Self::Body(body) => body,
            Self::Envelope(envelope, received) => {
                received.as_deref().unwrap_or_else(|| envelope.body())
            }
            Self::Delivery(delivery) => delivery.context().envelope().body(),
        }
    }
}
