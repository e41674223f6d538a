//! One of the two servers, with the queues of a sequence.

use std::collections::BTreeMap;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_sqs::types::{QueueAttributeName as Name, SendMessageBatchRequestEntry};

use super::op::{Body, Op};
use crate::support::{attribute, receive, text};

/// One side of the comparison.
pub(super) struct Side {
    pub(super) client: Client,
    /// In the names of its queues.
    pub(super) tag: String,
    /// A queue and its dead-letter queue.
    standard: [String; 2],
    fifo: [String; 2],
    pub(super) receipts: Vec<Receipt>,
}

pub(super) struct Receipt {
    pub(super) url: String,
    handle: String,
    body: String,
    /// Whether the message was deleted or released through it, or received again since.
    pub(super) spent: bool,
}

impl Side {
    pub(super) async fn new(client: Client, tag: &str) -> Self {
        let standard = Self::queue(&client, tag, "").await;
        let fifo = Self::queue(&client, tag, ".fifo").await;
        Self {
            client,
            tag: tag.to_owned(),
            standard,
            fifo,
            receipts: Vec::new(),
        }
    }

    /// A queue with a long visibility timeout and a dead-letter queue after two receives.
    async fn queue(client: &Client, tag: &str, suffix: &str) -> [String; 2] {
        let create = |name: &str| {
            let create = client
                .create_queue()
                .queue_name(format!("{name}-{tag}{suffix}"));
            let create = create.attributes(Name::VisibilityTimeout, "600");
            if suffix.is_empty() {
                create
            } else {
                create.attributes(Name::FifoQueue, "true")
            }
        };
        let dead = create("dead").send().await.unwrap().queue_url.unwrap();
        let arn = attribute(client, &dead, Name::QueueArn).await;
        let policy = format!(r#"{{"deadLetterTargetArn":"{arn}","maxReceiveCount":2}}"#);
        let alive = create("alive").attributes(Name::RedrivePolicy, policy);
        [alive.send().await.unwrap().queue_url.unwrap(), dead]
    }

    fn urls(&self, fifo: bool) -> &[String; 2] {
        if fifo { &self.fifo } else { &self.standard }
    }

    pub(super) fn url(&self, fifo: bool) -> &str {
        &self.urls(fifo)[0]
    }

    /// Carries out a call and says what came of it, in words that both sides share.
    pub(super) async fn call(&mut self, op: &Op, step: usize) -> String {
        match op {
            Op::Send {
                fifo,
                body,
                group,
                dedup,
                attributes,
                delay,
            } => {
                let body = match body {
                    Body::Fresh => format!("body {step}"),
                    Body::Odd(text) => format!("{step} {text}"),
                    Body::Empty => String::new(),
                    Body::Forbidden => "a\0b".to_owned(),
                };
                let mut send = self
                    .client
                    .send_message()
                    .queue_url(self.url(*fifo))
                    .message_body(body)
                    .set_delay_seconds(*delay);
                if *fifo {
                    // Few ids, so that there are duplicates.
                    send = send.message_group_id(format!("g{group}"));
                    send = send.message_deduplication_id(format!("d{dedup}"));
                }
                for n in 0..*attributes {
                    send = send.message_attributes(format!("k{n}"), text("v"));
                }
                said(send.send().await, |it| {
                    format!(
                        "{:?} {:?}",
                        it.md5_of_message_body, it.md5_of_message_attributes
                    )
                })
            }
            Op::SendBatch {
                fifo,
                count,
                group,
                delay,
            } => {
                let mut batch = self.client.send_message_batch().queue_url(self.url(*fifo));
                for n in 0..*count {
                    let id = format!("{step}-{n}");
                    let mut entry = SendMessageBatchRequestEntry::builder()
                        .id(&id)
                        .message_body(&id)
                        .set_delay_seconds(*delay);
                    if *fifo {
                        entry = entry.message_group_id(format!("g{group}"));
                        entry = entry.message_deduplication_id(id);
                    }
                    batch = batch.entries(entry.build().unwrap());
                }
                said(batch.send().await, |it| {
                    let done: Vec<_> = it.successful.iter().map(|entry| entry.id.clone()).collect();
                    format!("{done:?} and {} failed", it.failed.len())
                })
            }
            Op::Receive { fifo } => self.receive(*fifo, false).await,
            Op::ReceiveDead { fifo } => self.receive(*fifo, true).await,
            Op::Delete { receipt } => match self.receipts.get_mut(*receipt) {
                None => "no such receipt".to_owned(),
                Some(it) => {
                    it.spent = true;
                    let delete = self.client.delete_message().queue_url(&it.url);
                    said(delete.receipt_handle(&it.handle).send().await, |_| {
                        "deleted".to_owned()
                    })
                }
            },
            Op::Release { receipt } => self.change(*receipt, 0).await,
            Op::Extend { receipt } => self.change(*receipt, 900).await,
            Op::Garbage { fifo } => {
                let delete = self.client.delete_message().queue_url(self.url(*fifo));
                said(delete.receipt_handle("garbage").send().await, |_| {
                    "deleted".to_owned()
                })
            }
            Op::Counts { fifo } => {
                let get = self
                    .client
                    .get_queue_attributes()
                    .queue_url(self.url(*fifo));
                let get = get
                    .attribute_names(Name::ApproximateNumberOfMessages)
                    .attribute_names(Name::ApproximateNumberOfMessagesDelayed)
                    .attribute_names(Name::ApproximateNumberOfMessagesNotVisible);
                said(get.send().await, |it| {
                    let sorted: BTreeMap<_, _> = it
                        .attributes
                        .unwrap_or_default()
                        .into_iter()
                        .map(|(name, value)| (name.to_string(), value))
                        .collect();
                    format!("{sorted:?}")
                })
            }
            op => self.call_about_queues(op).await,
        }
    }

    async fn change(&mut self, receipt: usize, seconds: i32) -> String {
        let Some(it) = self.receipts.get_mut(receipt) else {
            return "no such receipt".to_owned();
        };
        it.spent |= seconds == 0;
        let change = self.client.change_message_visibility().queue_url(&it.url);
        let change = change
            .receipt_handle(&it.handle)
            .visibility_timeout(seconds);
        said(change.send().await, |_| "changed".to_owned())
    }

    /// Receives everything that can be, and numbers the receipts in an order both sides share.
    async fn receive(&mut self, fifo: bool, dead: bool) -> String {
        let url = self.urls(fifo)[usize::from(dead)].clone();
        let mut messages = receive(&self.client, &url, 10).await;
        let group = |it: &aws_sdk_sqs::types::Message| {
            let name = aws_sdk_sqs::types::MessageSystemAttributeName::MessageGroupId;
            it.attributes().and_then(|all| all.get(&name)).cloned()
        };
        if fifo {
            // Stable: inside a group the order is part of the answer.
            messages.sort_by_key(group);
        } else {
            messages.sort_by_key(|it| it.body.clone());
        }
        let mut lines = Vec::new();
        for message in messages {
            let body = message.body.clone().unwrap_or_default();
            let count = aws_sdk_sqs::types::MessageSystemAttributeName::ApproximateReceiveCount;
            let count = message
                .attributes()
                .and_then(|all| all.get(&count))
                .cloned();
            // The documentation does not say whether a dead letter keeps its count.
            let count = count.filter(|_| !dead);
            let md5 = &message.md5_of_message_attributes;
            lines.push(format!("{body} {:?} {count:?} {md5:?}", group(&message)));
            for receipt in &mut self.receipts {
                receipt.spent |= receipt.url == url && receipt.body == body;
            }
            let handle = message.receipt_handle.unwrap_or_default();
            self.receipts.push(Receipt {
                url: url.clone(),
                handle,
                body,
                spent: false,
            });
        }
        format!("{lines:?}")
    }
}

/// What came of a call: its answer or the code of its error.
pub(super) fn said<T, E: ProvideErrorMetadata>(
    result: Result<T, SdkError<E>>,
    answer: impl FnOnce(T) -> String,
) -> String {
    match result {
        Ok(it) => answer(it),
        Err(error) => format!("error {}", error.code().unwrap_or("without a code")),
    }
}
