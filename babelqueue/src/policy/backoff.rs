//! How long a failed message pauses before its next delivery (SPEC §2.12), and how a delay is
//! brought to the whole seconds that SQS takes. Pure; the random number comes from outside.

use std::time::Duration;

use super::MAX_VISIBILITY_SECONDS;

/// The pause before the next try of a failed message: `min(max, base · multiplier^(n−1))`
/// seconds before delivery `n + 1`, where `n` is the number of receives so far.
///
/// ```
/// use std::time::Duration;
/// use babelqueue::policy::{Backoff, Jitter};
///
/// let backoff = Backoff::exponential(Duration::from_secs(5))
///     .max(Duration::from_secs(900))
///     .jitter(Jitter::Full);
/// assert_eq!(backoff.delay_seconds(1, 1.0), 5.0);
/// assert_eq!(backoff.delay_seconds(3, 0.5), 10.0);
/// assert_eq!(backoff.delay_seconds(64, 1.0), 900.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    base: f64,
    multiplier: f64,
    max: f64,
    jitter: Jitter,
}

/// How a computed pause is spread, so that messages which failed together do not return together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Jitter {
    /// Not at all.
    #[default]
    None,
    /// Uniformly over zero to the computed pause, drawn after the cap.
    Full,
}

/// A [`Backoff`] that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BackoffError {
    /// A negative or non-finite number of seconds.
    #[error(
        "the backoff's {option} of {seconds} s is not possible: give a finite, not negative one"
    )]
    Seconds {
        /// `base` or `max`.
        option: &'static str,
        /// What was given.
        seconds: f64,
    },
    /// A multiplier that is not a positive, finite number.
    #[error("the backoff's multiplier of {multiplier} is not possible: give a finite one above 0")]
    Multiplier {
        /// What was given.
        multiplier: f64,
    },
}

impl Backoff {
    /// No pause: a failed message is visible again at once.
    pub const fn none() -> Self {
        Self::from_seconds(0.0, 1.0, 0.0, Jitter::None)
    }

    /// The same pause every time.
    pub const fn fixed(pause: Duration) -> Self {
        Self::from_seconds(pause.as_secs_f64(), 1.0, 0.0, Jitter::None)
    }

    /// A pause that doubles with every receive. Without a [`max`](Self::max) it ends at the 12 h
    /// that SQS allows.
    pub const fn exponential(base: Duration) -> Self {
        Self::from_seconds(base.as_secs_f64(), 2.0, 0.0, Jitter::None)
    }

    /// All four options at once, in seconds, as a configuration file may hold them; a `max` of 0
    /// means no cap. Checked by [`validate`](Self::validate), which the consumer's `build()` calls.
    pub const fn from_seconds(base: f64, multiplier: f64, max: f64, jitter: Jitter) -> Self {
        Self {
            base,
            multiplier,
            max,
            jitter,
        }
    }

    /// Caps the pause; zero means no cap.
    #[must_use]
    pub const fn max(mut self, max: Duration) -> Self {
        self.max = max.as_secs_f64();
        self
    }

    /// Sets the factor from one pause to the next; above 0.
    #[must_use]
    pub const fn multiplier(mut self, multiplier: f64) -> Self {
        self.multiplier = multiplier;
        self
    }

    /// Sets how the pause is spread.
    #[must_use]
    pub const fn jitter(mut self, jitter: Jitter) -> Self {
        self.jitter = jitter;
        self
    }

    /// Whether every pause is zero.
    pub fn is_none(&self) -> bool {
        self.base == 0.0
    }

    /// Checks the options (SPEC §2.12).
    ///
    /// # Errors
    /// [`BackoffError`] for a negative or non-finite number, or a multiplier that is not above 0.
    pub fn validate(&self) -> Result<(), BackoffError> {
        for (option, seconds) in [("base", self.base), ("max", self.max)] {
            if !seconds.is_finite() || seconds < 0.0 {
                return Err(BackoffError::Seconds { option, seconds });
            }
        }
        if !self.multiplier.is_finite() || self.multiplier <= 0.0 {
            return Err(BackoffError::Multiplier {
                multiplier: self.multiplier,
            });
        }
        Ok(())
    }

