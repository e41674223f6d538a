//! What becomes of a message whose URN no handler of the router takes (SPEC §2.11).

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// What to do with an accepted message that has no handler.
///
/// Left unset, a consumer with an unknown-URN hook runs the hook and deletes the message; one
/// without acts as [`Fail`](Self::Fail). The strategies also decide what becomes of messages that
/// are never routed, the poisoned and those of another version: [`Delete`](Self::Delete) deletes
/// them, every other one sends them to the dead-letter queue or leaves them (SPEC §2.8, §2.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownUrn {
    /// Reported and left: the visibility timeout brings it back, and the queue's own redrive
    /// policy ends it.
    Fail,
    /// Deleted.
    Delete,
    /// Made visible again after `delay`: zero means at once, a part of a second rounds up, more
    /// than 12 h is cut.
    Release {
        /// How long it stays hidden.
        delay: Duration,
    },
    /// Copied to the dead-letter queue with the reason `unknown_urn`, then deleted. Needs a
    /// dead-letter queue.
    DeadLetter,
}

impl UnknownUrn {
    /// The name that [`FromStr`] takes.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Delete => "delete",
            Self::Release { .. } => "release",
            Self::DeadLetter => "dead_letter",
        }
    }
}

impl fmt::Display for UnknownUrn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that names no strategy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no unknown-URN strategy: use `fail`, `delete`, `release` or `dead_letter`")]
pub struct ParseUnknownUrnError(String);

impl FromStr for UnknownUrn {
    type Err = ParseUnknownUrnError;

    /// Takes exactly `fail`, `delete`, `release` (without a delay) and `dead_letter`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "fail" => Self::Fail,
            "delete" => Self::Delete,
            "release" => Self::Release {
                delay: Duration::ZERO,
            },
            "dead_letter" => Self::DeadLetter,
            _ => return Err(ParseUnknownUrnError(text.to_owned())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_four_names_parse() {
        for name in ["fail", "delete", "release", "dead_letter"] {
            assert_eq!(name.parse::<UnknownUrn>().expect(name).as_str(), name);
        }
        for bad in ["", "Fail", " fail", "deadletter", "dead-letter", "ignore"] {
            let error = bad.parse::<UnknownUrn>().expect_err(bad);
            assert!(error.to_string().contains("dead_letter"), "{error}");
        }
    }
}
