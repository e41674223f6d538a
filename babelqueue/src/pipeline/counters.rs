//! The counters of a consumer. Written by the driver, read at any time through its handle.

use std::sync::atomic::{AtomicU64, Ordering};

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
    receive_calls empty_receives delete_calls visibility_calls send_calls other_calls
}

#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, n: usize) {
        self.0.fetch_add(n as u64, Ordering::Relaxed);
    }

    pub(crate) fn one(&self) {
        self.add(1);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