    /// The pause in seconds after receive `n` (below 1 counts as 1), with `uniform` in 0..=1 as
    /// the random number of the jitter. The result may be fractional and, without a cap, infinite;
    /// [`WireDelay::computed`] brings it to what SQS takes.
    pub fn delay_seconds(&self, n: u64, uniform: f64) -> f64 {
        // 0 · ∞ would be NaN: no base, no pause, whatever the rest.
        if self.base == 0.0 {
            return 0.0;
        }
        let raw = self.base * self.multiplier.powf((n.max(1) - 1) as f64);
        if raw.is_nan() {
            return 0.0;
        }
        let capped = if self.max > 0.0 {
            raw.min(self.max)
        } else {
            raw
        };
        let spread = match self.jitter {
            Jitter::None => capped,
            Jitter::Full => capped * uniform,
        };
        if spread.is_nan() { 0.0 } else { spread }
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::none()
    }
}

/// A delay as SQS takes it: whole seconds within 0..=43200.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireDelay {
    /// The seconds to send.
    pub seconds: i32,
    /// Whether the value asked for was out of range and had to be changed; rounding a fraction
    /// does not count.
    pub altered: bool,
}

impl WireDelay {
    /// No delay.
    pub const ZERO: Self = Self {
        seconds: 0,
        altered: false,
    };

    /// For a computed pause: a fraction is floored.
    pub fn computed(seconds: f64) -> Self {
        if seconds.is_nan() || seconds < 0.0 {
            return Self {
                seconds: 0,
                altered: true,
            };
        }
        if seconds > f64::from(MAX_VISIBILITY_SECONDS) {
            return Self {
                seconds: MAX_VISIBILITY_SECONDS,
                altered: true,
            };
        }
        // In range, so the cast only drops the fraction.
        Self {
            seconds: seconds as i32,
            altered: false,
        }
    }

    /// For a delay that somebody stated: a fraction is rounded up, so that it never becomes zero.
    pub fn given(delay: Duration) -> Self {
        let seconds = delay
            .as_secs()
            .saturating_add(u64::from(delay.subsec_nanos() > 0));
        match i32::try_from(seconds) {
            Ok(seconds) if seconds <= MAX_VISIBILITY_SECONDS => Self {
                seconds,
                altered: false,
            },
            _ => Self {
                seconds: MAX_VISIBILITY_SECONDS,
                altered: true,
            },
        }
    }

    /// The delay as a duration.
    pub const fn duration(self) -> Duration {
        Duration::from_secs(self.seconds.unsigned_abs() as u64)
    }

    /// What is left of the delay `waited` after it was decided; a part of a second counts as
    /// still to come.
    #[must_use]
    pub fn less(self, waited: Duration) -> Self {
        let waited = i32::try_from(waited.as_secs()).unwrap_or(i32::MAX);
        Self {
            seconds: self.seconds.saturating_sub(waited).max(0),
            ..self
        }
    }

