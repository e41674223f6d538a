//! Labels of metrics that must not grow without end: URNs come from outside.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use opentelemetry::StringValue;

/// The one label of all URNs that are not known.
pub(super) const OTHER: &str = "_OTHER";

/// How many URNs that are only known at run time have a label of their own.
const MOST: usize = 100;

/// Remembers which such URNs have one: the first that came.
#[derive(Default)]
pub(super) struct Labels {
    seen: Mutex<BTreeSet<Arc<str>>>,
}

impl Labels {
    pub(super) fn of(&self, urn: &str) -> StringValue {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(label) = seen.get(urn) {
            return Arc::clone(label).into();
        }
        if seen.len() >= MOST {
            return OTHER.into();
        }
        let label: Arc<str> = urn.into();
        seen.insert(Arc::clone(&label));
        label.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_hundred_have_a_label_of_their_own() {
        let labels = Labels::default();
        for i in 0..2 * MOST {
            let urn = format!("urn:x:{i}");
            let expected = if i < MOST { &urn } else { OTHER };
            assert_eq!(labels.of(&urn).as_str(), expected);
        }
        assert_eq!(labels.of("urn:x:7").as_str(), "urn:x:7");
    }
}
