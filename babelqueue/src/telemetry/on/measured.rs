//! What is counted beside spans: counters and levels of one queue.

use std::sync::Arc;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, UpDownCounter};

use super::Counted;
use super::attributes::{OUTCOME, URN};
use super::labels::OTHER;
use super::metrics::Instruments;
use super::observer::{Observed, Observer};

/// A counter of one queue.
#[derive(Clone, Default)]
pub(crate) struct Metric {
    counter: Option<(Counter<u64>, Arc<Observed>)>,
}

impl Metric {
    pub(crate) fn add(&self, n: u64) {
        if let Some((counter, observed)) = &self.counter {
            counter.add(n, &observed.labels);
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
    level: fn(&Instruments) -> &UpDownCounter<i64>,
}

impl Held {
    fn new(observer: &Observer, level: fn(&Instruments) -> &UpDownCounter<i64>) -> Self {
        let observed = observer.observed.clone();
        let held = Self { observed, level };
        held.count(1);
        held
    }

    fn count(&self, by: i64) {
        if let Some(observed) = &self.observed
            && let Some(instruments) = &observed.telemetry.instruments
        {
            (self.level)(instruments).add(by, &observed.labels);
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
        let counter = self.observed.as_ref().and_then(|observed| {
            let instruments = observed.telemetry.instruments.as_ref()?;
            Some((instruments.counted(counted).clone(), Arc::clone(observed)))
        });
        Metric { counter }
    }

    /// A message is in flight.
    pub(crate) fn in_flight(&self) -> Held {
        Held::new(self, |instruments| &instruments.in_flight)
    }

    /// A message is in the buffer of a publisher.
    pub(crate) fn buffered(&self) -> Held {
        Held::new(self, |instruments| &instruments.buffered)
    }

    /// A message was decided about that no handler had.
    pub(crate) fn unhandled(&self, outcome: &'static str) {
        if let Some(observed) = &self.observed
            && let Some(instruments) = &observed.telemetry.instruments
        {
            let more = [KeyValue::new(URN, OTHER), KeyValue::new(OUTCOME, outcome)];
            instruments.handled.add(1, &observed.labelled(more));
        }
    }
}
