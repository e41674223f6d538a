//! When to poll, how many polls at once, and for how many messages. Pure.

use std::time::Duration;

use tokio::time::Instant;

/// How long a poll waits for a full batch of free slots.
const FILL: Duration = Duration::from_millis(10);

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct Polls {
    max_in_flight: usize,
    batch_size: usize,
    /// How many polls should be open.
    target: usize,
    open: usize,
    /// How many of them ask for more than one message.
    wide: usize,
    /// Slots that the open polls may fill.
    reserved: usize,
    /// Since when some slots, but not a batch, have been free.
    filling: Option<Instant>,
    failures: u32,
    retry_at: Option<Instant>,
    succeeded: bool,
    /// How many polls may still be started; `None` for no end.
    budget: Option<usize>,
}

impl Polls {
    pub(super) fn new(max_in_flight: usize, batch_size: usize) -> Self {
        Self {
            max_in_flight,
            batch_size: batch_size.min(max_in_flight),
            target: 1,
            open: 0,
            wide: 0,
            reserved: 0,
            filling: None,
            failures: 0,
            retry_at: None,
            succeeded: false,
            budget: None,
        }
    }

    pub(super) fn allow_one(&mut self) {
        self.budget = Some(1);
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.budget == Some(0)
    }

    /// Whether any poll has been answered.
    pub(super) fn has_succeeded(&self) -> bool {
        self.succeeded
    }

    /// Begins a poll if it is time: for how many messages. `single` asks for one at a time.
    pub(super) fn begin(&mut self, in_flight: usize, single: bool, now: Instant) -> Option<usize> {
        if self.is_exhausted() || self.retry_at.is_some_and(|at| at > now) {
            return None;
        }
        // Over, whether or not there is room for a poll: else the loop would spin on it.
        self.retry_at = None;
        let free = self.max_in_flight.saturating_sub(in_flight + self.reserved);
        if self.open >= self.target || free == 0 {
            self.filling = None;
            return None;
        }
        let full = if single { 1 } else { self.batch_size };
        if free < full {
            let since = *self.filling.get_or_insert(now);
            if now < since + FILL {
                return None;
            }
        }
        self.filling = None;
        let asked = free.min(full);
        self.open += 1;
        self.wide += usize::from(asked > 1);
        self.reserved += asked;
        self.budget = self.budget.map(|left| left - 1);
        Some(asked)
    }

    /// When to ask again, if nothing else happens.
    pub(super) fn next_wake(&self) -> Option<Instant> {
        if self.is_exhausted() {
            return None;
        }
        let filling = self.filling.map(|since| since + FILL);
        // While it pauses nothing else counts.
        if self.open < self.target {
            self.retry_at.or(filling)
        } else {
            None
        }
    }

    /// A poll brought `received` of the messages asked for.
    pub(super) fn answered(&mut self, asked: usize, received: usize) {
        self.end(asked);
        self.succeeded = true;
        self.failures = 0;
        self.retry_at = None;
        if received == 0 {
            self.target = 1;
        } else if received >= asked {
            let most = self.max_in_flight.div_ceil(self.batch_size);
            self.target = (self.target + 1).min(most);
        }
    }

    /// A poll failed: the next one waits, longer each time. `uniform` is in 0..1.
    pub(super) fn failed(&mut self, asked: usize, now: Instant, uniform: f64) {
        self.end(asked);
        self.target = 1;
        if self.retry_at.is_some_and(|at| at > now) {
            // One of several that failed together.
            return;
        }
        let doubled = FIRST_PAUSE.saturating_mul(1 << self.failures.min(10));
        let pause = doubled.min(LONGEST_PAUSE).mul_f64(0.5 + uniform / 2.0);
        self.failures = self.failures.saturating_add(1);
        self.retry_at = Some(now + pause);
    }

    /// All open polls were dropped.
    pub(super) fn dropped(&mut self) {
        self.open = 0;
        self.wide = 0;
        self.reserved = 0;
    }

