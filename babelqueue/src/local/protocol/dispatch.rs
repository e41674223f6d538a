//! From a request to its answer: every operation but the receive, which waits.

use std::sync::OnceLock;

use super::input::{self, parse, require, require_some};
use super::operation::Operation;
use super::output::{self, SentMessage, json};
use super::page::{Page, page};
use crate::local::engine::error::{ApiResult, Kind, invalid_value, no_such_queue};
use crate::local::service::Service;

/// A request whose operation is known.
pub(crate) struct Call<'a> {
    pub(crate) operation: Operation,
    pub(crate) body: &'a [u8],
    /// Scheme and host, for the URLs in the answer.
    pub(crate) base: &'a str,
    /// The header `X-Amzn-Trace-Id`, which counts for the messages of a send.
    pub(crate) trace_header: Option<&'a str>,
    /// The name of the queue, as soon as it is known.
    pub(crate) queue: OnceLock<String>,
}

impl Call<'_> {
    /// Notes which queue it is about.
    pub(crate) fn names(&self, queue: &str) {
        // A second time it is the same one.
        self.queue.get_or_init(|| queue.to_owned());
    }
}

impl Service {
    pub(crate) fn dispatch(&self, call: &Call<'_>, body: &[u8]) -> ApiResult<Vec<u8>> {
        let empty = || b"{}".to_vec();
        match call.operation {
            Operation::SendMessage => self.send_message(call, body),
            Operation::SendMessageBatch => self.send_message_batch(call, body),
            Operation::DeleteMessage => {
                let input: input::Handle = parse(body)?;
                let queue = self.queue_of(call, input.queue_url)?;
                let handle = require(input.receipt_handle, "ReceiptHandle")?;
                self.with(|engine, now| engine.delete(&queue, &handle, now))?;
                Ok(empty())
            }
            Operation::ChangeMessageVisibility => {
                let input: input::Handle = parse(body)?;
                let queue = self.queue_of(call, input.queue_url)?;
                let handle = require(input.receipt_handle, "ReceiptHandle")?;
                let seconds = require(input.visibility_timeout, "VisibilityTimeout")?;
                self.with(|engine, now| engine.change_visibility(&queue, &handle, seconds, now))?;
                Ok(empty())
            }
            Operation::DeleteMessageBatch => self.delete_message_batch(call, body),
            Operation::ChangeMessageVisibilityBatch => self.change_visibility_batch(call, body),
            Operation::CreateQueue => {
                let input: input::CreateQueue = parse(body)?;
                let name = require(input.queue_name, "QueueName")?;
                call.names(&name);
                let attributes = input.attributes.unwrap_or_default();
                let tags = input.tags.unwrap_or_default();
                self.with(|engine, now| engine.create_queue(&name, attributes, tags, now))?;
                let queue_url = self.url(call.base, &name);
                Ok(json(&output::QueueUrl { queue_url }))
            }
            Operation::GetQueueUrl => {
                let input: input::GetQueueUrl = parse(body)?;
                let name = require(input.queue_name, "QueueName")?;
                call.names(&name);
                let ours = input.owner.is_none_or(|owner| owner == self.account());
                if !ours || !self.look(|engine, _| engine.has_queue(&name)) {
                    return Err(no_such_queue());
                }
                let queue_url = self.url(call.base, &name);
                Ok(json(&output::QueueUrl { queue_url }))
            }
            Operation::DeleteQueue => {
                let queue = self.only_queue(call, body)?;
                self.with(|engine, now| engine.delete_queue(&queue, now))?;
                Ok(empty())
            }
            Operation::PurgeQueue => {
                let queue = self.only_queue(call, body)?;
                self.with(|engine, now| engine.purge(&queue, now))?;
                Ok(empty())
            }
            Operation::GetQueueAttributes => {
                let input: input::GetAttributes = parse(body)?;
                let queue = self.queue_of(call, input.queue_url)?;
                let names = input.attribute_names.unwrap_or_default();
                let attributes = self.look(|engine, now| engine.attributes(&queue, &names, now))?;
                Ok(json(&output::Attributes { attributes }))
            }
            Operation::SetQueueAttributes => {
                let input: input::SetAttributes = parse(body)?;
                let queue = self.queue_of(call, input.queue_url)?;
                let attributes = require_some(input.attributes, "Attribute.Name")?;
                self.with(|engine, now| engine.set_attributes(&queue, &attributes, now))?;
                Ok(empty())
            }
            Operation::ListQueues => self.list_queues(call, body),
            Operation::ListDeadLetterSourceQueues => self.list_sources(call, body),
            Operation::ListQueueTags => {
                let queue = self.only_queue(call, body)?;
                let tags =
                    self.with(|engine, now| Ok(engine.queue(&queue, now)?.tags.clone()))?;
                Ok(json(&serde_json::json!({ "Tags": tags })))
            }
            Operation::TagQueue => {
                let input: input::Tags = parse(body)?;
                let queue = self.queue_of(call, input.queue_url)?;
                let tags = require_some(input.tags, "Tags")?;
                self.with(|engine, now| engine.tag(&queue, tags, now))?;
                Ok(empty())
            }
            Operation::UntagQueue => {
                let input: input::Tags = parse(body)?;
                let queue = self.queue_of(call, input.queue_url)?;
                let keys = require_some(input.tag_keys, "TagKeys")?;
                self.with(|engine, now| engine.untag(&queue, &keys, now))?;
                Ok(empty())
            }
            Operation::StartMessageMoveTask => {
                let input: input::MoveTask = parse(body)?;
                let source = require(input.source_arn, "SourceArn")?;
                let destination = input.destination_arn.as_deref();
                let rate = input.max_number_of_messages_per_second;
                let handle = self
                    .with(|engine, now| engine.start_move_task(&source, destination, rate, now))?;
                Ok(json(&serde_json::json!({ "TaskHandle": handle })))
            }
            Operation::CancelMessageMoveTask => {
                let input: input::MoveTask = parse(body)?;
                let handle = require(input.task_handle, "TaskHandle")?;
                let moved = self.with(|engine, now| engine.cancel_move_task(&handle, now))?;
                Ok(json(&serde_json::json!({ "ApproximateNumberOfMessagesMoved": moved })))
            }
            Operation::ListMessageMoveTasks => {
                let input: input::MoveTask = parse(body)?;
                let source = require(input.source_arn, "SourceArn")?;
                let max = match input.max_results {
                    None => 1,
                    Some(max @ 1..=10) => usize::try_from(max).unwrap_or(10),
                    Some(max) => {
                        return Err(invalid_value("MaxResults", max, "Must be between 1 and 10."));
                    }
                };
                let tasks = self.with(|engine, now| engine.move_tasks(&source, max, now))?;
                Ok(output::tasks(&tasks, self.wall()))
            }
            Operation::AddPermission | Operation::RemovePermission => {
                Err(Kind::UnsupportedOperation.error(
                    "The embedded SQS grants everything to everybody; set the attribute Policy to store one.",
                ))
            }
            // Waits, and is therefore carried out elsewhere.
            Operation::ReceiveMessage => Err(Kind::InvalidAction.error("ReceiveMessage waits.")),
        }
    }

