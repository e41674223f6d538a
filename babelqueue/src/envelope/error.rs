//! What can be wrong with a body, and with an envelope that is being made. Every error names the
//! place, says what to do about it, and has a short type name for the `exception` member of a
//! dead letter.

use std::str::Utf8Error;

/// Why a body is poison (SPEC §1.5, §1.8).
///
/// A body that is not JSON is always reported as such, even when a member before the fault has
/// the wrong type too. The text never quotes the body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes are not UTF-8.
    #[error("the body is not valid UTF-8 (after {} bytes); send UTF-8 text", source.valid_up_to())]
    InvalidUtf8 {
        /// Where the text stops being UTF-8.
        #[from]
        source: Utf8Error,
    },
    /// The text is not exactly one RFC 8259 value.
    #[error("the body is not one JSON value: expected {expected} at byte {offset}")]
    NotJson {
        /// Offset of the fault in bytes, from 0.
        offset: usize,
        /// What the grammar allows there.
        expected: &'static str,
    },
    /// The root is some other JSON value than an object.
    #[error("the body is JSON but not an object; an envelope is an object with `job` and `data`")]
    NotAnObject,
    /// A known member has the wrong type; every occurrence of a repeated member counts.
    #[error("`{pointer}` must be {expected}, or null")]
    WrongType {
        /// The member, as an RFC 6901 pointer.
        pointer: &'static str,
        /// The type that the contract gives it.
        expected: &'static str,
    },
    /// A number inside `data` is beyond what a double holds, such as `1e400`.
    #[error(
        "`/data` holds a number that is not a finite double (byte {offset}); send it as a string"
    )]
    NotFinite {
        /// Offset of the number in bytes, from 0.
        offset: usize,
    },
    /// An escape such as `\ud800` without its partner, in a string or a member name.
    #[error("the body holds half of a surrogate pair (byte {offset}), which no text can carry")]
    LoneSurrogate {
        /// Offset of the escape in bytes, from 0.
        offset: usize,
    },
    /// Neither `job` nor `urn` is a string that is not blank.
    #[error("the body names no message: neither `job` nor `urn` is a string that is not blank")]
    NoIdentity,
    /// There is no identity because the body is an Amazon SNS notification around a message.
    #[error(
        "the body is an Amazon SNS notification; enable raw message delivery on the subscription"
    )]
    SnsNotification,
}

impl DecodeError {
    /// The member that is at fault, as an RFC 6901 pointer, where there is one.
    pub const fn pointer(&self) -> Option<&str> {
        match self {
            Self::WrongType { pointer, .. } => Some(pointer),
            Self::NotFinite { .. } => Some("/data"),
            Self::NoIdentity | Self::SnsNotification => Some("/job"),
            _ => None,
        }
    }

    /// The short type name, for the `exception` member of a dead letter.
    pub const fn name(&self) -> &'static str {
        "DecodeError"
    }
}

/// A body that was handed over to be decoded and comes back, with the reason.
#[derive(Clone, thiserror::Error)]
#[error("the body is poison, not an envelope")]
pub struct Undecodable {
    /// The body, untouched.
    pub body: String,
    /// Why it is poison.
    #[source]
    pub error: DecodeError,
}

impl std::fmt::Debug for Undecodable {
    /// Leaves the body out: bodies do not belong into logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Undecodable")
            .field("error", &self.error)
            .field("body_len", &self.body.len())
            .finish()
    }
}

/// Why an envelope could not be made (SPEC §1.3).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MakeError {
    /// The urn is empty after trimming.
    #[error("the urn is blank; name the message, such as `urn:babel:orders:created`")]
    BlankUrn,
    /// A value could not be serialised; NaN and infinity end here.
    #[error("`{pointer}` cannot be written as JSON")]
    Serialize {
        /// The value, as an RFC 6901 pointer, as deep as it is known.
        pointer: String,
        /// What serialisation said.
        source: serde_json::Error,
    },
    /// `data` serialised to something other than a JSON object.
    #[error("`/data` must be a JSON object, not {found}; wrap the value in a struct or a map")]
    DataNotObject {
        /// What it is instead, with its article.
        found: &'static str,
    },
    /// JSON text given as it is, is not one strict value.
    #[error("`{pointer}` is not one JSON value: expected {expected} at byte {offset} of the text")]
    NotJson {
        /// The member, as an RFC 6901 pointer.
        pointer: String,
        /// Offset of the fault in bytes, from 0.
        offset: usize,
        /// What the grammar allows there.
        expected: &'static str,
    },
    /// A number beyond what a double holds.
    #[error("`{pointer}` holds a number that is not a finite double (byte {offset} of its text)")]
    NotFinite {
        /// The member, as an RFC 6901 pointer.
        pointer: String,
        /// Offset of the number in bytes, from 0.
        offset: usize,
    },
    /// Half of a surrogate pair in JSON text given as it is.
    #[error("`{pointer}` holds half of a surrogate pair (byte {offset} of its text)")]
    LoneSurrogate {
        /// The member, as an RFC 6901 pointer.
        pointer: String,
        /// Offset of the escape in bytes, from 0.
        offset: usize,
    },
    /// The key belongs to the envelope itself.
    #[error("`{pointer}` belongs to the envelope itself; choose another key")]
    CoreKey {
        /// The key, as an RFC 6901 pointer.
        pointer: String,
    },
    /// The contract forbids the key in `meta`.
    #[error("`{pointer}` is forbidden by the contract; put vendor data under `meta.ext`")]
    ForbiddenKey {
        /// The key, as an RFC 6901 pointer.
        pointer: String,
    },
    /// The same key was given twice.
    #[error("`{pointer}` was given twice; give each key once, `ext` as a whole")]
    RepeatedKey {
        /// The key, as an RFC 6901 pointer.
        pointer: String,
    },
    /// The envelope was put together but must not be emitted.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

impl MakeError {
    /// The member that is at fault, as an RFC 6901 pointer.
    pub fn pointer(&self) -> Option<&str> {
        match self {
            Self::BlankUrn => Some("/job"),
            Self::DataNotObject { .. } => Some("/data"),
            Self::Serialize { pointer, .. }
            | Self::NotJson { pointer, .. }
            | Self::NotFinite { pointer, .. }
            | Self::LoneSurrogate { pointer, .. }
            | Self::CoreKey { pointer }
            | Self::ForbiddenKey { pointer }
            | Self::RepeatedKey { pointer } => Some(pointer),
            Self::Encode(error) => error.pointer(),
        }
    }

    /// The short type name, for the `exception` member of a dead letter.
    pub const fn name(&self) -> &'static str {
        "MakeError"
    }
}

/// Why an envelope is not emitted (SPEC §1.4).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// It holds a member that the contract forbids on the wire, whatever its origin.
    #[error("`{pointer}` is forbidden on the wire; remove it from the preserved extras")]
    Forbidden {
        /// The first such member, as an RFC 6901 pointer.
        pointer: &'static str,
    },
}

impl EncodeError {
    /// The member that is at fault, as an RFC 6901 pointer.
    pub const fn pointer(&self) -> Option<&str> {
        match self {
            Self::Forbidden { pointer } => Some(pointer),
        }
    }

    /// The short type name, for the `exception` member of a dead letter.
    pub const fn name(&self) -> &'static str {
        "EncodeError"
    }
}
