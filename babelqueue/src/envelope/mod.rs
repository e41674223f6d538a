//! The wire contract: what an envelope is, and nothing about how it travels.
//!
//! Everything here is pure. A body is scanned once, iteratively and without building values;
//! an [`Envelope`] keeps its bytes and remembers where things are, so that a payload can be
//! deserialised straight from its slice and whatever is not understood survives a rewrite byte
//! for byte. Section numbers refer to the contract (SPEC).
//!
//! * make: [`Envelope::builder`] · read: [`Envelope::decode`], [`Envelope::accept`] ·
//!   rewrite: [`Envelope::reemit`], [`Envelope::dead_letter_copy`], [`Envelope::redriven`]
//! * bodies that are beyond reading: [`verdict`], [`poison_record`]
//! * beside the body: [`version_gate`], [`reconcile_attempts`], [`projection`], [`Headers`],
//!   [`trace_context`]
//!
//! # Large integers
//! Nothing here passes a number through a double: `data` stays text until the payload type reads
//! it, so that an `i128` or a `u64` beyond 2^53 arrives exactly. Producers and consumers in other
//! languages may hold numbers as doubles, though, and 9007199254740993 comes back from them as
//! 9007199254740992. Send such ids as strings: [`integer_string`] does it for a field, and reads
//! both forms.

mod accept;
mod attempts;
mod blank;
mod dead_letter;
mod decoded;
mod error;
mod fields;
mod gate;
mod headers;
mod identity;
pub mod integer_string;
mod json;
mod make;
mod meta;
mod parts;
mod poison;
mod projection;
mod reemit;
mod text;
pub mod trace_context;
mod warning;

#[cfg(test)]
mod tests;

pub use accept::NotAccepted;
pub use attempts::reconcile_attempts;
pub use blank::{is_blank, trim};
pub use dead_letter::{DeadLetter, Reason};
pub use decoded::Envelope;
pub use error::{DecodeError, EncodeError, MakeError, Undecodable};
pub use gate::{Gate, version_gate};
pub use headers::{Headers, REPLAY_BYPASS};
pub use make::{DataJson, EnvelopeBuilder, meta_to_json, new_id, seed_ids};
pub use meta::Meta;
pub use poison::{poison_attempts, poison_record, verdict};
pub use projection::{
    Attribute, AttributeKind, CONTRACT_ATTRIBUTES, Projection, projection, projection_of,
};
pub use reemit::Patch;
pub use warning::{Warning, WarningKind};

/// The version of the envelope that this crate makes and accepts.
pub const SCHEMA_VERSION: i64 = 1;

/// The language tag of this crate: `meta.lang` and `dead_letter.lang` (SPEC §1.7).
pub const LANG: &str = "rust";

/// `meta.queue` when no queue is given.
pub const DEFAULT_QUEUE: &str = "default";
