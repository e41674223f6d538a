//! The retry backoff of failed messages: its settings, and the delay that comes of them
//! (SPEC §4.7). Pure; the random number comes from outside.

use std::time::Duration;

use serde_json::Value;

use crate::BoxError;
use crate::invocation::RetryOptions;
use crate::policy::MAX_VISIBILITY_SECONDS;

/// Longest batching window of an event source mapping, in seconds: a record may be that old when
/// its invocation begins, and SQS counts its 12 h from the receive.
const BATCHING: f64 = 300.0;

/// What is kept in reserve for the call itself.
const RESERVE: f64 = 30.0;

/// When failed messages come again: `base · 2^(attempt−1)`, lengthened by up to `jitter`, within
/// base and max. What is left out has its default.
///
/// ```
/// use babelqueue::lambda::{RetryBackoff, retry_delay_seconds};
///
/// let backoff = RetryBackoff::new().base_delay_seconds(30.0).jitter_ratio(0.0);
/// assert_eq!(retry_delay_seconds(3, Some(&backoff), None)?, 120.0);
/// assert_eq!(retry_delay_seconds(9, Some(&backoff), None)?, 900.0);
/// assert_eq!(retry_delay_seconds(1, Some(&backoff), Some(300.0))?, 300.0);
/// assert!(RetryBackoff::new().base_delay_seconds(1000.0).validate().is_err()); // over the max
/// # Ok::<(), babelqueue::lambda::RetryBackoffError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryBackoff {
    base: f64,
    max: f64,
    jitter: f64,
}

impl Default for RetryBackoff {
    fn default() -> Self {
        Self {
            base: 60.0,
            max: 900.0,
            jitter: 0.2,
        }
    }
}

/// A [`RetryBackoff`] that cannot be used. A consumer logs it once and does without backoff.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RetryBackoffError {
    /// A number out of its range.
    #[error("the retry backoff's {field} of {value} is not possible: give {range}")]
    Range {
        /// Name of the setting.
        field: &'static str,
        /// What was given.
        value: f64,
        /// What is possible.
        range: &'static str,
    },
    /// A setting of the wrong type.
    #[error("the retry backoff's {field} is not a number")]
    NotANumber {
        /// Name of the setting.
        field: &'static str,
    },
    /// Neither an object nor a boolean nor null.
    #[error("the retry backoff is not an object, a boolean or null")]
    NotAnObject,
    /// The provider of the setting failed or panicked.
    #[error("the provider of the retry backoff failed")]
    Provider(#[source] BoxError),
}

impl RetryBackoff {
    /// The defaults: 60 s, up to 900 s, lengthened by up to a fifth.
    pub fn new() -> Self {
        Self::default()
    }

    /// The first retry's delay and the floor of every delay: above 0, at most the max.
    #[must_use]
    pub const fn base_delay_seconds(mut self, seconds: f64) -> Self {
        self.base = seconds;
        self
    }

    /// The longest delay: at most 43,200 s.
    #[must_use]
    pub const fn max_delay_seconds(mut self, seconds: f64) -> Self {
        self.max = seconds;
        self
    }

    /// By how much of itself a delay may be lengthened at random: from 0 to below 1.
    #[must_use]
    pub const fn jitter_ratio(mut self, ratio: f64) -> Self {
        self.jitter = ratio;
        self
    }

    /// Checks it, as the consumer does when it is first needed.
    ///
    /// # Errors
    /// [`RetryBackoffError::Range`].
    pub fn validate(&self) -> Result<(), RetryBackoffError> {
        let most = f64::from(MAX_VISIBILITY_SECONDS);
        let check = |field, value: f64, good: bool, range| {
            if value.is_finite() && good {
                Ok(())
            } else {
                Err(RetryBackoffError::Range {
                    field,
                    value,
                    range,
                })
            }
        };
        let (base, max, jitter) = (self.base, self.max, self.jitter);
        check("max_delay_seconds", max, max <= most, "at most 43200 s")?;
        let range = "more than 0 s and at most max_delay_seconds";
        check("base_delay_seconds", base, base > 0.0 && base <= max, range)?;
        let range = "0 or more and less than 1";
        check("jitter_ratio", jitter, (0.0..1.0).contains(&jitter), range)
    }

    /// The delay in seconds, for a valid setting: `most` is what is left of the 12 h.
    fn delay(&self, attempt: u64, options: RetryOptions, uniform: f64, most: f64) -> f64 {
        let finite = |seconds: Option<f64>| seconds.filter(|seconds| seconds.is_finite());
        let asked = finite(options.delay_seconds).unwrap_or_else(|| {
            let doublings = i32::try_from(attempt.max(1) - 1).unwrap_or(i32::MAX);
            let grown = self.base * 2_f64.powi(doublings) * (1.0 + uniform * self.jitter);
            grown.max(finite(options.min_delay_seconds).unwrap_or(0.0))
        });
        let cap = self.max.min(most).floor();
        cap.min(self.base.max(asked).ceil()).max(1.0)
    }

