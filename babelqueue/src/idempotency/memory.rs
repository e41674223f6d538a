//! A store in memory: for tests, and for a queue that one process consumes.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::store::{Claim, ClaimStore, IdempotencyStore};
use crate::BoxError;

/// How many handled ids are kept unless said otherwise.
const CAPACITY: usize = 1_000_000;

/// How long a claim is kept that ran out and nobody ended: SQS lets no message be in flight for
/// longer, so nobody is left who could end it.
const LONGEST_FLIGHT: Duration = Duration::from_hours(12);

/// So many claims are never looked through for dead ones.
const FEW_CLAIMS: usize = 1_024;

/// Remembers handled ids in memory, and offers claims. Clones are one store. Time is tokio's.
///
/// It is lost with the process, and other processes know nothing of it. It keeps the latest
/// million ids for as long as it lives, unless told otherwise.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), babelqueue::BoxError> {
/// use babelqueue::idempotency::{IdempotencyStore as _, MemoryStore};
///
/// let store = MemoryStore::new().capacity(10_000);
/// store.remember("m-1").await?;
/// assert!(store.seen("m-1").await?);
/// store.forget("m-1").await?;
/// assert!(!store.seen("m-1").await?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct MemoryStore {
    entries: Arc<Mutex<Entries>>,
    capacity: usize,
    time_to_live: Option<Duration>,
}

#[derive(Debug, Default)]
struct Entries {
    states: HashMap<Arc<str>, State>,
    /// The handled ids in the order of their ends.
    done: BTreeMap<u64, Arc<str>>,
    next: u64,
    /// With how many claims the dead ones are looked for again.
    sweep_at: usize,
}

#[derive(Debug)]
enum State {
    Done { number: u64, at: Instant },
    Claimed { token: String, until: Instant },
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self {
            entries: Arc::default(),
            capacity: CAPACITY,
            time_to_live: None,
        }
    }

    /// How many handled ids are kept, the latest ones: 1,000,000 unless set. Claims in force are
    /// kept besides.
    #[must_use]
    pub fn capacity(mut self, ids: usize) -> Self {
        self.capacity = ids;
        self
    }

    /// For how long a handled id is kept; without limit unless set. Should not be shorter than
    /// the queue's retention period.
    #[must_use]
    pub fn time_to_live(mut self, time: Duration) -> Self {
        self.time_to_live = Some(time);
        self
    }

    /// How many handled ids are kept at present.
    pub fn len(&self) -> usize {
        self.entries().done.len()
    }

    /// Whether no handled id is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entries, without those that are over.
    fn entries(&self) -> MutexGuard<'_, Entries> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.expire(self.capacity, self.time_to_live);
        entries
    }

    fn finish(&self, entries: &mut Entries, id: &str) {
        entries.take_out(id);
        entries.insert_done(id);
        entries.expire(self.capacity, self.time_to_live);
    }
}

impl Entries {
    /// Takes out what is too old or too much.
    fn expire(&mut self, capacity: usize, time_to_live: Option<Duration>) {
        while let Some((number, id)) = self.done.first_key_value() {
            let old = match (self.states.get(id), time_to_live) {
                (Some(State::Done { at, .. }), Some(time)) => at.elapsed() >= time,
                _ => false,
            };
            if !old && self.done.len() <= capacity {
                return;
            }
            let number = *number;
            if let Some(id) = self.done.remove(&number) {
                self.states.remove(&id);
            }
        }
    }

    fn take_out(&mut self, id: &str) {
        if let Some(State::Done { number, .. }) = self.states.remove(id) {
            self.done.remove(&number);
        }
    }

    fn insert_done(&mut self, id: &str) {
        let id: Arc<str> = id.into();
        let (number, at) = (self.next, Instant::now());
        self.next += 1;
        self.done.insert(number, Arc::clone(&id));
        self.states.insert(id, State::Done { number, at });
    }

