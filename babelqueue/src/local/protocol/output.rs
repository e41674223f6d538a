//! Answers as JSON has them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::errors;
use super::filter::Filter;
use crate::local::clock::Wall;
use crate::local::engine::attribute::{self, AttributeRef, ValueRef};
use crate::local::engine::batch::BatchResult;
use crate::local::engine::error::ApiError;
use crate::local::engine::message::{Received, sequence_text};
use crate::local::engine::move_task::{Status, Task};
use crate::local::engine::send::Sent;
use crate::local::hex;

/// Who is said to have sent every message.
const SENDER_ID: &str = "AIDALOCALSQSLOCALSQS0";

/// Serializes an answer. The answers below hold nothing that JSON cannot.
pub(crate) fn json(answer: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(answer).unwrap_or_default()
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct QueueUrl {
    pub(crate) queue_url: String,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Attributes {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) attributes: BTreeMap<String, String>,
}

#[derive(Serialize)]
pub(crate) struct ErrorBody<'a> {
    #[serde(rename = "__type")]
    pub(crate) json_type: &'a str,
    pub(crate) message: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct SentMessage {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    message_id: String,
    #[serde(rename = "MD5OfMessageBody")]
    body_md5: String,
    #[serde(
        rename = "MD5OfMessageAttributes",
        skip_serializing_if = "Option::is_none"
    )]
    attributes_md5: Option<String>,
    #[serde(
        rename = "MD5OfMessageSystemAttributes",
        skip_serializing_if = "Option::is_none"
    )]
    system_md5: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence_number: Option<String>,
}

impl SentMessage {
    pub(crate) fn new(id: Option<String>, sent: &Sent) -> Self {
        Self {
            id,
            message_id: sent.id.to_string(),
            body_md5: hex(&sent.md5),
            attributes_md5: sent.attributes_md5.map(|md5| hex(&md5)),
            system_md5: sent.system_md5.map(|md5| hex(&md5)),
            sequence_number: sent.sequence.map(sequence_text),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct FailedEntry {
    pub(crate) id: String,
    pub(crate) sender_fault: bool,
    pub(crate) code: String,
    pub(crate) message: String,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct DoneEntry {
    id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct BatchAnswer<T> {
    successful: Vec<T>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed: Vec<FailedEntry>,
}

pub(crate) fn batch<T, S: Serialize>(
    result: BatchResult<T>,
    success: impl Fn(String, T) -> S,
) -> Vec<u8> {
    let mut answer = BatchAnswer {
        successful: Vec::new(),
        failed: Vec::new(),
    };
    for (id, result) in result {
        match result {
            Ok(value) => answer.successful.push(success(id, value)),
            Err(error) => answer.failed.push(failed(id, error)),
        }
    }
    json(&answer)
}

pub(crate) fn done(id: String, (): ()) -> DoneEntry {
    DoneEntry { id }
}

fn failed(id: String, error: ApiError) -> FailedEntry {
    FailedEntry {
        id,
        sender_fault: true,
        code: errors::entry_code(&error).to_owned(),
        message: error.message,
    }
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct MessageOut<'a> {
    message_id: String,
    receipt_handle: &'a str,
    #[serde(rename = "MD5OfBody")]
    body_md5: String,
    body: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "as_map")]
    attributes: Vec<(&'static str, String)>,
    #[serde(
        rename = "MD5OfMessageAttributes",
        skip_serializing_if = "Option::is_none"
    )]
    attributes_md5: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_attributes: Option<BTreeMap<&'a str, AttributeOut<'a>>>,
}

fn as_map<S: serde::Serializer>(
    pairs: &[(&'static str, String)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct AttributeOut<'a> {
    data_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    string_value: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    binary_value: Option<String>,
}

impl<'a> From<AttributeRef<'a>> for AttributeOut<'a> {
    fn from(attribute: AttributeRef<'a>) -> Self {
        let (string_value, binary_value) = match attribute.value {
            ValueRef::Text(text) => (Some(text), None),
            ValueRef::Binary(bytes) => (None, Some(STANDARD.encode(bytes))),
        };
        Self {
            data_type: attribute.data_type,
            string_value,
            binary_value,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct MessagesOut<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    messages: Vec<MessageOut<'a>>,
}

pub(crate) fn messages(received: &[Received], filter: &Filter, wall: Wall) -> Vec<u8> {
    let messages = received
        .iter()
        .map(|it| message(it, filter, wall))
        .collect();
    json(&MessagesOut { messages })
}

fn message<'a>(received: &'a Received, filter: &Filter, wall: Wall) -> MessageOut<'a> {
    let message = &received.message;
    let mut message_attributes = None;
    let mut attributes_md5 = None;
    if let Some(all) = &message.attributes {
        let wanted: Vec<_> = all.iter().filter(|it| filter.wants(it.name)).collect();
        if !wanted.is_empty() {
            attributes_md5 = Some(hex(&attribute::md5(wanted.iter().copied())));
            message_attributes = Some(wanted.into_iter().map(|it| (it.name, it.into())).collect());
        }
    }
    MessageOut {
        message_id: message.id.to_string(),
        receipt_handle: &received.handle,
        body_md5: hex(&message.md5),
        body: &message.body,
        attributes: system_attributes(received, filter, wall),
        attributes_md5,
        message_attributes,
    }
}

fn system_attributes(
    received: &Received,
    filter: &Filter,
    wall: Wall,
) -> Vec<(&'static str, String)> {
    super::filter::SYSTEM_NAMES
        .into_iter()
        .filter(|name| filter.wants_system(name))
        .filter_map(|name| Some((name, system_attribute(received, name, wall)?)))
        .collect()
}

fn system_attribute(received: &Received, name: &str, wall: Wall) -> Option<String> {
    let message = &received.message;
    match name {
        "SenderId" => Some(SENDER_ID.to_owned()),
        "SentTimestamp" => Some(wall.millis(message.sent).to_string()),
        "ApproximateReceiveCount" => Some(message.receives.to_string()),
        "ApproximateFirstReceiveTimestamp" => Some(wall.millis(message.first_received).to_string()),
        "SequenceNumber" => received.sequence.map(sequence_text),
        "MessageDeduplicationId" => message.dedup.text(&message.body).map(Cow::into_owned),
        "MessageGroupId" => message.group.as_deref().map(str::to_owned),
        "AWSTraceHeader" => message.trace_header().map(str::to_owned),
        "DeadLetterQueueSourceArn" => message.dead_letter_source().map(|it| it.to_string()),
        _ => None,
    }
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct TaskOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    task_handle: Option<&'a str>,
    status: &'static str,
    source_arn: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    destination_arn: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_number_of_messages_per_second: Option<u32>,
    approximate_number_of_messages_moved: u64,
    approximate_number_of_messages_to_move: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure_reason: Option<&'static str>,
    started_timestamp: u64,
}

pub(crate) fn tasks(tasks: &[Task], wall: Wall) -> Vec<u8> {
    let results: Vec<_> = tasks
        .iter()
        .map(|task| TaskOut {
            // The handle serves to cancel, so that only a running task shows it.
            task_handle: (task.status == Status::Running).then_some(&task.handle),
            status: task.status.text(),
            source_arn: &task.source_arn,
            destination_arn: task.destination_arn.as_deref(),
            max_number_of_messages_per_second: task.rate,
            approximate_number_of_messages_moved: task.moved,
            approximate_number_of_messages_to_move: task.to_move,
            failure_reason: task.failure,
            started_timestamp: wall.millis(task.started),
        })
        .collect();
    json(&serde_json::json!({ "Results": results }))
}
