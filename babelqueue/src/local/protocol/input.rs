//! Requests as JSON has them. A field that is missing is `None`; what that means
//! is decided where the request is carried out. Unknown fields are passed over.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::object::Object;
use crate::local::engine::attribute::RawAttribute;
use crate::local::engine::error::{ApiResult, Kind, missing};
use crate::local::engine::send::Send;

pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> ApiResult<T> {
    let body = if body.is_empty() { b"{}" } else { body };
    let parsed: Result<Object<T>, _> = serde_json::from_slice(body);
    parsed.map(|it| it.0).map_err(|error| {
        Kind::Serialization.error(format!(
            "The request is not what its operation takes: {error}"
        ))
    })
}

pub(crate) fn require<T>(value: Option<T>, name: &str) -> ApiResult<T> {
    value.ok_or_else(|| missing(name))
}

/// As [`require`], for lists and maps that must not be empty either.
pub(crate) fn require_some<T>(value: Option<T>, name: &str) -> ApiResult<T>
where
    for<'a> &'a T: IntoIterator,
{
    let some = value.filter(|value| value.into_iter().next().is_some());
    require(some, name)
}

/// The queue URL of any request, for the fault plan.
pub(crate) fn queue_url(body: &[u8]) -> Option<String> {
    parse::<QueueOnly>(body).ok()?.queue_url
}

type Map<T> = Option<BTreeMap<String, T>>;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct QueueOnly {
    pub(crate) queue_url: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct CreateQueue {
    pub(crate) queue_name: Option<String>,
    pub(crate) attributes: Map<String>,
    #[serde(rename = "tags")]
    pub(crate) tags: Map<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct GetQueueUrl {
    pub(crate) queue_name: Option<String>,
    #[serde(rename = "QueueOwnerAWSAccountId")]
    pub(crate) owner: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ListQueues {
    pub(crate) queue_url: Option<String>,
    pub(crate) queue_name_prefix: Option<String>,
    pub(crate) max_results: Option<i64>,
    pub(crate) next_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct GetAttributes {
    pub(crate) queue_url: Option<String>,
    pub(crate) attribute_names: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct SetAttributes {
    pub(crate) queue_url: Option<String>,
    pub(crate) attributes: Map<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Tags {
    pub(crate) queue_url: Option<String>,
    pub(crate) tags: Map<String>,
    pub(crate) tag_keys: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct AttributeValue {
    data_type: Option<String>,
    string_value: Option<String>,
    binary_value: Option<String>,
    string_list_values: Option<Vec<String>>,
    binary_list_values: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct SendMessage {
    pub(crate) id: Option<String>,
    pub(crate) queue_url: Option<String>,
    message_body: Option<String>,
    delay_seconds: Option<i64>,
    message_attributes: Map<Object<AttributeValue>>,
    message_system_attributes: Map<Object<AttributeValue>>,
    message_group_id: Option<String>,
    message_deduplication_id: Option<String>,
}

impl SendMessage {
    /// The message that is to be sent, by a request with this `X-Amzn-Trace-Id`.
    pub(crate) fn send(self, trace_header: Option<&str>) -> ApiResult<Send> {
        Ok(Send {
            body: require(self.message_body, "MessageBody")?,
            delay: self.delay_seconds,
            attributes: raw_attributes(self.message_attributes)?,
            system: raw_attributes(self.message_system_attributes)?,
            group: self.message_group_id,
            dedup: self.message_deduplication_id,
            trace_header: trace_header.map(str::to_owned),
        })
    }
}

fn raw_attributes(map: Map<Object<AttributeValue>>) -> ApiResult<BTreeMap<String, RawAttribute>> {
    map.unwrap_or_default()
        .into_iter()
        .map(|(name, Object(value))| {
            let binary = value
                .binary_value
                .map(|text| STANDARD.decode(text))
                .transpose();
            let binary = binary.map_err(|_| {
                Kind::Serialization.error(format!("The binary value of '{name}' is not base64."))
            })?;
            let lists = [&value.string_list_values, &value.binary_list_values];
            let raw = RawAttribute {
                data_type: value.data_type,
                text: value.string_value,
                binary,
                has_lists: lists.into_iter().flatten().any(|list| !list.is_empty()),
            };
            Ok((name, raw))
        })
        .collect()
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
#[serde(bound = "E: Deserialize<'de>")]
pub(crate) struct Batch<E> {
    pub(crate) queue_url: Option<String>,
    entries: Option<Vec<Object<E>>>,
}

impl<E> Batch<E> {
    /// The entries in their order; none when the list is missing.
    pub(crate) fn entries(self) -> impl Iterator<Item = E> {
        self.entries.into_iter().flatten().map(|entry| entry.0)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Handle {
    pub(crate) id: Option<String>,
    pub(crate) queue_url: Option<String>,
    pub(crate) receipt_handle: Option<String>,
    pub(crate) visibility_timeout: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ReceiveMessage {
    pub(crate) queue_url: Option<String>,
    pub(crate) attribute_names: Option<Vec<String>>,
    pub(crate) message_system_attribute_names: Option<Vec<String>>,
    pub(crate) message_attribute_names: Option<Vec<String>>,
    pub(crate) max_number_of_messages: Option<i64>,
    pub(crate) visibility_timeout: Option<i64>,
    pub(crate) wait_time_seconds: Option<i64>,
    pub(crate) receive_request_attempt_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct MoveTask {
    pub(crate) source_arn: Option<String>,
    pub(crate) destination_arn: Option<String>,
    pub(crate) max_number_of_messages_per_second: Option<i64>,
    pub(crate) max_results: Option<i64>,
    pub(crate) task_handle: Option<String>,
}
