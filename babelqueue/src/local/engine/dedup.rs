//! Deduplication on FIFO queues: what was sent in the last five minutes, whether
//! or not it has been received or deleted since.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::local::clock::At;
use crate::local::hex;

/// How long a deduplication id counts.
const WINDOW: Duration = Duration::from_secs(5 * 60);

/// The deduplication id of a message.
#[derive(Clone, Debug, Default)]
pub(crate) enum DedupId {
    #[default]
    None,
    Given(Box<str>),
    /// The digest of the body, which is not stored but made when it is asked for.
    OfBody,
}

impl DedupId {
    pub(crate) fn text(&self, body: &str) -> Option<Cow<'_, str>> {
        match self {
            Self::None => None,
            Self::Given(id) => Some(Cow::Borrowed(id)),
            Self::OfBody => {
                let digest: [u8; 32] = Sha256::digest(body).into();
                Some(Cow::Owned(hex(&digest)))
            }
        }
    }
}

/// Stands for a deduplication id, and for the group when that is the scope: the beginning of a
/// digest, which takes less memory than the two, and never is that of two others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key([u8; 16]);

impl Key {
    pub(crate) fn new(group: Option<&str>, id: &str) -> Self {
        let mut hash = Sha256::new();
        if let Some(group) = group {
            hash.update(group);
        }
        // No id and no group has it inside.
        hash.update([0]);
        hash.update(id);
        let digest: [u8; 32] = hash.finalize().into();
        let mut key = [0; 16];
        key.copy_from_slice(&digest[..16]);
        Self(key)
    }
}

/// What the first message of a deduplication id was answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct First {
    pub(crate) id: Uuid,
    pub(crate) sequence: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Dedup {
    /// Only looked up, never walked.
    seen: HashMap<Key, First>,
    by_age: VecDeque<(At, Key)>,
}

impl Dedup {
    pub(crate) fn find(&mut self, key: Key, now: At) -> Option<First> {
        while let Some(&(at, key)) = self.by_age.front() {
            if at.plus(WINDOW) > now {
                break;
            }
            self.by_age.pop_front();
            self.seen.remove(&key);
        }
        self.seen.get(&key).copied()
    }

    pub(crate) fn remember(&mut self, key: Key, first: First, now: At) {
        self.seen.insert(key, first);
        self.by_age.push_back((now, key));
    }

    pub(crate) fn forget_all(&mut self) {
        *self = Self::default();
    }
}
