//! FIFO order: one lane for each message group, one message of it at a time. Pure.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::flights::Key;

/// How long after its head should have come back a failing group is still believed to be failing:
/// it may have gone to another consumer or to a dead-letter queue.
const MEMORY: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(super) struct Lanes {
    lanes: BTreeMap<Arc<str>, Lane>,
    /// Groups whose head failed, and until when that is remembered (SPEC §2.16).
    failing: BTreeMap<Arc<str>, Instant>,
}

#[derive(Debug)]
struct Lane {
    head: Key,
    waiting: VecDeque<Key>,
}

impl Lanes {
    /// Enters a message. Whether it is the head of its group and may start.
    pub(super) fn push(&mut self, group: &Arc<str>, key: Key) -> bool {
        match self.lanes.get_mut(group) {
            Some(lane) => {
                lane.waiting.push_back(key);
                false
            }
            None => {
                self.lanes.insert(
                    Arc::clone(group),
                    Lane {
                        head: key,
                        waiting: VecDeque::new(),
                    },
                );
                true
            }
        }
    }

    /// The head is done and gone: returns the next one.
    pub(super) fn done(&mut self, group: &str, key: Key) -> Option<Key> {
        let lane = self.lanes.get_mut(group).filter(|lane| lane.head == key)?;
        match lane.waiting.pop_front() {
            Some(next) => {
                lane.head = next;
                Some(next)
            }
            None => {
                self.lanes.remove(group);
                None
            }
        }
    }

    /// The head is not done: closes the lane and returns those behind it, in order.
    pub(super) fn fail(&mut self, group: &str, key: Key) -> Vec<Key> {
        if !self.is_head(group, key) {
            return Vec::new();
        }
        self.lanes
            .remove(group)
            .map(|lane| lane.waiting.into())
            .unwrap_or_default()
    }

    pub(super) fn is_head(&self, group: &str, key: Key) -> bool {
        self.lanes.get(group).is_some_and(|lane| lane.head == key)
    }

    /// Those behind the head.
    pub(super) fn behind(&self, group: &str) -> impl Iterator<Item = Key> {
        self.lanes
            .get(group)
            .into_iter()
            .flat_map(|lane| lane.waiting.iter().copied())
    }

    /// Whether another message waits for this one to be gone.
    pub(super) fn blocks(&self, group: &str, key: Key) -> bool {
        self.lanes
            .get(group)
            .is_some_and(|lane| lane.head == key && !lane.waiting.is_empty())
    }

    /// Forgets all lanes: what waited in them has been given back.
    pub(super) fn clear(&mut self) {
        self.lanes.clear();
    }

    /// A group is failing; its head should be back at `returns`.
    pub(super) fn begin_episode(&mut self, group: &Arc<str>, returns: Instant) {
        self.failing.insert(Arc::clone(group), returns + MEMORY);
    }

    pub(super) fn end_episode(&mut self, group: &str) {
        self.failing.remove(group);
    }

    /// Whether any group is known to be failing: then messages are received one at a time.
    pub(super) fn has_episode(&mut self, now: Instant) -> bool {
        if !self.failing.is_empty() {
            self.failing.retain(|_, until| *until > now);
        }
        !self.failing.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_of_a_group_at_a_time() {
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        let mut lanes = Lanes::default();
        assert!(lanes.push(&a, 1));
        assert!(!lanes.push(&a, 2));
        assert!(lanes.push(&b, 3));
        assert!(lanes.blocks("a", 1) && !lanes.blocks("b", 3));
        assert_eq!(lanes.done("a", 2), None, "only the head can be done");
        assert_eq!(lanes.done("a", 1), Some(2));
        assert_eq!(lanes.done("a", 2), None);
        assert!(lanes.push(&a, 4), "the lane is free again");
    }

    #[test]
    fn a_failed_head_takes_those_behind_it_along() {
        let a: Arc<str> = "a".into();
        let mut lanes = Lanes::default();
        for key in 1..=3 {
            lanes.push(&a, key);
        }
        assert_eq!(lanes.fail("a", 2), [] as [Key; 0]);
        assert_eq!(lanes.fail("a", 1), [2, 3]);
        assert_eq!(lanes.fail("a", 1), [] as [Key; 0]);
    }

    #[test]
    fn an_episode_ends_by_success_or_by_time() {
        let a: Arc<str> = "a".into();
        let now = Instant::now();
        let mut lanes = Lanes::default();
        assert!(!lanes.has_episode(now));
        lanes.begin_episode(&a, now + Duration::from_secs(5));
        assert!(lanes.has_episode(now + Duration::from_secs(64)));
        assert!(!lanes.has_episode(now + Duration::from_secs(65)));
        lanes.begin_episode(&a, now);
        lanes.end_episode("a");
        assert!(!lanes.has_episode(now));
    }
}
