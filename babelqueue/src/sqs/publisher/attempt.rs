//! One attempt: a `SendMessage`, or a `SendMessageBatch` of up to ten, and what SQS said to it.

use aws_sdk_sqs::error::BuildError as SdkBuildError;
use aws_sdk_sqs::types::SendMessageBatchRequestEntry;
use tokio::time::{Instant, timeout_at};

use super::failure::{Accepted, Answer, Failure, Fate};
use super::outbox::{Call, Pending};
use super::request::Request;
use super::send::SqsPublisher;
use crate::panics::fenced_async;
use crate::sqs::convert::{sort_answer, to_sdk};

const BATCH: &str = "SendMessageBatch";

impl SqsPublisher {
    /// Sends one message by `SendMessage`.
    pub(super) async fn send_one(&self, request: &Request) -> Fate {
        let url = self.url().await?;
        let attributes = to_sdk(request.content.attributes()).map_err(Failure::unbuilt)?;
        let call = self
            .client()
            .send_message()
            .queue_url(&*url)
            .message_body(request.content.body())
            .set_message_attributes(attributes)
            .set_delay_seconds(request.delay_seconds)
            .set_message_group_id(request.group_id.clone())
            .set_message_deduplication_id(request.deduplication_id.clone())
            .send();
        // The SDK's future is large: one box keeps it out of every caller's.
        let answer = Box::pin(call).await.map_err(Failure::of_call)?;
        Ok(Accepted {
            sqs_message_id: answer.message_id,
            sequence_number: answer.sequence_number,
        })
    }

    /// Makes a call of an outbox, to be settled there. It ends at the deadline, and whatever goes
    /// wrong in it.
    pub(super) async fn call<R>(self, messages: Vec<Pending<R>>, deadline: Instant) -> Call<R> {
        let began = Instant::now();
        let ends = self.settings().retry.attempt_ends(began, deadline);
        let entries = messages.iter().enumerate().map(entry).collect();
        let answer = timeout_at(ends, fenced_async(self.send_batch(entries))).await;
        Call {
            answer: match answer {
                Ok(Ok(answer)) => answer,
                Ok(Err(panicked)) => Err(Failure::panicked(panicked)),
                Err(_) => Err(Failure::late()),
            },
            began,
            messages,
        }
    }

    async fn send_batch(
        &self,
        entries: Result<Vec<SendMessageBatchRequestEntry>, SdkBuildError>,
    ) -> Answer {
        let entries = entries.map_err(Failure::unbuilt)?;
        let count = entries.len();
        let url = self.url().await?;
        let call = self.client().send_message_batch();
        let call = call.queue_url(&*url).set_entries(Some(entries)).send();
        let answer = Box::pin(call).await.map_err(Failure::of_call)?;
        let failed = answer.failed.iter();
        let failed = failed.map(|entry| (entry.id.clone(), Err(Failure::of_entry(entry))));
        let successful = answer.successful.into_iter().map(|entry| {
            let accepted = Accepted {
                sqs_message_id: Some(entry.message_id),
                sequence_number: entry.sequence_number,
            };
            (entry.id, Ok(accepted))
        });
        Ok(sort_answer(BATCH, count, successful.chain(failed), || {
            Err(Failure::silent())
        }))
    }
}

/// An entry; its id is its place in the request.
fn entry<R>(
    (place, message): (usize, &Pending<R>),
) -> Result<SendMessageBatchRequestEntry, SdkBuildError> {
    let request = &message.request;
    SendMessageBatchRequestEntry::builder()
        .id(place.to_string())
        .message_body(request.content.body())
        .set_message_attributes(to_sdk(request.content.attributes())?)
        .set_delay_seconds(request.delay_seconds)
        .set_message_group_id(request.group_id.clone())
        .set_message_deduplication_id(request.deduplication_id.clone())
        .build()
}
