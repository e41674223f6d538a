//! The errors that the pipeline itself finds. Pure.

use std::time::Duration;

use crate::handler::{HandlerResult, Outcome};

/// The message was rejected undecoded.
#[derive(Debug, thiserror::Error)]
#[error("the attribute `bq-schema-version` is {declared:?}; this consumer handles version 1")]
pub(crate) struct VersionGateError {
    pub(crate) declared: String,
}

/// No handler takes the URN.
#[derive(Debug, thiserror::Error)]
#[error(
    "no handler takes `{urn}`: add one to the router, a fallback handler, or an unknown-URN strategy"
)]
pub(crate) struct UnknownUrnError {
    pub(crate) urn: String,
}

/// The handler said so by its outcome.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutcomeError {
    #[error("the handler asked for another try")]
    Retry,
    #[error("{0}")]
    DeadLetter(String),
}

impl OutcomeError {
    /// What a handler's answer says was wrong, when it did not say so by an error.
    pub(crate) fn of(result: &HandlerResult) -> Option<Self> {
        match result {
            Ok(Outcome::Retry { .. }) => Some(Self::Retry),
            Ok(Outcome::DeadLetter { reason }) => Some(Self::DeadLetter(reason.clone())),
            _ => None,
        }
    }
}

/// The handler ran longer than it may.
#[derive(Debug, thiserror::Error)]
#[error("the handler ran longer than its timeout of {0:?}")]
pub(crate) struct TimedOut(pub(crate) Duration);

/// What a copy to the dead-letter queue had to leave out.
#[derive(Debug, thiserror::Error)]
#[error("the dead-letter copy goes without the attributes {}", .0.join(", "))]
pub(crate) struct DroppedAttributes(pub(crate) Vec<String>);

/// Why no copy for the dead-letter queue could be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CopyError {
    #[error(
        "the dead-letter record takes {actual} bytes and the limit is {allowed}: \
         the message is left on the queue"
    )]
    TooLarge { actual: usize, allowed: usize },
    #[error("the dead-letter copy cannot be encoded: {0}")]
    Encode(#[from] crate::envelope::EncodeError),
}

/// The last part of a type's path, generics left out.
pub(crate) fn short_type_name(name: &str) -> &str {
    let plain = name.split('<').next().unwrap_or(name);
    plain.rsplit("::").next().unwrap_or(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_named_shortly() {
        assert_eq!(short_type_name("std::io::error::Error"), "Error");
        assert_eq!(short_type_name("my::Wrap<std::io::Error>"), "Wrap");
        assert_eq!(short_type_name("&str"), "&str");
    }
}