    fn only_queue(&self, call: &Call<'_>, body: &[u8]) -> ApiResult<String> {
        self.queue_of(call, parse::<input::QueueOnly>(body)?.queue_url)
    }

    fn send_message(&self, call: &Call<'_>, body: &[u8]) -> ApiResult<Vec<u8>> {
        let mut input: input::SendMessage = parse(body)?;
        let queue = self.queue_of(call, input.queue_url.take())?;
        let send = input.send(call.trace_header)?;
        let sent = self.with(|engine, now| engine.send(&queue, send, now))?;
        Ok(json(&SentMessage::new(None, &sent)))
    }

    fn send_message_batch(&self, call: &Call<'_>, body: &[u8]) -> ApiResult<Vec<u8>> {
        let mut input: input::Batch<input::SendMessage> = parse(body)?;
        let queue = self.queue_of(call, input.queue_url.take())?;
        let entries = input
            .entries()
            .map(|mut it| (it.id.take().unwrap_or_default(), it.send(call.trace_header)));
        let entries = entries.collect();
        let result = self.with(|engine, now| engine.send_batch(&queue, entries, now))?;
        Ok(output::batch(result, |id, sent| {
            SentMessage::new(Some(id), &sent)
        }))
    }

    fn delete_message_batch(&self, call: &Call<'_>, body: &[u8]) -> ApiResult<Vec<u8>> {
        let mut input: input::Batch<input::Handle> = parse(body)?;
        let queue = self.queue_of(call, input.queue_url.take())?;
        let entries = input.entries().map(|it| {
            let handle = require(it.receipt_handle, "ReceiptHandle");
            (it.id.unwrap_or_default(), handle)
        });
        let entries = entries.collect();
        let result = self.with(|engine, now| engine.delete_batch(&queue, entries, now))?;
        Ok(output::batch(result, output::done))
    }

    fn change_visibility_batch(&self, call: &Call<'_>, body: &[u8]) -> ApiResult<Vec<u8>> {
        let mut input: input::Batch<input::Handle> = parse(body)?;
        let queue = self.queue_of(call, input.queue_url.take())?;
        let entries = input.entries().map(|it| {
            let change = require(it.receipt_handle, "ReceiptHandle").and_then(|handle| {
                Ok((handle, require(it.visibility_timeout, "VisibilityTimeout")?))
            });
            (it.id.unwrap_or_default(), change)
        });
        let entries = entries.collect();
        let result =
            self.with(|engine, now| engine.change_visibility_batch(&queue, entries, now))?;
        Ok(output::batch(result, output::done))
    }

    fn list_queues(&self, call: &Call<'_>, body: &[u8]) -> ApiResult<Vec<u8>> {
        let input: input::ListQueues = parse(body)?;
        let prefix = input.queue_name_prefix.unwrap_or_default();
        let list = format!("{}\n{prefix}", call.operation);
        let page_of = Page::new(list, input.max_results, input.next_token.as_deref())?;
        let found =
            self.with(|engine, _| page(engine.queue_names(&prefix, &page_of.after), &page_of));
        Ok(found.json("QueueUrls", |name| self.url(call.base, name)))
    }

    fn list_sources(&self, call: &Call<'_>, body: &[u8]) -> ApiResult<Vec<u8>> {
        let input: input::ListQueues = parse(body)?;
        let queue = self.queue_of(call, input.queue_url)?;
        let list = format!("{}\n{queue}", call.operation);
        let page_of = Page::new(list, input.max_results, input.next_token.as_deref())?;
        let found = self.with(|engine, _| {
            Ok(page(
                engine.dead_letter_sources(&queue, &page_of.after)?,
                &page_of,
            ))
        })?;
        Ok(found.json("queueUrls", |name| self.url(call.base, name)))
    }
}
