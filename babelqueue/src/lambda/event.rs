//! The event that Lambda hands over: read so that one odd record spoils neither its siblings nor
//! the answer, and so that what is no SQS event is never taken for an empty one (SPEC §4.2).

use std::fmt;

use aws_lambda_events::sqs as wire;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserialize, Deserializer, Error as _};
use serde_json::{Map, Value};

use crate::pipeline::{Attribute, DeliveryNumber, Record, Value as AttributeValue};
use crate::policy::is_fifo;

/// An SQS event: what [`LambdaConsumer::handle`](super::LambdaConsumer::handle) takes. It is read
/// from JSON with serde, from a `serde_json::Value`, or from the types of `aws_lambda_events`.
#[derive(Clone, Debug, Default)]
pub struct Event {
    records: Vec<EventRecord>,
}

/// One record of an [`Event`].
#[derive(Clone)]
pub struct EventRecord {
    pub(super) message_id: String,
    pub(super) body: String,
    pub(super) receipt_handle: String,
    pub(super) arn: String,
    pub(super) group_id: Option<String>,
    receive_count: Option<String>,
    sent_at: Option<u64>,
    first_received_at: Option<u64>,
    attributes: Vec<Attribute>,
    /// Why it cannot be handled; it fails alone.
    pub(super) defect: Option<RecordError>,
}

/// A record that lacks what every record must have: it fails alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record cannot be handled: `{member}` is missing or has the wrong type")]
pub struct RecordError {
    member: &'static str,
}

/// What was handed over is no SQS event: the invocation fails, before any handler runs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// `Records` is no array.
    #[error(
        "this is no SQS event, because `Records` is not an array: an event source mapping sends \
         `{{\"Records\":[{{\"messageId\":…,\"body\":…}}]}}`, not what `ReceiveMessage` answers"
    )]
    NoRecords,
    /// A record without an id, which the answer could not name.
    #[error(
        "record {at} of the event has no `messageId`: it could not be reported, and every \
         message of the event would count as handled"
    )]
    NoMessageId {
        /// Its place in the event, from 0.
        at: usize,
    },
}

impl Event {
    /// The records, in the order of the event.
    pub fn records(&self) -> &[EventRecord] {
        &self.records
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub(super) fn into_records(self) -> Vec<EventRecord> {
        self.records
    }
}

impl TryFrom<Value> for Event {
    type Error = EventError;

    fn try_from(event: Value) -> Result<Self, EventError> {
        let Value::Object(mut event) = event else {
            return Err(EventError::NoRecords);
        };
        let Some(Value::Array(records)) = event.remove("Records") else {
            return Err(EventError::NoRecords);
        };
        let records = records.into_iter().enumerate();
        let records = records
            .map(|(at, record)| EventRecord::read(record).ok_or(EventError::NoMessageId { at }));
        let mut records: Vec<_> = records.collect::<Result<_, _>>()?;
        // All records of an event come from one queue: whether its groups have an order is known
        // of a record that does not say.
        let known = records.iter().find(|record| !record.arn.is_empty());
        if let Some(arn) = known.map(|record| record.arn.clone()) {
            let unknown = records.iter_mut().filter(|record| record.arn.is_empty());
            unknown.for_each(|record| record.arn.clone_from(&arn));
        }
        Ok(Self { records })
    }
}

impl TryFrom<wire::SqsEvent> for Event {
    type Error = EventError;

