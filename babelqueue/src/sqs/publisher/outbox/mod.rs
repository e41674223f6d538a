//! The messages of a batch, or of a buffer, on their way out: which go into the next request and
//! when, what an answer means for each, and in which order a FIFO queue gets them. Pure; the
//! driver performs the calls and brings the clock.

mod groups;
mod settle;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use self::groups::Groups;
use super::failure::{Answer, Failure, Fate};
use super::plan::{Limits, Load, MAX_ENTRIES, load};
use super::request::Request;
use super::retry::Retry;

/// A message that is not settled yet. `R` is what its owner needs to know it by.
#[derive(Debug)]
pub(super) struct Pending<R> {
    pub(super) request: Arc<Request>,
    receipt: R,
    /// Its place in the order of all.
    ticket: u64,
    since: Instant,
    attempts: u32,
    /// An attempt may have sent it.
    unknown: bool,
    last: Option<Failure>,
}

/// A call that has ended.
#[derive(Debug)]
pub(super) struct Call<R> {
    pub(super) messages: Vec<Pending<R>>,
    pub(super) began: Instant,
    pub(super) answer: Answer,
}

/// A message that is settled: what it was, and what became of it.
#[derive(Debug)]
pub(super) struct Ended<R> {
    pub(super) request: Arc<Request>,
    pub(super) receipt: R,
    pub(super) ticket: u64,
    /// An earlier attempt may have sent it, whatever the failure says.
    pub(super) unknown: bool,
    pub(super) fate: Fate,
}

/// How a driver wants its messages sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Whether the order inside a group counts.
    pub(super) fifo: bool,
    pub(super) max_bytes: usize,
    pub(super) max_calls: usize,
    /// How long a message waits for others to fill its request.
    pub(super) linger: Duration,
    pub(super) retry: Retry,
    /// Whether a message's time runs from its arrival; otherwise from the last one that was sent,
    /// so that a batch of any length may take its time as long as it moves.
    pub(super) time_runs_from_arrival: bool,
}

#[derive(Debug)]
pub(super) struct Outbox<R> {
    rules: Rules,
    /// What SQS has shown to be the most bytes of a request.
    request_bytes: usize,
    tickets: u64,
    ready: VecDeque<Pending<R>>,
    /// Those that wait for their next attempt, in the order of their tickets.
    resting: Vec<(Instant, Pending<R>)>,
    groups: Groups,
    calls: usize,
    in_flight: usize,
    /// No call before, because the last ones failed as a whole.
    closed_until: Option<Instant>,
    failed_calls: u32,
    failed_at: Option<Instant>,
    progress: Instant,
    /// Messages up to this ticket do not linger.
    hurry: u64,
}

impl<R> Outbox<R> {
    pub(super) fn new(rules: Rules, now: Instant) -> Self {
        Self {
            rules,
            request_bytes: usize::MAX,
            tickets: 0,
            ready: VecDeque::new(),
            resting: Vec::new(),
            groups: Groups::new(rules.fifo),
            calls: 0,
            in_flight: 0,
            closed_until: None,
            failed_calls: 0,
            failed_at: None,
            progress: now,
            hurry: 0,
        }
    }

    /// Sets the most bytes of a request.
    pub(super) fn limit_bytes(&mut self, bytes: usize) {
        self.rules.max_bytes = bytes;
    }

    /// Takes a message in. `unknown`: it may have been sent before.
    pub(super) fn push(&mut self, request: Arc<Request>, receipt: R, unknown: bool, now: Instant) {
        self.tickets += 1;
        self.ready.push_back(Pending {
            request,
            receipt,
            ticket: self.tickets,
            since: now,
            attempts: 0,
            unknown,
            last: None,
        });
    }

    /// The messages that are not settled.
    pub(super) fn len(&self) -> usize {
        self.ready.len() + self.resting.len() + self.in_flight
    }

    /// Those of them that are in a call.
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Lets what is here wait for nothing more; gives the ticket of the last one.
    pub(super) fn hurry(&mut self) -> u64 {
        self.hurry = self.tickets;
        self.tickets
    }

    /// When the time of a message is over.
    pub(super) fn deadline(&self, message: &Pending<R>) -> Instant {
        let from = match self.rules.time_runs_from_arrival {
            true => message.since,
            false => self.progress.max(message.since),
        };
        from + self.rules.retry.timeout
    }

    /// Whether the message that came last may let a request leave. A quick look, which errs on the
    /// side of yes: without retries and groups only a full request leaves before its time.
    pub(super) fn may_leave(&self, now: Instant) -> bool {
        if self.calls >= self.rules.max_calls {
            return false;
        }
        let limits = self.limits();
        let bytes = self.ready.iter().map(|message| message.request.size);
        self.rules.fifo
            || !self.resting.is_empty()
            || self
                .ready
                .front()
                .is_some_and(|first| self.due(first) <= now)
            || self.ready.len() >= limits.entries
            || bytes.sum::<usize>() >= limits.bytes
    }

