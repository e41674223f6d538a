//! What is counted beside spans: counters and levels of one queue.

use std::sync::Arc;

use opentelemetry::KeyValue;
use opentelemetry::metrics::Counter;

use super::Counted;
use super::attributes::{OUTCOME, URN};
use super::labels::OTHER;
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

/// A message that is in flight, while this exists.
#[must_use]
pub(crate) struct InFlight {
    observed: Option<Arc<Observed>>,
}

impl InFlight {
    fn count(&self, by: i64) {
        if let Some(observed) = &self.observed
            && let Some(instruments) = &observed.telemetry.instruments
        {
            instruments.in_flight.add(by, &observed.labels);
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.count(-1);
    }
}

impl std::fmt::Debug for InFlight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("InFlight")
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
    pub(crate) fn in_flight(&self) -> InFlight {
        let observed = self.observed.clone();
        let in_flight = InFlight { observed };
        in_flight.count(1);
        in_flight
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