    fn try_from(event: wire::SqsEvent) -> Result<Self, EventError> {
        // Its JSON is what it was read from.
        let event = serde_json::to_value(event).map_err(|_| EventError::NoRecords)?;
        Self::try_from(event)
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl EventRecord {
    /// `None` when it has no id.
    fn read(record: Value) -> Option<Self> {
        let Value::Object(mut record) = record else {
            return None;
        };
        let message_id = text(&mut record, "messageId").filter(|id| !id.is_empty())?;
        let mut defect = None;
        let mut required = |member: &'static str| {
            let text = text(&mut record, member);
            if text.is_none() {
                defect.get_or_insert(RecordError { member });
            }
            text.unwrap_or_default()
        };
        let body = required("body");
        let receipt_handle = required("receiptHandle");
        let arn = required("eventSourceARN");
        let mut system = match record.remove("attributes") {
            Some(Value::Object(system)) => system,
            _ => Map::new(),
        };
        let millis = |text: Option<String>| text.and_then(|millis| millis.parse().ok());
        let attributes = match record.remove("messageAttributes") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Object(attributes)) => message_attributes(attributes),
            Some(_) => {
                let member = "messageAttributes";
                defect.get_or_insert(RecordError { member });
                Vec::new()
            }
        };
        Some(Self {
            message_id,
            body,
            receipt_handle,
            arn,
            group_id: text(&mut system, "MessageGroupId"),
            receive_count: text(&mut system, "ApproximateReceiveCount"),
            sent_at: millis(text(&mut system, "SentTimestamp")),
            first_received_at: millis(text(&mut system, "ApproximateFirstReceiveTimestamp")),
            attributes,
            defect,
        })
    }

    /// `messageId`.
    pub fn message_id(&self) -> &str {
        &self.message_id
    }

    /// The body as it came.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// ARN of the queue that it came from.
    pub fn event_source_arn(&self) -> &str {
        &self.arn
    }

    /// `MessageGroupId`, if it has one.
    pub fn group_id(&self) -> Option<&str> {
        self.group_id.as_deref()
    }

    /// A message attribute that is text.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        attributes
            .find(|attribute| attribute.name == name)?
            .as_text()
    }

    /// Which receive of the message this is, from 1 (SPEC §4.7): `ApproximateReceiveCount` if it
    /// is a decimal integer above 0, else 1.
    pub fn attempt(&self) -> u64 {
        attempt(self.receive_count.as_deref())
    }

    /// Whether it comes from a FIFO queue: by the queue's name, because messages of standard
    /// queues may have groups too.
    pub fn is_fifo(&self) -> bool {
        is_fifo(&self.arn)
    }

    /// As the pipeline takes it.
    pub(super) fn to_record(&self, body: String) -> Record {
        Record {
            delivery: DeliveryNumber::next(),
            message_id: self.message_id.clone(),
            body,
            attributes: self.attributes.clone(),
            receive_count: self.receive_count.clone(),
            group_id: self.group_id.clone(),
            sent_at: self.sent_at,
            first_received_at: self.first_received_at,
            ..Record::default()
        }
    }
}

impl fmt::Debug for EventRecord {
    /// Leaves the body out: bodies do not belong into logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventRecord")
            .field("message_id", &self.message_id)
            .field("event_source_arn", &self.arn)
            .field("group_id", &self.group_id)
            .field("attempt", &self.attempt())
            .field("body_len", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// [`EventRecord::attempt`] for a record of `aws_lambda_events`.
pub fn attempt_of(record: &wire::SqsMessage) -> u64 {
    let count = record.attributes.get("ApproximateReceiveCount");
    attempt(count.map(String::as_str))
}

fn attempt(receive_count: Option<&str>) -> u64 {
    let record = Record {
        receive_count: receive_count.map(str::to_owned),
        ..Record::default()
    };
    record.receives().unwrap_or(1)
}

fn text(object: &mut Map<String, Value>, member: &str) -> Option<String> {
    match object.remove(member)? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// In the order of their names; an attribute without a value is none.
fn message_attributes(attributes: Map<String, Value>) -> Vec<Attribute> {
    let read = |(name, attribute): (String, Value)| {
        let Value::Object(mut attribute) = attribute else {
            return None;
        };
        let string = text(&mut attribute, "stringValue");
        let binary = text(&mut attribute, "binaryValue");
        let value = match (string, binary) {
            (Some(text), _) => AttributeValue::Text(text),
            (None, Some(base64)) => AttributeValue::Binary(STANDARD.decode(base64).ok()?),
            (None, None) => return None,
        };
        let data_type = text(&mut attribute, "dataType").unwrap_or_else(|| {
            let data_type = match value {
                AttributeValue::Text(_) => "String",
                AttributeValue::Binary(_) => "Binary",
            };
            data_type.to_owned()
        });
        Some(Attribute {
            name,
            data_type,
            value,
        })
    };
    let mut attributes: Vec<_> = attributes.into_iter().filter_map(read).collect();
    attributes.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    attributes
}
