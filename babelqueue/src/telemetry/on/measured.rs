//! What is counted by queue alone, as the rest of the crate sees it.

use std::sync::Arc;

use super::observer::{Observed, Observer};
use super::tallies::{Level, Tallies};
use super::{Counted, Ended};

/// A counter of one queue.
#[derive(Clone, Default)]
pub(crate) struct Metric {
    counter: Option<(Counted, Arc<Observed>)>,
}

impl Metric {
    pub(crate) fn add(&self, n: u64) {
        if let Some((counted, observed)) = &self.counter {
            let n = i64::try_from(n).unwrap_or(i64::MAX);
            observed.tallies.counted[*counted as usize].add(n);
        }
    }
}

impl std::fmt::Debug for Metric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Metric")
            .field(&self.counter.is_some())
            .finish()
    }
}

/// A message that counts for a level, while this exists.
#[must_use]
pub(crate) struct Held {
    observed: Option<Arc<Observed>>,
    level: fn(&Tallies) -> &Level,
}

impl Held {
    fn new(observer: &Observer, level: fn(&Tallies) -> &Level) -> Self {
        let observed = observer.observed.clone();
        let held = Self { observed, level };
        held.count(1);
        held
    }

    fn count(&self, by: i64) {
        if let Some(observed) = &self.observed {
            (self.level)(&observed.tallies).add(by);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.count(-1);
    }
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Held")
    }
}

impl Observer {
    /// The metric of a counter.
    pub(crate) fn metric(&self, counted: Counted) -> Metric {
        let observed = self.observed.clone();
        Metric {
            counter: observed.map(|observed| (counted, observed)),
        }
    }

    /// A message is in flight.
    pub(crate) fn in_flight(&self) -> Held {
        Held::new(self, |tallies| &tallies.in_flight)
    }

    /// A message is in the buffer of a publisher.
    pub(crate) fn buffered(&self) -> Held {
        Held::new(self, |tallies| &tallies.buffered)
    }

    /// A message was decided about that no handler had.
    pub(crate) fn unhandled(&self, ended: Ended) {
        if let Some(observed) = &self.observed {
            observed.consumed(None).ended(ended).tally.add(1);
        }
    }
}
