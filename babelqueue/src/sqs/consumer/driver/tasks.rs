//! The running handlers' tasks: each has one message, or those of a batch.

use super::flights::Key;
use crate::pipeline::Processed;

/// The messages of a task.
#[derive(Debug)]
pub(super) enum Keys {
    One(Key),
    Many(Vec<Key>),
}

impl Keys {
    pub(super) fn as_slice(&self) -> &[Key] {
        match self {
            Self::One(key) => std::slice::from_ref(key),
            Self::Many(keys) => keys,
        }
    }
}

/// What became of them, in the same order.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // One is the rule, and costs no allocation so.
pub(super) enum Ended {
    One(Processed),
    Many(Vec<Processed>),
}
