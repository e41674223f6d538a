//! Asks the decoders one after the other, each about what the one before took out.

use std::sync::Arc;

use super::{Decode, Decoded, Foreign, Inner};
use crate::BoxError;
use crate::envelope::{Envelope, Gate, Undecodable, version_gate};
use crate::panics::fenced;
use crate::pipeline::attribute::Attribute;
use crate::pipeline::record::{Record, declared_version};

/// A decoder could not read what was its own.
#[derive(Debug, thiserror::Error)]
#[error("the body cannot be decoded: {0}")]
pub(crate) struct ForeignError(#[source] pub(crate) BoxError);

/// What the decoders made of a message. Taken apart where it is made.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Unfolded {
    /// It is nobody's.
    NotMine,
    /// It is not wanted.
    Skipped,
    /// The version attribute that it carries inside is not 1.
    Gated { declared: String },
    /// What it turned out to be, with the attributes that count.
    Read {
        result: Result<Envelope, Undecodable>,
        attributes: Vec<Attribute>,
    },
}

/// Unfolds a body that is no acceptable envelope.
pub(crate) fn unfold(
    body: &str,
    record: &Record,
    queue: &str,
    decoders: &[Arc<dyn Decode>],
) -> Result<Unfolded, ForeignError> {
    let mut attributes = record.attributes.clone();
    let mut inner: Option<String> = None;
    for decoder in decoders {
        let message = Foreign {
            body: inner.as_deref().unwrap_or(body),
            attributes: &attributes,
            queue,
            message_id: &record.message_id,
            sent_at: record.sent_at.and_then(|millis| millis.try_into().ok()),
        };
        let decoded =
            fenced(|| decoder.decode(&message)).unwrap_or_else(|panicked| Err(panicked.into()));
        match decoded.map_err(ForeignError)? {
            Decoded::NotMine => {}
            Decoded::Skip => return Ok(Unfolded::Skipped),
            Decoded::Message(envelope) => {
                return Ok(Unfolded::Read {
                    result: Ok(*envelope),
                    attributes,
                });
            }
            Decoded::Inner(Inner {
                body,
                attributes: own,
            }) => {
                overlay(&mut attributes, own);
                if let Gate::Reject { declared } = version_gate(declared_version(&attributes)) {
                    return Ok(Unfolded::Gated { declared });
                }
                match Envelope::read(body) {
                    // An envelope needs no other decoder.
                    result @ Ok(_) if is_own(&result) => {
                        return Ok(Unfolded::Read { result, attributes });
                    }
                    Ok(envelope) => inner = Some(envelope.into_body()),
                    Err(undecodable) => inner = Some(undecodable.body),
                }
            }
        }
    }
    Ok(match inner {
        None => Unfolded::NotMine,
        Some(body) => Unfolded::Read {
            result: Envelope::read(body),
            attributes,
        },
    })
}

/// Whether the contract alone decides about what was decoded: it is acceptable, or of another
/// version.
pub(crate) fn is_own(result: &Result<Envelope, Undecodable>) -> bool {
    use crate::envelope::NotAccepted;
    let Ok(envelope) = result else { return false };
    matches!(
        envelope.accept(),
        Ok(()) | Err(NotAccepted::UnsupportedVersion(_))
    )
}

/// Lays attributes over others, in the order of the names.
fn overlay(attributes: &mut Vec<Attribute>, over: Vec<Attribute>) {
    for attribute in over {
        attributes.retain(|other| other.name != attribute.name);
        attributes.push(attribute);
    }
    attributes.sort_unstable_by(|a, b| a.name.cmp(&b.name));
}