    /// Takes out the claims that nobody can end any more, such as those of runs that were cancelled.
    /// Looks at each only when their number has doubled.
    fn sweep(&mut self, now: Instant) {
        if self.states.len() - self.done.len() < self.sweep_at.max(FEW_CLAIMS) {
            return;
        }
        self.states.retain(|_, state| match state {
            State::Claimed { until, .. } => *until + LONGEST_FLIGHT > now,
            State::Done { .. } => true,
        });
        self.sweep_at = 2 * (self.states.len() - self.done.len());
    }

    /// Whether the token holds the id; an expired lease that nobody took over still counts.
    fn holds(&self, id: &str, token: &str) -> bool {
        matches!(self.states.get(id), Some(State::Claimed { token: held, .. }) if held == token)
    }
}

impl IdempotencyStore for MemoryStore {
    async fn seen(&self, id: &str) -> Result<bool, BoxError> {
        Ok(matches!(
            self.entries().states.get(id),
            Some(State::Done { .. })
        ))
    }

    async fn remember(&self, id: &str) -> Result<(), BoxError> {
        let mut entries = self.entries();
        self.finish(&mut entries, id);
        Ok(())
    }

    async fn forget(&self, id: &str) -> Result<(), BoxError> {
        self.entries().take_out(id);
        Ok(())
    }
}

impl ClaimStore for MemoryStore {
    async fn claim(&self, id: &str, token: &str, lease: Duration) -> Result<Claim, BoxError> {
        let mut entries = self.entries();
        let now = Instant::now();
        match entries.states.get(id) {
            Some(State::Done { .. }) => return Ok(Claim::Done),
            Some(State::Claimed { until, .. }) if *until > now => {
                let remaining = *until - now;
                return Ok(Claim::Held { remaining });
            }
            _ => {}
        }
        entries.sweep(now);
        let claimed = State::Claimed {
            token: token.to_owned(),
            until: end_of(now, lease),
        };
        entries.states.insert(id.into(), claimed);
        Ok(Claim::Won)
    }

    async fn renew(&self, id: &str, token: &str, lease: Duration) -> Result<bool, BoxError> {
        let mut entries = self.entries();
        if !entries.holds(id, token) {
            return Ok(false);
        }
        if let Some(State::Claimed { until, .. }) = entries.states.get_mut(id) {
            *until = end_of(Instant::now(), lease);
        }
        Ok(true)
    }

    async fn complete(&self, id: &str, token: &str) -> Result<bool, BoxError> {
        let mut entries = self.entries();
        if !entries.holds(id, token) {
            return Ok(false);
        }
        self.finish(&mut entries, id);
        Ok(true)
    }

    async fn release(&self, id: &str, token: &str) -> Result<bool, BoxError> {
        let mut entries = self.entries();
        if !entries.holds(id, token) {
            return Ok(false);
        }
        entries.take_out(id);
        Ok(true)
    }
}
/// When a lease is over; one that no clock can measure lasts a lifetime.
fn end_of(now: Instant, lease: Duration) -> Instant {
    const LIFETIME: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
    now + lease.min(LIFETIME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn claims_that_nobody_ended_do_not_pile_up() -> Result<(), BoxError> {
        let store = MemoryStore::new();
        let lease = Duration::from_secs(30);
        for day in 0..20 {
            for message in 0..2_000 {
                store.claim(&format!("{day}-{message}"), "t", lease).await?;
            }
            tokio::time::advance(Duration::from_hours(24)).await;
        }
        let kept = store.entries().states.len();
        assert!(kept <= 2 * 2_000, "{kept} claims are kept");
        Ok(())
    }

    #[tokio::test(start_paused = true)]
    async fn a_claim_that_ran_out_can_be_ended_while_its_message_may_be_in_flight()
    -> Result<(), BoxError> {
        let store = MemoryStore::new();
        let lease = Duration::from_secs(30);
        store.claim("slow", "t", lease).await?;
        tokio::time::advance(Duration::from_hours(12)).await;
        for message in 0..4 * FEW_CLAIMS {
            store.claim(&message.to_string(), "t", lease).await?;
        }
        assert!(store.complete("slow", "t").await?);
        Ok(())
    }
}
