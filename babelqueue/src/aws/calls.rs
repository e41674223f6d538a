//! The calls of SQS that a Lambda function makes, and of the poller the one that is the same. They
//! stand in one module and come out boxed, because the compiler repeats the SDK's machinery for
//! each module that polls it: half a megabyte of a function that is to start quickly.

use aws_sdk_sqs::Client;
#[cfg(feature = "lambda")]
use aws_sdk_sqs::{
    error::SdkError,
    operation::change_message_visibility_batch::{
        ChangeMessageVisibilityBatchError, ChangeMessageVisibilityBatchOutput,
    },
    types::ChangeMessageVisibilityBatchRequestEntry,
};

use super::convert::to_sdk;
use crate::pipeline::DeadLetterMessage;
use crate::{BoxError, BoxFuture};

/// Sends what the pipeline has made to the dead-letter queue.
pub(crate) fn bury(
    client: &Client,
    queue_url: Option<String>,
    message: DeadLetterMessage,
) -> BoxFuture<'static, Result<(), BoxError>> {
    let call = client.send_message().set_queue_url(queue_url);
    Box::pin(async move {
        let call = call
            .message_body(message.body)
            .set_message_attributes(to_sdk(message.attributes)?)
            .set_message_group_id(message.group_id)
            .set_message_deduplication_id(message.deduplication_id);
        call.send().await?;
        Ok(())
    })
}

/// The answer of a change.
#[cfg(feature = "lambda")]
pub(crate) type Changed =
    Result<ChangeMessageVisibilityBatchOutput, SdkError<ChangeMessageVisibilityBatchError>>;

/// Changes the visibility of up to ten messages.
#[cfg(feature = "lambda")]
pub(crate) fn change_visibility(
    client: &Client,
    queue_url: &str,
    entries: Vec<ChangeMessageVisibilityBatchRequestEntry>,
) -> BoxFuture<'static, Changed> {
    let call = client.change_message_visibility_batch();
    Box::pin(call.queue_url(queue_url).set_entries(Some(entries)).send())
}

/// Makes a request that is of no use to anybody, of a kind that every program has.
pub(super) fn probe(client: &Client) -> BoxFuture<'static, ()> {
    let call = client.send_message();
    Box::pin(async move {
        let _ = call.send().await;
    })
}