    /// When to look for a message that has just come and lets nothing leave: its own time, not that
    /// of those before it.
    pub(super) fn wake_for_new(&self, now: Instant) -> Instant {
        let timeout = self.rules.retry.timeout;
        let busy = self.calls >= self.rules.max_calls;
        now + if busy {
            timeout
        } else {
            self.rules.linger.min(timeout)
        }
    }

    /// The next call, when there is one to be made now: its messages, and when its time is over.
    pub(super) fn next_call(&mut self, now: Instant) -> Option<(Vec<Pending<R>>, Instant)> {
        let messages = self.take(now)?;
        let deadlines = messages.iter().map(|message| self.deadline(message));
        let deadline = deadlines.min().unwrap_or(now);
        Some((messages, deadline))
    }

    fn take(&mut self, now: Instant) -> Option<Vec<Pending<R>>> {
        let closed = self.closed_until.is_some_and(|until| now < until);
        if closed || self.calls >= self.rules.max_calls {
            return None;
        }
        let taken = match self.take_resting(now) {
            Some(resting) => resting,
            None => self.take_ready(now)?,
        };
        self.calls += 1;
        self.in_flight += taken.len();
        for message in &taken {
            self.groups.departs(&message.request);
        }
        Some(taken)
    }

    /// Retries go by themselves: they hold up nobody, and nobody them.
    fn take_resting(&mut self, now: Instant) -> Option<Vec<Pending<R>>> {
        let (due, _) = self.rested(now);
        let Load { places, .. } = load(due.into_iter(), self.limits());
        // From behind, so that the places in front stay what they are.
        let from_behind = places.into_iter().rev();
        let mut taken: Vec<_> = from_behind
            .map(|place| self.resting.remove(place).1)
            .collect();
        taken.reverse();
        for message in &taken {
            self.groups.wakes(&message.request);
        }
        (!taken.is_empty()).then_some(taken)
    }

    /// Those that have rested enough, by place and size, and when the next one will have. In a
    /// group nobody goes before an earlier one.
    fn rested(&self, now: Instant) -> (Vec<(usize, usize)>, Option<Instant>) {
        let mut held: Vec<&str> = Vec::new();
        let (mut due, mut next) = (Vec::new(), None::<Instant>);
        for (place, (at, message)) in self.resting.iter().enumerate() {
            let group = self.groups.key(&message.request);
            if group.is_some_and(|group| held.contains(&group))
                || self.groups.in_flight(&message.request)
            {
                continue;
            }
            if *at <= now {
                due.push((place, message.request.size));
            } else {
                held.extend(group);
                next = Some(next.map_or(*at, |next| next.min(*at)));
            }
        }
        (due, next)
    }

    fn take_ready(&mut self, now: Instant) -> Option<Vec<Pending<R>>> {
        let Load { places, full } = self.plan_ready();
        let first = self.ready.get(*places.first()?)?;
        if !full && now < self.due(first) {
            return None;
        }
        let count = places.len();
        if places.last() == Some(&(count - 1)) {
            return Some(self.ready.drain(..count).collect());
        }
        let from_behind = places.into_iter().rev();
        let mut taken: Vec<_> = from_behind
            .filter_map(|place| self.ready.remove(place))
            .collect();
        taken.reverse();
        Some(taken)
    }

    /// The next request of messages that were not tried yet, full or not. Whatever their groups
    /// have under way comes before them.
    fn plan_ready(&self) -> Load {
        let free = self
            .ready
            .iter()
            .enumerate()
            .filter(|(_, message)| !self.groups.is_busy(&message.request));
        load(
            free.map(|(place, message)| (place, message.request.size)),
            self.limits(),
        )
    }

    fn due(&self, message: &Pending<R>) -> Instant {
        if message.ticket <= self.hurry {
            message.since
        } else {
            message.since + self.rules.linger
        }
    }

    fn limits(&self) -> Limits {
        Limits {
            entries: MAX_ENTRIES,
            bytes: self.rules.max_bytes.min(self.request_bytes),
        }
    }

    /// When to look again, if no call ends and no message comes before.
    pub(super) fn next_wake(&self, now: Instant) -> Option<Instant> {
        let waiting = self.resting.iter().map(|(_, message)| message);
        let deadlines = waiting.chain(self.ready.front());
        let deadline = deadlines.map(|message| self.deadline(message)).min();
        if self.calls >= self.rules.max_calls {
            return deadline;
        }
        let first = self.plan_ready().places.first().copied();
        let first = first.and_then(|place| self.ready.get(place));
        let ready = first.map(|message| self.due(message));
        let (due, rested) = self.rested(now);
        let rested = if due.is_empty() { rested } else { Some(now) };
        let next = rested.into_iter().chain(ready).min();
        let next = next.map(|at| self.closed_until.map_or(at, |until| at.max(until)));
        next.into_iter().chain(deadline).min()
    }
}

#[cfg(test)]
mod tests;
