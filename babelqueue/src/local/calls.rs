//! The log of calls: what clients asked for, and what they were told.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::protocol::operation::Operation;

/// How many calls are kept in full.
const KEPT: usize = 10_000;

/// One call of a client.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Call {
    /// What was asked for.
    pub operation: Operation,
    /// The name of the queue, when the request named one.
    pub queue: Option<String>,
    /// When it was answered (or its fault happened), counted from the server's creation.
    pub at: Duration,
    /// What became of it.
    pub outcome: CallOutcome,
    /// The JSON of the request, when
    /// [`record_requests`](super::LocalSqsBuilder::record_requests) was asked for.
    pub request: Option<String>,
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallOutcome {
    /// It was carried out and answered.
    Done,
    /// It was refused with this code of SQS.
    Refused(String),
    /// A planned fault happened to it.
    Faulted,
}

/// The calls so far, from [`LocalSqs::calls`](super::LocalSqs::calls). It does not change afterwards.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    counts: BTreeMap<Operation, u64>,
    latest: VecDeque<Call>,
}

impl Calls {
    /// How often an operation was called, calls that are not answered yet included.
    #[must_use]
    pub fn count(&self, operation: Operation) -> u64 {
        self.counts.get(&operation).copied().unwrap_or(0)
    }

    /// How many calls there were, those that are not answered yet included.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// The latest ten thousand calls that have ended, in the order of their ends.
    pub fn iter(&self) -> impl Iterator<Item = &Call> {
        self.latest.iter()
    }

    /// Those of one operation.
    pub fn of(&self, operation: Operation) -> impl Iterator<Item = &Call> {
        self.iter().filter(move |call| call.operation == operation)
    }
}

#[derive(Debug, Default)]
pub(crate) struct CallLog {
    calls: Mutex<Calls>,
}

impl CallLog {
    /// A call has arrived.
    pub(crate) fn arrived(&self, operation: Operation) {
        *self.calls().counts.entry(operation).or_default() += 1;
    }

    /// A call has come to its end.
    pub(crate) fn ended(&self, call: Call) {
        let mut calls = self.calls();
        if calls.latest.len() == KEPT {
            calls.latest.pop_front();
        }
        calls.latest.push_back(call);
    }

    pub(crate) fn count(&self, operation: Operation) -> u64 {
        self.calls().count(operation)
    }

    pub(crate) fn snapshot(&self) -> Calls {
        self.calls().clone()
    }

    pub(crate) fn clear(&self) {
        *self.calls() = Calls::default();
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
