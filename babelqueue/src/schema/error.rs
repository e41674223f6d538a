//! Why a payload could not be validated, or was refused.

use std::path::PathBuf;

use super::violation::Violation;

/// A schema that cannot be used, or a payload that is no JSON.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The text of a schema is not JSON.
    #[error("the schema is not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// A schema is neither an object nor `true`.
    #[error("a schema must be a JSON object")]
    NotAnObject,
    /// The schema of one URN cannot be used.
    #[error("the schema of {urn} cannot be used: {source}")]
    OfUrn {
        /// The URN.
        urn: String,
        /// Why.
        source: Box<SchemaError>,
    },
    /// A file of a registry cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A registry's manifest is not what it must be (SPEC §3.8).
    #[error("{} is not a registry manifest: {reason}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What to mend.
        reason: String,
    },
    /// The payload is not JSON text, or holds a string that is not Unicode.
    #[error("the payload is not JSON: {0}")]
    Payload(#[source] serde_json::Error),
}

impl SchemaError {
    pub(super) fn of_urn(self, urn: &str) -> Self {
        Self::OfUrn {
            urn: urn.to_owned(),
            source: Box::new(self),
        }
    }
}

/// A payload that is not published, or not handled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ValidationError {
    /// The payload does not match the schema of its URN.
    #[error("the payload of {urn} is invalid: {violation}")]
    Invalid {
        /// The URN.
        urn: String,
        /// The first violation.
        violation: Violation,
    },
    /// The payload could not be validated.
    #[error("the payload of {urn} cannot be validated: {source}")]
    Unusable {
        /// The URN.
        urn: String,
        /// Why.
        source: SchemaError,
    },
}

impl ValidationError {
    /// The violation, if that is what it was.
    pub fn violation(&self) -> Option<&Violation> {
        match self {
            Self::Invalid { violation, .. } => Some(violation),
            Self::Unusable { .. } => None,
        }
    }
}
