//! What the runs of one consumer share: configuration, pipeline, clients, and the memory that
//! outlives a single receive.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;

use super::config::Config;
use super::facts::QueueFacts;
use super::handle::Control;
use crate::pipeline::{Counters, Pipeline};
use crate::sqs::client::Clients;

pub(super) struct Shared {
    pub(super) config: Config,
    pub(super) pipeline: Arc<Pipeline>,
    pub(super) clients: Clients,
    pub(super) control: Arc<Control>,
    pub(super) facts: OnceCell<QueueFacts>,
    moved: Mutex<Moved>,
}

impl Shared {
    pub(super) fn new(
        config: Config,
        pipeline: Pipeline,
        clients: Clients,
        control: Control,
    ) -> Self {
        Self {
            config,
            pipeline: Arc::new(pipeline),
            clients,
            control: Arc::new(control),
            facts: OnceCell::new(),
            moved: Mutex::default(),
        }
    }

    pub(super) fn counters(&self) -> &Counters {
        self.control.counters()
    }

    pub(super) fn queue(&self) -> &str {
        &self.pipeline.queue
    }

    /// Messages that are in the dead-letter queue already and wait for their delete.
    pub(super) fn moved(&self) -> MutexGuard<'_, Moved> {
        self.moved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Remembers, by `MessageId`, what was copied to the dead-letter queue and is not deleted yet, so
/// that a redelivery only repeats the delete (SPEC §2.15). Bounded: the oldest are forgotten.
#[derive(Debug, Default)]
pub(super) struct Moved {
    ids: BTreeSet<Arc<str>>,
    order: VecDeque<Arc<str>>,
}

impl Moved {
    const MOST: usize = 10_000;

    pub(super) fn insert(&mut self, message_id: &str) {
        if message_id.is_empty() {
            // It would stand for every message without an id.
            return;
        }
        let id: Arc<str> = message_id.into();
        if self.ids.insert(Arc::clone(&id)) {
            self.order.push_back(id);
        }
        while self.order.len() > Self::MOST {
            if let Some(oldest) = self.order.pop_front() {
                self.ids.remove(&oldest);
            }
        }
    }

    pub(super) fn contains(&self, message_id: &str) -> bool {
        self.ids.contains(message_id)
    }

    pub(super) fn remove(&mut self, message_id: &str) {
        if self.ids.remove(message_id) {
            self.order.retain(|id| &**id != message_id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_moves_is_bounded() {
        let mut moved = Moved::default();
        for i in 0..Moved::MOST + 5 {
            moved.insert(&i.to_string());
        }
        assert_eq!(
            (moved.ids.len(), moved.order.len()),
            (Moved::MOST, Moved::MOST)
        );
        assert!(!moved.contains("4") && moved.contains("5"));
        moved.remove("5");
        moved.remove("nothing");
        assert_eq!(
            (moved.ids.len(), moved.order.len()),
            (Moved::MOST - 1, Moved::MOST - 1)
        );
    }
}
