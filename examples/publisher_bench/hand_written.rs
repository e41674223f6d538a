//! The loop that one would write by hand for a single purpose: the same envelope and attributes,
//! ten messages a call. No checks, no retries, no order, no backpressure.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::{MessageAttributeValue, SendMessageBatchRequestEntry};
use babelqueue::envelope::new_id;
use serde::Serialize;
use tokio::sync::{Semaphore, oneshot};

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

/// What one would write by hand so that many tasks share calls: the tenth message takes the others
/// along, and what is left goes every few milliseconds. No bound, no deadline, no order.
pub(crate) struct Coalescer {
    client: Client,
    url: String,
    calls: Semaphore,
    waiting: Mutex<Vec<Waiting>>,
}

type Waiting = (SendMessageBatchRequestEntry, oneshot::Sender<String>);

impl Coalescer {
    pub(crate) fn start(client: Client, url: &str, calls: usize, linger: Duration) -> Arc<Self> {
        let coalescer = Arc::new(Self {
            client,
            url: url.to_owned(),
            calls: Semaphore::new(calls),
            waiting: Mutex::default(),
        });
        let ticking = Arc::clone(&coalescer);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(linger).await;
                if let Ok(mut waiting) = ticking.waiting.lock() {
                    ticking.spawn(&mut waiting);
                }
            }
        });
        coalescer
    }

    pub(crate) async fn publish(self: &Arc<Self>, order_id: usize) -> Result<String> {
        let mut entry = entry(0, order_id)?;
        let (reply, answer) = oneshot::channel();
        if let Ok(mut waiting) = self.waiting.lock() {
            entry.id = waiting.len().to_string();
            waiting.push((entry, reply));
            if waiting.len() == 10 {
                self.spawn(&mut waiting);
            }
        }
        Ok(answer.await?)
    }

    fn spawn(self: &Arc<Self>, waiting: &mut Vec<Waiting>) {
        if !waiting.is_empty() {
            let waiting = std::mem::take(waiting);
            tokio::spawn(Arc::clone(self).send(waiting));
        }
    }

    async fn send(self: Arc<Self>, waiting: Vec<Waiting>) -> Result<()> {
        let _call = self.calls.acquire().await?;
        let (entries, replies): (Vec<_>, Vec<_>) = waiting.into_iter().unzip();
        let send = self.client.send_message_batch().queue_url(&self.url);
        let answer = send.set_entries(Some(entries)).send().await?;
        let mut replies: Vec<_> = replies.into_iter().map(Some).collect();
        for sent in answer.successful {
            if let Some(reply) = replies[sent.id.parse::<usize>()?].take() {
                let _ = reply.send(sent.message_id);
            }
        }
        Ok(())
    }
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
