//! The counters of a consumer. Written by the driver, read at any time through its handle.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::telemetry::{Counted, Metric, Observer};

macro_rules! counters {
    ($($name:ident)*) => {
        /// Atomic counters; they only ever grow.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: Counter,)*
        }
    };
}

counters! {
    received handled duplicates discarded failed retried dead_lettered deleted released left errors
    heartbeats lost_leases receive_calls empty_receives delete_calls visibility_calls send_calls other_calls
}

impl Counters {
    /// Counters that are metrics, too, as far as no other metric tells the same.
    pub(crate) fn observed(observer: &Observer) -> Self {
        let counter = |counted| Counter {
            count: AtomicU64::new(0),
            metric: observer.metric(counted),
        };
        Self {
            received: counter(Counted::Received),
            retried: counter(Counted::Retried),
            dead_lettered: counter(Counted::DeadLettered),
            deleted: counter(Counted::Deleted),
            released: counter(Counted::Released),
            left: counter(Counted::Left),
            errors: counter(Counted::Errors),
            heartbeats: counter(Counted::Heartbeats),
            lost_leases: counter(Counted::LostLeases),
            ..Self::default()
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counter {
    count: AtomicU64,
    metric: Metric,
}

impl Counter {
    pub(crate) fn add(&self, n: usize) {
        self.count.fetch_add(n as u64, Ordering::Relaxed);
        self.metric.add(n as u64);
    }

    pub(crate) fn one(&self) {
        self.add(1);
    }

    pub(crate) fn get(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}
