//! What is kept for each URN. It must not grow without end: URNs come from outside.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The one label of all URNs that are not known.
pub(super) const OTHER: &str = "_OTHER";

/// How many URNs that are only known at run time are told apart.
const MOST: usize = 100;

/// By URN, something that is made when it first comes.
pub(super) struct Urns<T> {
    known: RwLock<Known<T>>,
}

struct Known<T> {
    of: BTreeMap<Arc<str>, Arc<T>>,
    /// So many of them were not known when this was compiled.
    learned: usize,
}

impl<T> Default for Urns<T> {
    fn default() -> Self {
        let known = Known {
            of: BTreeMap::new(),
            learned: 0,
        };
        Self {
            known: RwLock::new(known),
        }
    }
}

impl<T> Urns<T> {
    /// That of this URN. `named`: the program names it, so that there are not many of the kind.
    /// Of the others the first that come are told apart.
    pub(super) fn of(&self, urn: &str, named: bool, make: impl FnOnce(Arc<str>) -> T) -> Arc<T> {
        if let Some(found) = self.find(urn, named) {
            return found;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let known = &mut *known;
        let mut label = urn;
        if !named && !known.of.contains_key(urn) {
            if known.learned < MOST {
                known.learned += 1;
            } else {
                label = OTHER;
            }
        }
        let label: Arc<str> = label.into();
        let made = || Arc::new(make(Arc::clone(&label)));
        Arc::clone(known.of.entry(Arc::clone(&label)).or_insert_with(made))
    }

    fn find(&self, urn: &str, named: bool) -> Option<Arc<T>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let full = !named && known.learned >= MOST;
        let found = known.of.get(urn);
        let other = || known.of.get(OTHER).filter(|_| full);
        found.or_else(other).map(Arc::clone)
    }

    /// All of them.
    pub(super) fn all(&self) -> Vec<Arc<T>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.of.values().map(Arc::clone).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_hundred_are_told_apart_and_those_that_the_program_names() {
        let urns = Urns::default();
        let label = |urn: &str, named| (*urns.of(urn, named, |label| label)).to_string();
        for i in 0..2 * MOST {
            let urn = format!("urn:x:{i}");
            let expected = if i < MOST { &urn } else { OTHER };
            assert_eq!(label(&urn, false), expected);
        }
        assert_eq!(label("urn:x:7", false), "urn:x:7");
        assert_eq!(label("urn:y:named", true), "urn:y:named");
        assert_eq!(label("urn:y:named", false), "urn:y:named");
        assert_eq!(urns.all().len(), MOST + 2);
    }
}