    /// What is left of the delay when the message was received `elapsed` ago: SQS counts its 12 h
    /// from the receive, and refuses what reaches beyond (SPEC §2.12).
    #[must_use]
    pub fn within_lease(self, elapsed: Duration) -> Self {
        if elapsed < Duration::from_secs(1) {
            return self;
        }
        // One second of margin: SQS's clock started before we saw the answer.
        let used =
            i32::try_from(elapsed.as_secs().saturating_add(2)).unwrap_or(MAX_VISIBILITY_SECONDS);
        let left = (MAX_VISIBILITY_SECONDS - used).max(0);
        if self.seconds <= left {
            return self;
        }
        Self {
            seconds: left,
            altered: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_formula_of_the_contract() {
        let rows = [
            // base, multiplier, max, n, expected
            (0.5, 3.0, 0.0, 3, 4.5),
            (2.0, 10.0, 0.0, 4, 2000.0),
            (5.0, 2.0, 900.0, 1, 5.0),
            (5.0, 2.0, 900.0, 9, 900.0),
            (5.0, 1.0, 0.0, 100, 5.0),
            (5.0, 2.0, 0.0, 0, 5.0),
            (0.0, f64::INFINITY, 0.0, 9, 0.0),
            (0.0, 2.0, 0.0, u64::MAX, 0.0),
            (1.0, 2.0, 60.0, u64::MAX, 60.0),
            (1.0, 2.0, 0.0, u64::MAX, f64::INFINITY),
            (f64::NAN, 2.0, 0.0, 2, 0.0),
            (8.0, 0.5, 0.0, 4, 1.0),
        ];
        for (base, multiplier, max, n, expected) in rows {
            let backoff = Backoff::from_seconds(base, multiplier, max, Jitter::None);
            assert_eq!(backoff.delay_seconds(n, 0.0), expected, "{backoff:?} n={n}");
        }
    }

    #[test]
    fn full_jitter_is_drawn_after_the_cap() {
        let backoff = Backoff::exponential(secs(10))
            .max(secs(60))
            .jitter(Jitter::Full);
        assert_eq!(backoff.delay_seconds(9, 0.0), 0.0);
        assert_eq!(backoff.delay_seconds(9, 0.5), 30.0);
        assert_eq!(backoff.delay_seconds(9, 1.0), 60.0);
        // ∞ · 0 must not become NaN.
        let endless = Backoff::exponential(secs(1)).jitter(Jitter::Full);
        assert_eq!(endless.delay_seconds(u64::MAX, 0.0), 0.0);
        assert_eq!(endless.delay_seconds(u64::MAX, 0.5), f64::INFINITY);
    }

    #[test]
    fn bad_options_are_refused() {
        assert_eq!(Backoff::exponential(secs(5)).validate(), Ok(()));
        assert_eq!(Backoff::none().validate(), Ok(()));
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(
                Backoff::from_seconds(bad, 1.0, 0.0, Jitter::None)
                    .validate()
                    .is_err()
            );
            assert!(
                Backoff::from_seconds(1.0, 1.0, bad, Jitter::None)
                    .validate()
                    .is_err()
            );
            assert!(
                Backoff::from_seconds(1.0, bad, 0.0, Jitter::None)
                    .validate()
                    .is_err()
            );
        }
        assert!(Backoff::fixed(secs(1)).multiplier(0.0).validate().is_err());
    }

    #[test]
    fn the_wire_takes_whole_seconds_up_to_twelve_hours() {
        let computed = [
            (4.9, 4, false),
            (0.4, 0, false),
            (0.0, 0, false),
            (30.0, 30, false),
            (43_200.0, 43_200, false),
            (43_200.5, 43_200, true),
            (f64::INFINITY, 43_200, true),
            (f64::NEG_INFINITY, 0, true),
            (f64::NAN, 0, true),
            (-1.0, 0, true),
        ];
        for (seconds, expected, altered) in computed {
            let wire = WireDelay::computed(seconds);
            assert_eq!(
                wire,
                WireDelay {
                    seconds: expected,
                    altered
                },
                "{seconds}"
            );
        }
    }

    #[test]
    fn c_050_a_stated_fraction_rounds_up() {
        let given = [
            (Duration::ZERO, 0, false),
            (Duration::from_nanos(1), 1, false),
            (Duration::from_millis(400), 1, false),
            (Duration::from_millis(1500), 2, false),
            (secs(43_200), 43_200, false),
            (secs(43_201), 43_200, true),
            (Duration::MAX, 43_200, true),
        ];
        for (delay, expected, altered) in given {
            let wire = WireDelay::given(delay);
            assert_eq!(
                wire,
                WireDelay {
                    seconds: expected,
                    altered
                },
                "{delay:?}"
            );
        }
    }

    #[test]
    fn c_038_a_backoff_beyond_twelve_hours_is_cut_to_what_is_left() {
        let most = WireDelay::computed(f64::INFINITY);
        assert_eq!(
            most.within_lease(Duration::from_millis(999)).seconds,
            43_200
        );
        let later = most.within_lease(secs(30));
        assert_eq!((later.seconds, later.altered), (43_168, true));
        assert_eq!(
            WireDelay::given(secs(30)).within_lease(secs(600)),
            WireDelay::given(secs(30))
        );
        assert_eq!(most.within_lease(secs(50_000)).seconds, 0);
        assert_eq!(most.within_lease(Duration::MAX / 2).seconds, 0);
    }
}
