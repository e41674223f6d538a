//! Between the SDK's types and ours: received messages become records, attributes go both ways,
//! and the answer of a batch call is sorted by the entries of its request.

use std::collections::HashMap;

use aws_sdk_sqs::error::BuildError;
use aws_sdk_sqs::primitives::Blob;
use aws_sdk_sqs::types::{Message, MessageAttributeValue, MessageSystemAttributeName};

use crate::envelope::CONTRACT_ATTRIBUTES;
use crate::fields;
use crate::lease::Lease;
use crate::pipeline::{Attribute, DeliveryNumber, Record, Value};

/// The record in a received message.
pub(crate) fn record(message: Message) -> Record {
    let (mut receive_count, mut group_id, mut sent_at, mut first) = (None, None, None, None);
    // All of them are taken: to look each up would hash each name again.
    for (name, value) in message.attributes.unwrap_or_default() {
        match name {
            MessageSystemAttributeName::ApproximateReceiveCount => receive_count = Some(value),
            MessageSystemAttributeName::MessageGroupId => group_id = Some(value),
            MessageSystemAttributeName::SentTimestamp => sent_at = Some(value),
            MessageSystemAttributeName::ApproximateFirstReceiveTimestamp => first = Some(value),
            _ => {}
        }
    }
    Record {
        delivery: DeliveryNumber::next(),
        message_id: message.message_id.unwrap_or_default(),
        body: message.body.unwrap_or_default(),
        attributes: from_sdk(message.message_attributes.unwrap_or_default()),
        receive_count,
        group_id,
        visible_after: None,
        lease: Lease::new(),
        #[cfg(feature = "lambda")]
        invocation: None,
        #[cfg(feature = "payload-store")]
        offloaded: None,
        sent_at: sent_at.and_then(|millis: String| millis.parse().ok()),
        first_received_at: first.and_then(|millis: String| millis.parse().ok()),
    }
}

/// What SQS says of a receipt handle, without the handle that it quotes: with it a message can be
/// deleted, so that it must not go into logs.
pub(crate) fn without_handle(text: &str) -> String {
    let quoted = [
        ("Value ", " for parameter ReceiptHandle"),
        ("receipt handle \"", "\""),
    ];
    let cut = |(before, after): (&str, &str)| {
        let from = text.find(before)? + before.len();
        let to = from + text[from..].find(after)?;
        Some([&text[..from], "…", &text[to..]].concat())
    };
    quoted
        .into_iter()
        .find_map(cut)
        .unwrap_or_else(|| text.to_owned())
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
            name: name.into(),
            data_type: attribute.data_type.into(),
            value,
        })
    };
    let mut attributes: Vec<_> = attributes.into_iter().filter_map(convert).collect();
    attributes.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    attributes
}

/// As the SDK sends them; `None` when there are none, so that the request has no such field.
pub(crate) fn to_sdk(
    attributes: impl IntoIterator<Item = Attribute>,
) -> Result<Option<HashMap<String, MessageAttributeValue>>, BuildError> {
    let mut converted = HashMap::new();
    for attribute in attributes {
        let builder = MessageAttributeValue::builder().data_type(attribute.data_type);
        let value = match attribute.value {
            Value::Text(text) => builder.string_value(text),
            Value::Binary(bytes) => builder.binary_value(Blob::new(bytes)),
        };
        if converted.is_empty() {
            // At once, for what most messages have: growing would hash every name again.
            converted.reserve(CONTRACT_ATTRIBUTES.len());
        }
        converted.insert(attribute.name.into_owned(), value.build()?);
    }
    Ok(Some(converted).filter(|converted| !converted.is_empty()))
}

/// Most entries of a batch call.
pub(crate) const BATCH: usize = 10;

/// As many at a time as a batch call takes, in their order.
pub(crate) fn batches<T>(entries: Vec<T>) -> impl Iterator<Item = Vec<T>> {
    let mut entries = entries.into_iter();
    std::iter::from_fn(move || {
        let batch: Vec<_> = entries.by_ref().take(BATCH).collect();
        (!batch.is_empty()).then_some(batch)
    })
}

