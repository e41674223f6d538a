//! The identity fold: which of `job` and `urn` names the message, and which warnings that gives.

use std::borrow::Cow;

use super::blank::is_blank;
use super::error::DecodeError;
use super::json::{Cursor, Members, Str, unescape};
use super::parts::{Candidate, Parts};
use super::warning::{Warning, WarningKind};

/// Where the identity came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A valid `job`; any `urn` is dropped.
    Job,
    /// No valid `job`, a valid `urn`, which becomes `job`.
    Urn,
    /// Neither is valid.
    None,
}

/// The outcome of the fold.
pub(super) struct Identity {
    pub(super) source: Source,
    pub(super) token: Option<Str>,
}

/// Folds `job` and `urn` by the table of SPEC §1.5.
pub(super) fn fold(parts: &Parts, text: &str) -> Identity {
    let valid = |candidate| match candidate {
        Candidate::Text(token) if is_valid(token, text) => Some(token),
        _ => None,
    };
    let (source, token) = match (valid(parts.job), valid(parts.urn)) {
        (Some(job), _) => (Source::Job, Some(job)),
        (None, Some(urn)) => (Source::Urn, Some(urn)),
        (None, None) => (Source::None, None),
    };
    Identity { source, token }
}

fn is_valid(token: Str, text: &str) -> bool {
    let raw = token.inner.of(text);
    let value = if token.escaped {
        Cow::Owned(unescape(raw))
    } else {
        Cow::Borrowed(raw)
    };
    !is_blank(&value)
}

/// Checks a scanned body for everything that makes it poison, the identity last.
pub(super) fn check(parts: &Parts, text: &str) -> Result<Identity, DecodeError> {
    if let Some(defect) = &parts.defect {
        return Err(defect.clone());
    }
    let identity = fold(parts, text);
    if identity.source == Source::None {
        return Err(if is_sns_notification(text) {
            DecodeError::SnsNotification
        } else {
            DecodeError::NoIdentity
        });
    }
    Ok(identity)
}

/// The warnings of a decoded body, in the order of the encoder's tests.
pub(super) fn warnings(parts: &Parts, source: Source) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for pointer in parts.forbidden.pointers() {
        warnings.push(Warning {
            kind: WarningKind::ForbiddenMember,
            pointer,
        });
    }
    if source == Source::Job && !matches!(parts.urn, Candidate::Absent) {
        warnings.push(Warning {
            kind: WarningKind::UrnDropped,
            pointer: "/urn",
        });
    }
    if matches!(parts.job, Candidate::NotAString) {
        warnings.push(Warning {
            kind: WarningKind::JobIgnored,
            pointer: "/job",
        });
    }
    warnings
}

/// Whether a body without identity is the wrapper that Amazon SNS puts around a message when raw
/// delivery is off.
fn is_sns_notification(text: &str) -> bool {
    let mut cursor = Cursor::new(text);
    cursor.skip_blanks();
    let Ok(mut members) = Members::open(&mut cursor) else {
        return false;
    };
    let (mut notification, mut topic, mut message) = (false, false, false);
    while let Ok(Some(member)) = members.next(&mut cursor) {
        let Ok(value) = cursor.skip_value() else {
            return false;
        };
        match &*member.name(text) {
            "Type" => notification = value.of(text) == "\"Notification\"",
            "TopicArn" => topic = true,
            "Message" => message = true,
            _ => {}
        }
    }
    notification && topic && message
}
