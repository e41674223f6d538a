//! The consumer predicate: whether a decoded envelope may be handled.

use super::SCHEMA_VERSION;
use super::blank::is_blank;
use super::decoded::Envelope;
use super::identity::Source;

/// The condition that a decoded envelope does not meet (SPEC §1.6, §2.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAccepted {
    /// `meta.schema_version` is an integer other than 1. It is tested before everything else.
    #[error("`/meta/schema_version` is {0}; this consumer handles version 1")]
    UnsupportedVersion(i64),
    /// There is neither a valid `job` nor a valid `urn` (only after a lenient decode).
    #[error("`/job` is missing or blank")]
    NoIdentity,
    /// `meta` is null or absent.
    #[error("`/meta` is missing or null")]
    NoMeta,
    /// `meta.schema_version` is null or absent.
    #[error("`/meta/schema_version` is missing or null")]
    NoSchemaVersion,
    /// `data` is null or absent.
    #[error("`/data` is missing or null")]
    NoData,
    /// `attempts` is null or absent.
    #[error("`/attempts` is missing or null")]
    NoAttempts,
    /// `trace_id` is null or absent.
    #[error("`/trace_id` is missing or null")]
    NoTraceId,
    /// `trace_id` is empty or holds blanks only.
    #[error("`/trace_id` is blank")]
    BlankTraceId,
}

impl NotAccepted {
    /// The member that is at fault, as an RFC 6901 pointer.
    pub const fn pointer(&self) -> Option<&str> {
        Some(match self {
            Self::UnsupportedVersion(_) | Self::NoSchemaVersion => "/meta/schema_version",
            Self::NoIdentity => "/job",
            Self::NoMeta => "/meta",
            Self::NoData => "/data",
            Self::NoAttempts => "/attempts",
            Self::NoTraceId | Self::BlankTraceId => "/trace_id",
        })
    }

    /// The short type name, for the `exception` member of a dead letter.
    pub const fn name(&self) -> &'static str {
        "NotAccepted"
    }
}

impl Envelope {
    /// Whether the envelope may be handled (SPEC §1.6), and if not, why. URN syntax, `lang`,
    /// `meta.id`, `created_at` and the sign of `attempts` are not looked at.
    ///
    /// # Errors
    /// The first condition that is not met. An unsupported version comes first, because it is
    /// settled in another way than the rest (SPEC §2.10).
    pub fn accept(&self) -> Result<(), NotAccepted> {
        let meta = self.meta();
        match meta.schema_version() {
            Some(SCHEMA_VERSION) | None => {}
            Some(other) => return Err(NotAccepted::UnsupportedVersion(other)),
        }
        if self.fields().source == Source::None {
            return Err(NotAccepted::NoIdentity);
        }
        if !meta.is_present() {
            return Err(NotAccepted::NoMeta);
        }
        if meta.schema_version().is_none() {
            return Err(NotAccepted::NoSchemaVersion);
        }
        if self.fields().data.is_none() {
            return Err(NotAccepted::NoData);
        }
        if self.attempts().is_none() {
            return Err(NotAccepted::NoAttempts);
        }
        match self.trace_id() {
            None => Err(NotAccepted::NoTraceId),
            Some(trace_id) if is_blank(trace_id) => Err(NotAccepted::BlankTraceId),
            Some(_) => Ok(()),
        }
    }

    /// Whether [`accept`](Self::accept) has no objection.
    pub fn accepts(&self) -> bool {
        self.accept().is_ok()
    }
}
