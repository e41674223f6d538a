//! The loop that one would write by hand for a single purpose: the same envelope and attributes,
//! ten messages a call. No checks, no retries, no order, no backpressure.

use std::time::{SystemTime, UNIX_EPOCH};

use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::{MessageAttributeValue, SendMessageBatchRequestEntry};
use babelqueue::envelope::new_id;
use serde::Serialize;

use crate::Result;
use crate::order::{Order, order};

#[derive(Serialize)]
struct Envelope<'a> {
    job: &'a str,
    trace_id: &'a str,
    data: &'a Order,
    meta: Meta<'a>,
    attempts: i64,
}

#[derive(Serialize)]
struct Meta<'a> {
    id: &'a str,
    queue: &'a str,
    lang: &'a str,
    schema_version: i64,
    created_at: u128,
}

pub(crate) async fn publish(
    client: Client,
    url: String,
    messages: std::ops::Range<usize>,
) -> Result<()> {
    let ids: Vec<usize> = messages.collect();
    for ten in ids.chunks(10) {
        let entries = ten.iter().enumerate().map(|(place, id)| entry(place, *id));
        let entries = entries.collect::<Result<Vec<_>>>()?;
        let send = client.send_message_batch().queue_url(&url);
        let answer = send.set_entries(Some(entries)).send().await?;
        if answer.successful().len() != ten.len() {
            return Err("a message was not sent".into());
        }
    }
    Ok(())
}

fn entry(place: usize, order_id: usize) -> Result<SendMessageBatchRequestEntry> {
    let (id, trace_id) = (new_id(), new_id());
    let created_at = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    let data = order(order_id);
    let envelope = Envelope {
        job: "urn:babel:orders:created",
        trace_id: &trace_id,
        data: &data,
        meta: Meta {
            id: &id,
            queue: crate::QUEUE,
            lang: "rust",
            schema_version: 1,
            created_at,
        },
        attempts: 0,
    };
    let attribute = |kind: &str, value: String| {
        let attribute = MessageAttributeValue::builder().data_type(kind);
        attribute.string_value(value).build()
    };
    let entry = SendMessageBatchRequestEntry::builder()
        .id(place.to_string())
        .message_body(serde_json::to_string(&envelope)?)
        .message_attributes("bq-job", attribute("String", envelope.job.to_owned())?)
        .message_attributes("bq-trace-id", attribute("String", trace_id.clone())?)
        .message_attributes("bq-message-id", attribute("String", id.clone())?)
        .message_attributes("bq-schema-version", attribute("Number", "1".to_owned())?)
        .message_attributes("bq-source-lang", attribute("String", "rust".to_owned())?)
        .message_attributes(
            "bq-created-at",
            attribute("Number", created_at.to_string())?,
        );
    Ok(entry.build()?)
}