    /// The delay of a failed message, `elapsed` after its invocation began.
    pub(super) fn applied(
        &self,
        attempt: u64,
        options: RetryOptions,
        uniform: f64,
        elapsed: Duration,
    ) -> i32 {
        // At most 43200, so that the cast drops nothing.
        self.delay(attempt, options, uniform, left(elapsed)) as i32
    }
}

/// How long a message of this invocation can still be hidden, in seconds.
pub(super) fn left(elapsed: Duration) -> f64 {
    (f64::from(MAX_VISIBILITY_SECONDS) - BATCHING - elapsed.as_secs_f64() - RESERVE).max(0.0)
}

/// The delay that a consumer with this setting would apply, in whole seconds, but for the cap of
/// the invocation: to be stored, and given back as an
/// [exact delay](crate::lambda::RetryOptions::delay_seconds). Without a setting the defaults
/// apply; an attempt of 0 counts as the first.
///
/// # Errors
/// [`RetryBackoffError`] for a setting that cannot be used.
pub fn retry_delay_seconds(
    attempt: u64,
    backoff: Option<&RetryBackoff>,
    min_delay_seconds: Option<f64>,
) -> Result<f64, RetryBackoffError> {
    let backoff = backoff.copied().unwrap_or_default();
    backoff.validate()?;
    let options = RetryOptions {
        delay_seconds: None,
        min_delay_seconds,
    };
    Ok(backoff.delay(attempt, options, fastrand::f64(), f64::INFINITY))
}

/// What a consumer is told about retry backoff: a [`RetryBackoff`], `true` for the defaults,
/// `false` or `None` for off, or a JSON value of any of these forms.
#[derive(Clone, Debug, PartialEq)]
pub struct RetrySetting(Form);

#[derive(Clone, Debug, PartialEq)]
enum Form {
    Typed(Option<RetryBackoff>),
    Json(Value),
}

impl From<RetryBackoff> for RetrySetting {
    fn from(backoff: RetryBackoff) -> Self {
        Self(Form::Typed(Some(backoff)))
    }
}

impl From<Option<RetryBackoff>> for RetrySetting {
    fn from(backoff: Option<RetryBackoff>) -> Self {
        Self(Form::Typed(backoff))
    }
}

impl From<bool> for RetrySetting {
    fn from(on: bool) -> Self {
        Self(Form::Typed(on.then(RetryBackoff::default)))
    }
}

/// `{"base_delay_seconds":60,"max_delay_seconds":900,"jitter_ratio":0.2}` or a part of it; names
/// in camel case do as well.
impl From<Value> for RetrySetting {
    fn from(setting: Value) -> Self {
        Self(Form::Json(setting))
    }
}

impl RetrySetting {
    /// Reads and checks it; `None` when it is off.
    ///
    /// # Errors
    /// [`RetryBackoffError`], which a consumer logs once.
    pub fn validate(&self) -> Result<Option<RetryBackoff>, RetryBackoffError> {
        let backoff = match &self.0 {
            Form::Typed(backoff) => *backoff,
            Form::Json(Value::Null | Value::Bool(false)) => None,
            Form::Json(Value::Bool(true)) => Some(RetryBackoff::default()),
            Form::Json(Value::Object(fields)) => {
                let defaults = RetryBackoff::default();
                let read = |field: &'static str, camel: &str, default: f64| {
                    let given = fields.get(field).or_else(|| fields.get(camel));
                    match given {
                        None => Ok(default),
                        Some(value) => value
                            .as_f64()
                            .ok_or(RetryBackoffError::NotANumber { field }),
                    }
                };
                Some(RetryBackoff {
                    base: read("base_delay_seconds", "baseDelaySeconds", defaults.base)?,
                    max: read("max_delay_seconds", "maxDelaySeconds", defaults.max)?,
                    jitter: read("jitter_ratio", "jitterRatio", defaults.jitter)?,
                })
            }
            Form::Json(_) => return Err(RetryBackoffError::NotAnObject),
        };
        if let Some(backoff) = &backoff {
            backoff.validate()?;
        }
        Ok(backoff)
    }

    /// Whether it is off for certain.
    pub(super) fn is_off(&self) -> bool {
        matches!(self.validate(), Ok(None))
    }
}

#[cfg(test)]
#[path = "backoff_tests.rs"]
mod tests;
