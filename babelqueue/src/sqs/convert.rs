//! Between the SDK's types and ours: received messages become records, attributes go both ways,
//! and the answer of a batch call is sorted by the entries of its request.

use std::collections::HashMap;

use aws_sdk_sqs::error::BuildError;
use aws_sdk_sqs::primitives::Blob;
use aws_sdk_sqs::types::{Message, MessageAttributeValue, MessageSystemAttributeName};

use crate::lease::Lease;
use crate::pipeline::{Attribute, DeliveryNumber, Record, Value};

/// The record in a received message.
pub(super) fn record(message: Message) -> Record {
    let mut system = message.attributes.unwrap_or_default();
    let mut take = |name| system.remove(&name);
    let receive_count = take(MessageSystemAttributeName::ApproximateReceiveCount);
    let group_id = take(MessageSystemAttributeName::MessageGroupId);
    let sent_at = take(MessageSystemAttributeName::SentTimestamp);
    let first = take(MessageSystemAttributeName::ApproximateFirstReceiveTimestamp);
    Record {
        delivery: DeliveryNumber::next(),
        message_id: message.message_id.unwrap_or_default(),
        body: message.body.unwrap_or_default(),
        attributes: from_sdk(message.message_attributes.unwrap_or_default()),
        receive_count,
        group_id,
        visible_after: None,
        lease: Lease::new(),
        sent_at: sent_at.and_then(|millis| millis.parse().ok()),
        first_received_at: first.and_then(|millis| millis.parse().ok()),
    }
}

/// In the order of the names: the SDK's map has a random one.
fn from_sdk(attributes: HashMap<String, MessageAttributeValue>) -> Vec<Attribute> {
    let convert = |(name, attribute): (String, MessageAttributeValue)| {
        let value = match (attribute.string_value, attribute.binary_value) {
            (Some(text), _) => Value::Text(text),
            (None, Some(bytes)) => Value::Binary(bytes.into_inner()),
            // SQS does not deliver an attribute without a value.
            (None, None) => return None,
        };
        Some(Attribute {
            name,
            data_type: attribute.data_type,
            value,
        })
    };
    let mut attributes: Vec<_> = attributes.into_iter().filter_map(convert).collect();
    attributes.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    attributes
}

/// As the SDK sends them; `None` when there are none, so that the request has no such field.
pub(super) fn to_sdk(
    attributes: Vec<Attribute>,
) -> Result<Option<HashMap<String, MessageAttributeValue>>, BuildError> {
    let convert = |attribute: Attribute| -> Result<_, BuildError> {
        let builder = MessageAttributeValue::builder().data_type(attribute.data_type);
        let value = match attribute.value {
            Value::Text(text) => builder.string_value(text),
            Value::Binary(bytes) => builder.binary_value(Blob::new(bytes)),
        };
        Ok((attribute.name, value.build()?))
    };
    let attributes = attributes
        .into_iter()
        .map(convert)
        .collect::<Result<HashMap<_, _>, _>>()?;
    Ok((!attributes.is_empty()).then_some(attributes))
}

/// Sorts the answer of a batch call whose entries were numbered from 0, given as what its two
/// lists say of each id; `none` for an entry that stands in neither. An id that was never sent
/// is logged.
pub(super) fn sort_answer<R>(
    operation: &'static str,
    entries: usize,
    answer: impl Iterator<Item = (String, R)>,
    none: impl Fn() -> R,
) -> Vec<R> {
    let mut results: Vec<R> = (0..entries).map(|_| none()).collect();
    for (id, result) in answer {
        let place = id.parse::<usize>().ok();
        match place.and_then(|place| results.get_mut(place)) {
            Some(entry) => *entry = result,
            None => tracing::warn!(operation, id, "the answer names an entry that was not sent"),
        }
    }
    results
}