    pub(super) fn open(&self) -> usize {
        self.open
    }

    /// Whether an open poll may bring several messages.
    pub(super) fn has_wide(&self) -> bool {
        self.wide > 0
    }

    fn end(&mut self, asked: usize) {
        self.open -= 1;
        self.wide -= usize::from(asked > 1);
        self.reserved -= asked;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_poll_while_idle_and_more_when_batches_come_back_full() {
        let now = Instant::now();
        let mut polls = Polls::new(30, 10);
        assert_eq!(polls.begin(0, false, now), Some(10));
        assert_eq!(polls.begin(0, false, now), None, "one is enough");
        polls.answered(10, 10);
        assert_eq!(polls.begin(10, false, now), Some(10));
        assert_eq!(polls.begin(10, false, now), Some(10));
        assert_eq!(
            polls.begin(10, false, now),
            None,
            "all slots are taken or reserved"
        );
        polls.answered(10, 10);
        polls.answered(10, 0);
        assert_eq!(polls.begin(0, false, now), Some(10));
        assert_eq!(polls.begin(0, false, now), None, "back to one");
    }

    #[test]
    fn a_poll_waits_ten_milliseconds_for_a_full_batch_of_slots() {
        let now = Instant::now();
        let mut polls = Polls::new(12, 10);
        assert_eq!(polls.begin(9, false, now), None);
        assert_eq!(polls.next_wake(), Some(now + FILL));
        assert_eq!(polls.begin(8, false, now + FILL / 2), None);
        assert_eq!(polls.begin(8, false, now + FILL), Some(4));
        polls.answered(4, 0);
        assert_eq!(
            polls.begin(2, false, now),
            Some(10),
            "ten free slots need no waiting"
        );
        assert_eq!(
            Polls::new(3, 10).begin(0, false, now),
            Some(3),
            "as many as there can be"
        );
    }

    #[test]
    fn a_failing_group_is_polled_one_message_at_a_time() {
        let mut polls = Polls::new(30, 10);
        assert_eq!(polls.begin(0, true, Instant::now()), Some(1));
    }

    #[test]
    fn c_093_failures_pause_longer_each_time_and_a_success_resets() {
        let mut now = Instant::now();
        let mut polls = Polls::new(30, 10);
        for expected in [1, 2, 4, 8, 16, 30, 30] {
            let asked = polls.begin(0, false, now).expect("a poll");
            polls.failed(asked, now, 1.0);
            let retry = polls.next_wake().expect("a retry");
            assert_eq!(retry - now, Duration::from_secs(expected));
            assert_eq!(
                polls.begin(0, false, retry - Duration::from_millis(1)),
                None
            );
            now = retry;
        }
        let asked = polls.begin(0, false, now).expect("a poll");
        polls.answered(asked, 0);
        let asked = polls.begin(0, false, now).expect("a poll");
        polls.failed(asked, now, 0.0);
        assert_eq!(polls.next_wake(), Some(now + Duration::from_millis(500)));
    }

    #[test]
    fn a_pause_that_is_over_wakes_nobody_while_all_slots_are_taken() {
        let now = Instant::now();
        let mut polls = Polls::new(10, 10);
        let asked = polls.begin(0, false, now).expect("a poll");
        polls.failed(asked, now, 1.0);
        let later = now + Duration::from_secs(2);
        assert_eq!(polls.begin(10, false, later), None);
        assert_eq!(polls.next_wake(), None);
        assert_eq!(polls.begin(0, false, later), Some(10));
    }

    #[test]
    fn polls_that_fail_together_count_once() {
        let now = Instant::now();
        let mut polls = Polls::new(30, 10);
        polls.begin(0, false, now);
        polls.answered(10, 10);
        polls.begin(0, false, now);
        polls.begin(0, false, now);
        polls.failed(10, now, 1.0);
        polls.failed(10, now, 1.0);
        assert_eq!(polls.next_wake(), Some(now + Duration::from_secs(1)));
    }
}
