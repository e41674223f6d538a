//! Order within a batch of a FIFO queue: a message that drops out of the call holds back those
//! behind it. Knows no queue.

use std::collections::HashSet;

/// It was not handled, because one before it in its FIFO group was not: it is left to the queue.
#[derive(Debug, thiserror::Error)]
#[error("a message before this one in its group was not handled")]
pub(crate) struct Withheld;

/// FIFO groups of which a message has dropped out of a call: what stands behind it stays out, too
/// (SPEC §4.6).
#[derive(Debug, Default)]
pub(crate) struct Stopped(HashSet<String>);

impl Stopped {
    pub(crate) fn add(&mut self, group: Option<&str>) {
        self.0.extend(group.map(str::to_owned));
    }

    pub(crate) fn has(&self, group: Option<&str>) -> bool {
        group.is_some_and(|group| self.0.contains(group))
    }
}
