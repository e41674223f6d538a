//! The loop that one would write by hand for a single purpose: as many polls as the consumer, the
//! same request, typed parsing, deletes in tens. No order, no retries, no heartbeat, no shutdown.

use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::{DeleteMessageBatchRequestEntry, Message, MessageSystemAttributeName};
use serde::Deserialize;
use tokio::task::JoinSet;

use crate::Result;
use crate::client::POLLS;
use crate::work::{Order, Tally};

#[derive(Deserialize)]
struct Envelope {
    job: String,
    #[allow(dead_code)]
    trace_id: String,
    data: Order,
    #[allow(dead_code)]
    meta: Meta,
    #[allow(dead_code)]
    attempts: i64,
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct Meta {
    id: String,
    queue: String,
    lang: String,
    schema_version: i64,
    created_at: i64,
}

pub(crate) async fn consume(
    client: Client,
    url: &str,
    tally: &Tally,
    messages: usize,
) -> Result<()> {
    let mut polls = JoinSet::new();
    for _ in 0..POLLS {
        let (client, url, tally) = (client.clone(), url.to_owned(), tally.clone());
        polls.spawn(async move {
            while tally.done() < messages {
                round(&client, &url, &tally).await?;
            }
            Ok(())
        });
    }
    while let Some(poll) = polls.join_next().await {
        let ended: Result<()> = poll?;
        ended?;
    }
    Ok(())
}

async fn round(client: &Client, url: &str, tally: &Tally) -> Result<()> {
    let names = [
        MessageSystemAttributeName::ApproximateReceiveCount,
        MessageSystemAttributeName::MessageGroupId,
        MessageSystemAttributeName::SentTimestamp,
        MessageSystemAttributeName::ApproximateFirstReceiveTimestamp,
    ];
    let receive = client
        .receive_message()
        .queue_url(url)
        .max_number_of_messages(10)
        .wait_time_seconds(1)
        .set_message_system_attribute_names(Some(names.into()))
        .message_attribute_names("All");
    let received = receive.send().await?.messages.unwrap_or_default();
    if received.is_empty() {
        return Ok(());
    }
    // One task a message, as the consumer has: a slow one must not hold up the others.
    let mut handlers = JoinSet::new();
    for message in received {
        let tally = tally.clone();
        handlers.spawn(async move { handle(message, &tally) });
    }
    let mut entries = Vec::with_capacity(10);
    while let Some(handled) = handlers.join_next().await {
        let entry = DeleteMessageBatchRequestEntry::builder().id(entries.len().to_string());
        entries.push(entry.receipt_handle(handled??).build()?);
    }
    let delete = client.delete_message_batch().queue_url(url);
    let answer = delete.set_entries(Some(entries)).send().await?;
    if answer.failed().is_empty() {
        Ok(())
    } else {
        Err("a delete failed".into())
    }
}

fn handle(message: Message, tally: &Tally) -> Result<String> {
    let body = message.body.unwrap_or_default();
    let envelope: Envelope = serde_json::from_str(&body)?;
    if envelope.job == "urn:babel:orders:created" {
        tally.count(&envelope.data);
    }
    Ok(message.receipt_handle.unwrap_or_default())
}