/// Sorts the answer of a batch call whose entries were numbered from 0, given as what its two
/// lists say of each id; `none` for an entry that stands in neither. An id that was never sent
/// is logged.
pub(crate) fn sort_answer<I: AsRef<str>, R>(
    operation: &'static str,
    entries: usize,
    answer: impl Iterator<Item = (I, R)>,
    none: impl Fn() -> R,
) -> Vec<R> {
    let mut results: Vec<R> = (0..entries).map(|_| none()).collect();
    for (id, result) in answer {
        let id = id.as_ref();
        let place = id.parse::<usize>().ok();
        match place.and_then(|place| results.get_mut(place)) {
            Some(entry) => *entry = result,
            None => tracing::warn!(
                { fields::OPERATION } = operation,
                { fields::ID } = id,
                "the answer names an entry that was not sent"
            ),
        }
    }
    results
}

#[cfg(test)]
mod tests {
    use std::fmt;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn a_receipt_handle_is_taken_out_of_what_is_said_of_it() {
        for (said, told) in [
            (
                "Value AQEB+a/b== for parameter ReceiptHandle is invalid. Reason: It has expired.",
                "Value … for parameter ReceiptHandle is invalid. Reason: It has expired.",
            ),
            (
                "The input receipt handle \"AQEB\" is not a valid receipt handle.",
                "The input receipt handle \"…\" is not a valid receipt handle.",
            ),
            (
                "Value 9 for parameter DelaySeconds is invalid.",
                "Value 9 for parameter DelaySeconds is invalid.",
            ),
            ("for parameter ReceiptHandle", "for parameter ReceiptHandle"),
            ("receipt handle \"", "receipt handle \""),
            ("", ""),
        ] {
            assert_eq!(without_handle(said), told);
        }
    }

    #[test]
    fn c_052_an_answer_is_sorted_by_entry_and_an_id_that_was_never_sent_is_no_entry() {
        let sorted = |answer: &[(&str, char)]| {
            let results = sort_answer("x", 3, answer.iter().copied(), || '?');
            results.into_iter().collect::<String>()
        };
        assert_eq!(sorted(&[("2", 'c'), ("0", 'a'), ("1", 'b')]), "abc");
        assert_eq!(sorted(&[("1", 'b')]), "?b?");
        let log = Arc::new(Log::default());
        let unknown = tracing::subscriber::with_default(Arc::clone(&log), || {
            sorted(&[("3", 'x'), ("-1", 'x'), ("one", 'x'), ("", 'x'), ("0", 'a')])
        });
        assert_eq!(unknown, "a??");
        let lines = log.0.lock().expect("no panic before");
        let logged = |id: &str| lines.iter().filter(|line| line.contains(id)).count();
        assert_eq!(lines.len(), 4, "{lines:?}");
        for id in [
            "id=\"3\"",
            "id=\"-1\"",
            "id=\"one\"",
            "id=\"\"",
            "operation=\"x\"",
        ] {
            let times = if id.starts_with("op") { 4 } else { 1 };
            assert_eq!(logged(id), times, "{id}: {lines:?}");
        }
    }

    /// What is logged.
    #[derive(Default)]
    struct Log(Mutex<Vec<String>>);

    struct Line(String);

    impl tracing::field::Visit for Line {
        fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn fmt::Debug) {
            self.0 += &format!("{field}={value:?} ");
        }
    }

    impl tracing::Subscriber for Log {
        fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
            tracing::span::Id::from_u64(1)
        }

        fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

        fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

        fn event(&self, event: &tracing::Event<'_>) {
            let mut line = Line(String::new());
            event.record(&mut line);
            self.0.lock().expect("no panic before").push(line.0);
        }

        fn enter(&self, _: &tracing::span::Id) {}

        fn exit(&self, _: &tracing::span::Id) {}
    }
}
