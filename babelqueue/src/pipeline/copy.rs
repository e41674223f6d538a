//! The message that goes to the dead-letter queue (SPEC §2.15): body, attributes, group and
//! deduplication id. Pure.

use super::attribute::{
    Attribute, MAX_ATTRIBUTES, Value, check_header_name, is_library_header, refused_character,
    size_of_message,
};
use super::failure::CopyError;
use super::record::Record;
use crate::envelope::{CONTRACT_ATTRIBUTES, DeadLetter, Envelope, poison_record, projection};

/// A message for the dead-letter queue, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeadLetterMessage {
    pub(crate) body: String,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) group_id: Option<String>,
    pub(crate) deduplication_id: Option<String>,
    /// Names of attributes that had no place or that SQS refuses, to be reported.
    pub(crate) dropped: Vec<String>,
}

/// What is copied.
pub(super) enum Original<'a> {
    /// The body as it is.
    Raw(&'a str),
    /// A body that no handler may have.
    Poison(&'a str),
    /// An envelope, with the top-level attempts of its copy.
    Annotated {
        envelope: &'a Envelope,
        attempts: i64,
    },
}

/// Where the copy goes.
pub(super) struct Destination<'a> {
    /// Whether the dead-letter queue is a FIFO queue.
    pub(super) fifo: bool,
    /// Name of the queue consumed from.
    pub(super) source_queue: &'a str,
    pub(super) max_bytes: usize,
}

/// Makes the message. `block` is what the copy says of itself; a raw one says nothing.
pub(super) fn dead_letter_message(
    original: &Original<'_>,
    mut block: DeadLetter,
    record: &Record,
    to: &Destination<'_>,
) -> Result<DeadLetterMessage, CopyError> {
    let (attributes, dropped) = match original {
        Original::Raw(_) | Original::Poison(_) => (record.attributes.clone(), Vec::new()),
        Original::Annotated { envelope, .. } => annotated_attributes(envelope, record),
    };
    let mut body = write_body(original, &block, record)?;
    if size_of_message(&body, &attributes) > to.max_bytes && block.error.is_some() {
        // The text of the error is the one part that the record can do without.
        block.error = None;
        body = write_body(original, &block, record)?;
    }
    let actual = size_of_message(&body, &attributes);
    if actual > to.max_bytes {
        return Err(CopyError::TooLarge {
            actual,
            allowed: to.max_bytes,
        });
    }
    let group_id = match &record.group_id {
        Some(group_id) => Some(group_id.clone()),
        None => to.fifo.then(|| to.source_queue.to_owned()),
    };
    let deduplication_id = to.fifo.then(|| record.message_id.clone());
    Ok(DeadLetterMessage {
        body,
        attributes,
        group_id,
        deduplication_id,
        dropped,
    })
}

fn write_body(
    original: &Original<'_>,
    block: &DeadLetter,
    record: &Record,
) -> Result<String, CopyError> {
    #[cfg(feature = "payload-store")]
    if let Some(offloaded) = &record.offloaded {
        return Ok(match original {
            Original::Raw(_) => offloaded.body().to_owned(),
            Original::Poison(_) | Original::Annotated { .. } => offloaded.copy(block),
        });
    }
    #[cfg(not(feature = "payload-store"))]
    let _ = record;
    Ok(match original {
        Original::Raw(body) => (*body).to_owned(),
        Original::Poison(body) => poison_record(body.as_bytes(), block),
        Original::Annotated { envelope, attempts } => {
            envelope.dead_letter_copy(block, *attempts)?
        }
    })
}

/// The six of the contract, projected anew, then the riders in the order of their names as far
/// as there is room, the library's own last. Returns what was left out, too.
fn annotated_attributes(envelope: &Envelope, record: &Record) -> (Vec<Attribute>, Vec<String>) {
    let mut dropped = Vec::new();
    let mut attributes = Vec::with_capacity(MAX_ATTRIBUTES);
    for attribute in projection(envelope) {
        if refused_character(&attribute.value).is_some() {
            dropped.push(attribute.name.to_owned());
            continue;
        }
        let data_type = attribute.kind.as_str();
        attributes.push(Attribute::text(attribute.name, data_type, attribute.value));
    }
    let is_rider = |rider: &&Attribute| !CONTRACT_ATTRIBUTES.contains(&&*rider.name);
    let riders = record.attributes.iter().filter(is_rider);
    let (library, own): (Vec<_>, Vec<_>) = riders.partition(|rider| is_library_header(&rider.name));
    for rider in own.into_iter().chain(library) {
        if attributes.len() < MAX_ATTRIBUTES && is_sendable(rider) {
            attributes.push(rider.clone());
        } else {
            dropped.push(rider.name.to_string());
        }
    }
    (attributes, dropped)
}

/// Whether SQS takes the attribute back.
fn is_sendable(attribute: &Attribute) -> bool {
    let value = match &attribute.value {
        Value::Text(text) => !text.is_empty() && refused_character(text).is_none(),
        Value::Binary(bytes) => !bytes.is_empty(),
    };
    value && check_header_name(&attribute.name).is_ok()
}

#[cfg(test)]
#[path = "copy_tests.rs"]
mod tests;
