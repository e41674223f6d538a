//! Messages for batch handlers, on their way into a common call: by count, or when the first of
//! them has waited for long enough. Only on standard queues.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::time::Instant;

use super::Driver;
use super::flights::{Key, Stage};
use super::permits::Permit;
use super::tasks::{Ended, Keys};
use crate::pipeline::{Pipeline, Prepared};

/// What all messages of a batch have in common: the handler, and the value that it divides by.
type Name = (usize, Option<String>);

#[derive(Debug, Default)]
pub(super) struct Pools {
    pools: BTreeMap<Name, Pool>,
}

#[derive(Debug)]
struct Pool {
    members: Vec<(Key, Prepared)>,
    due: Instant,
}

impl Pools {
    /// The name of the pool that a message belongs into, if its handler takes batches.
    pub(super) fn name(prepared: &Prepared, pipeline: &Pipeline) -> Option<Name> {
        let (handler, rule) = prepared.handler(pipeline)?;
        let value = rule?
            .per_attribute
            .and_then(|name| prepared.attribute(name));
        Some((handler, value.map(str::to_owned)))
    }

    pub(super) fn push(&mut self, name: Name, key: Key, prepared: Prepared, due: Instant) {
        let pool = self.pools.entry(name).or_insert_with(|| Pool {
            members: Vec::new(),
            due,
        });
        pool.members.push((key, prepared));
    }

    pub(super) fn clear(&mut self) {
        self.pools.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pools.is_empty()
    }

    /// When the next batch is due by itself.
    pub(super) fn next_wake(&self) -> Option<Instant> {
        self.pools.values().map(|pool| pool.due).min()
    }

    /// Whether a batch is full, or has waited for long enough.
    pub(super) fn has_ready(&self, most: usize, now: Instant) -> bool {
        self.ready(most, now).is_some()
    }

    fn ready(&self, most: usize, now: Instant) -> Option<&Name> {
        let is_ready = |pool: &Pool| pool.members.len() >= most || pool.due <= now;
        let ready = self.pools.iter().filter(|(_, pool)| is_ready(pool));
        ready.min_by_key(|(_, pool)| pool.due).map(|(name, _)| name)
    }

    /// Takes the batch that has waited for longest, with so many messages at most.
    fn take(&mut self, most: usize, now: Instant) -> Option<(usize, Vec<(Key, Prepared)>)> {
        let name = self.ready(most, now)?.clone();
        let handler = name.0;
        let mut pool = self.pools.remove(&name)?;
        if pool.members.len() > most {
            // They have waited as long as the first.
            let rest = pool.members.split_off(most);
            let due = pool.due;
            self.pools.insert(name, Pool { members: rest, due });
        }
        Some((handler, pool.members))
    }
}

impl Driver {
    /// Starts the batches that are full or have waited for long enough, as places are free.
    pub(super) fn start_batches(&mut self, now: Instant) {
        let most = self.shared.config.handler_batch;
        while self.stopping.is_none()
            && self.tasks.len() < self.shared.config.concurrency
            && self.pools.has_ready(most, now)
        {
            let Some(permit) = self.permits.take() else {
                return;
            };
            if let Some((handler, members)) = self.pools.take(most, now) {
                self.start_batch(handler, members, permit, now);
            }
        }
    }

    fn start_batch(
        &mut self,
        handler: usize,
        members: Vec<(Key, Prepared)>,
        permit: Permit,
        now: Instant,
    ) {
        let mut keys = Vec::with_capacity(members.len());
        let mut batch = Vec::with_capacity(members.len());
        for (key, mut prepared) in members {
            let Some(visible_after) = self.may_start(key, now) else {
                continue;
            };
            prepared.set_visible_after(visible_after);
            if let Some(flight) = self.flights.get_mut(key) {
                flight.stage = Stage::Running;
                keys.push(key);
                batch.push(prepared);
            }
        }
        if batch.is_empty() {
            return;
        }
        let pipeline = Arc::clone(&self.shared.pipeline);
        let work = Box::pin(async move {
            let processed = pipeline.handle_batch(handler, batch).await;
            drop(permit);
            Ended::Many(processed)
        });
        self.tasks.spawn(Keys::Many(keys), work);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::pipeline::Record;

    #[test]
    fn a_batch_is_ready_by_count_or_by_time() {
        let now = Instant::now();
        let due = now + Duration::from_secs(1);
        let mut pools = Pools::default();
        let one = || Prepared::refused_for_tests(Record::default());
        for key in 0..5 {
            pools.push((0, None), key, one(), due + Duration::from_secs(key));
        }
        pools.push((1, Some("a".to_owned())), 9, one(), due);
        assert!(pools.has_ready(5, now) && !pools.has_ready(6, now));
        assert_eq!(
            pools.next_wake(),
            Some(due),
            "counted from the first of them"
        );
        let keys = |taken: Option<(usize, Vec<(Key, Prepared)>)>| {
            let (handler, members) = taken?;
            Some((
                handler,
                members.iter().map(|(key, _)| *key).collect::<Vec<_>>(),
            ))
        };
        assert_eq!(keys(pools.take(3, now)), Some((0, vec![0, 1, 2])));
        assert_eq!(keys(pools.take(3, now)), None);
        assert_eq!(keys(pools.take(3, due)), Some((0, vec![3, 4])));
        assert_eq!(keys(pools.take(3, due)), Some((1, vec![9])));
        assert!(pools.is_empty());
    }
}
