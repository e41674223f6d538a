//! Deduplication on FIFO queues: what was sent in the last five minutes, whether
//! or not it has been received or deleted since.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::local::clock::At;

/// How long a deduplication id counts.
const WINDOW: Duration = Duration::from_secs(5 * 60);

/// A deduplication id, and the group when that is the scope.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) group: Option<Arc<str>>,
    pub(crate) id: Box<str>,
}

/// What the first message of a deduplication id was answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct First {
    pub(crate) id: u128,
    pub(crate) sequence: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Dedup {
    /// Only looked up, never walked.
    seen: HashMap<Arc<Key>, First>,
    by_age: VecDeque<(At, Arc<Key>)>,
}

impl Dedup {
    pub(crate) fn find(&mut self, key: &Key, now: At) -> Option<First> {
        while let Some((at, _)) = self.by_age.front() {
            if at.plus(WINDOW) > now {
                break;
            }
            if let Some((_, key)) = self.by_age.pop_front() {
                self.seen.remove(&key);
            }
        }
        self.seen.get(key).copied()
    }

    pub(crate) fn remember(&mut self, key: Key, first: First, now: At) {
        let key = Arc::new(key);
        self.seen.insert(Arc::clone(&key), first);
        self.by_age.push_back((now, key));
    }
}
