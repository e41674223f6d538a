//! Planned faults: what users test their handlers with. A plan is a list of rules;
//! the first rule that fits a request and fires decides what goes wrong with it.
//! This file holds the rules and how they are matched; what a fault does to a
//! request is the service's and [`entries`]' business.

mod builder;
pub(crate) mod entries;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use self::builder::{FaultBuilder, Faults};
use crate::local::protocol::operation::Operation;

/// What SQS says when it refuses a request for reasons of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Status 500, `InternalFailure`. AWS SDKs retry it.
    InternalError,
    /// Status 503, `ServiceUnavailable`. AWS SDKs retry it.
    ServiceUnavailable,
    /// Status 400, `RequestThrottled`. AWS SDKs retry it as a throttling error.
    Throttled,
    /// Status 403, `ExpiredToken`.
    ExpiredToken,
    /// Status 403, `AccessDenied`.
    AccessDenied,
}

/// What goes wrong.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    LoseRequest,
    LoseResponse,
    Reset,
    Hang,
    HangAfter,
    Delay(Duration),
    DelayResponse(Duration),
    Refuse(Refusal),
    Garbage,
    FailEntries {
        places: BTreeSet<usize>,
        code: String,
        sender_fault: bool,
    },
    OmitEntries(BTreeSet<usize>),
    Duplicate,
    Shuffle,
    OldHandlesSilent,
}

#[derive(Debug)]
pub(crate) struct Rule {
    operations: Option<Vec<Operation>>,
    queue: Option<String>,
    skip: u64,
    times: Option<u64>,
    probability: f64,
    random: fastrand::Rng,
    fault: Fault,
    state: Arc<RuleState>,
}

#[derive(Debug, Default)]
struct RuleState {
    hits: AtomicU64,
    lifted: AtomicBool,
}

/// A fault that has been planned: tells how often it happened, and can be taken back.
#[derive(Clone, Debug)]
pub struct PlannedFault(Arc<RuleState>);

impl PlannedFault {
    /// How many requests it has happened to.
    #[must_use]
    pub fn hits(&self) -> u64 {
        self.0.hits.load(Ordering::Relaxed)
    }

    /// Takes it back; it happens to no request from now on.
    pub fn lift(&self) {
        self.0.lifted.store(true, Ordering::Relaxed);
    }
}

/// The plan of one server.
#[derive(Debug)]
pub(crate) struct Plan {
    rules: Mutex<Vec<Rule>>,
    /// Whether there is any rule: without one, a request pays nothing.
    armed: AtomicBool,
    seed: u64,
}

impl Plan {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            rules: Mutex::default(),
            armed: AtomicBool::new(false),
            seed,
        }
    }

    pub(crate) fn is_armed(&self) -> bool {
        self.armed.load(Ordering::Relaxed)
    }

    /// What goes wrong with a request, if anything. `queue` is read from the request on demand.
    pub(crate) fn strike(
        &self,
        operation: Operation,
        queue: impl FnOnce() -> Option<String>,
    ) -> Option<Fault> {
        let queue = queue();
        let mut rules = self.rules();
        rules.retain(|rule| !rule.state.lifted.load(Ordering::Relaxed));
        self.armed.store(!rules.is_empty(), Ordering::Relaxed);
        rules
            .iter_mut()
            .find_map(|rule| rule.strike(operation, queue.as_deref()))
    }

    fn add(&self, rule: impl FnOnce(fastrand::Rng) -> Rule) -> PlannedFault {
        let mut rules = self.rules();
        let place = rules.len() as u64;
        let random =
            fastrand::Rng::with_seed(self.seed ^ place.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let rule = rule(random);
        let planned = PlannedFault(Arc::clone(&rule.state));
        rules.push(rule);
        self.armed.store(true, Ordering::Relaxed);
        planned
    }

    fn clear(&self) {
        self.rules().clear();
        self.armed.store(false, Ordering::Relaxed);
    }

    fn rules(&self) -> MutexGuard<'_, Vec<Rule>> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rule {
    fn strike(&mut self, operation: Operation, queue: Option<&str>) -> Option<Fault> {
        let operation_fits = self
            .operations
            .as_ref()
            .is_none_or(|all| all.contains(&operation));
        let queue_fits = self.queue.is_none() || self.queue.as_deref() == queue;
        if !operation_fits || !queue_fits || self.times == Some(0) {
            return None;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return None;
        }
        if self.probability < 1.0 && self.random.f64() >= self.probability {
            return None;
        }
        if let Some(times) = &mut self.times {
            *times -= 1;
        }
        self.state.hits.fetch_add(1, Ordering::Relaxed);
        Some(self.fault.clone())
    }
}
