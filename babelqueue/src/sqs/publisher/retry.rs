//! When a failed attempt is made again: after a pause with jitter, so often as was said, and
//! never beyond the deadline. Pure; the clock and the random number come from outside.

use std::time::Duration;

use tokio::time::Instant;

use crate::policy::{Backoff, Jitter};
use crate::sqs::consumer::BuildError;

/// The pause before the second attempt doubles from this one on.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How long a message is tried in all.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);

/// A FIFO queue knows duplicates for five minutes: no retry may come after them.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(240);

#[derive(Clone, Copy, Debug)]
pub(super) struct Retry {
    pub(super) backoff: Backoff,
    /// The most attempts of one message; without it only the deadline counts.
    pub(super) max_attempts: Option<u32>,
    /// How long one attempt may take; without it only the deadline counts.
    pub(super) attempt: Option<Duration>,
    /// From the first attempt to the last word.
    pub(super) timeout: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            backoff: Backoff::exponential(FIRST_PAUSE)
                .max(LONGEST_PAUSE)
                .jitter(Jitter::Full),
            max_attempts: None,
            attempt: None,
            timeout: SEND_TIMEOUT,
        }
    }
}

impl Retry {
    pub(super) fn check(&self) -> Result<(), BuildError> {
        self.backoff.validate()?;
        if self.max_attempts == Some(0) {
            return Err(BuildError::range("max_attempts", 0, "1 or more"));
        }
        if self.timeout.is_zero() || self.timeout > LONGEST_TIMEOUT {
            let seconds = self.timeout.as_secs_f64();
            return Err(BuildError::range(
                "send_timeout",
                format!("{seconds} s"),
                "more than 0 and up to 240 s",
            ));
        }
        Ok(())
    }

    /// When an attempt that begins now is given up.
    pub(super) fn attempt_ends(&self, now: Instant, deadline: Instant) -> Instant {
        let own = self.attempt.map(|attempt| now + attempt);
        own.map_or(deadline, |own| own.min(deadline))
    }

    /// When to try again after so many attempts, if at all; `uniform` is in 0..=1.
    pub(super) fn next(
        &self,
        attempts: u32,
        now: Instant,
        deadline: Instant,
        uniform: f64,
    ) -> Option<Instant> {
        if self.max_attempts.is_some_and(|most| attempts >= most) {
            return None;
        }
        let seconds = self.backoff.delay_seconds(u64::from(attempts), uniform);
        let pause = Duration::try_from_secs_f64(seconds).ok()?;
        let at = now.checked_add(pause)?;
        (at < deadline).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_at_the_deadline_and_after_the_most_attempts() {
        let now = Instant::now();
        let secs = Duration::from_secs;
        let retry = Retry {
            backoff: Backoff::exponential(secs(1)).max(secs(4)),
            max_attempts: Some(5),
            attempt: Some(secs(5)),
            timeout: secs(30),
        };
        let pause = |attempts, left| {
            let at = retry.next(attempts, now, now + secs(left), 1.0);
            at.map(|at| (at - now).as_secs())
        };
        assert_eq!(pause(1, 30), Some(1));
        assert_eq!(pause(2, 30), Some(2));
        assert_eq!(pause(4, 30), Some(4), "the cap");
        assert_eq!(pause(5, 30), None, "five were enough");
        assert_eq!(pause(3, 5), Some(4));
        assert_eq!(pause(3, 4), None, "nothing is begun at the deadline");
        let endless = Retry::default();
        assert!(endless.next(1_000, now, now + secs(30), 0.0).is_some());
        assert_eq!(retry.attempt_ends(now, now + secs(30)), now + secs(5));
        assert_eq!(retry.attempt_ends(now, now + secs(4)), now + secs(4));
        assert_eq!(endless.attempt_ends(now, now + secs(30)), now + secs(30));
    }
}
