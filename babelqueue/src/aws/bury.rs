//! Sends a message to the dead-letter queue.

use aws_sdk_sqs::Client;

use super::convert::to_sdk;
use crate::BoxError;
use crate::pipeline::DeadLetterMessage;

/// Sends what the pipeline has made; the SDK's future is boxed.
pub(crate) async fn bury(
    client: &Client,
    queue_url: Option<String>,
    message: DeadLetterMessage,
) -> Result<(), BoxError> {
    let call = client
        .send_message()
        .set_queue_url(queue_url)
        .message_body(message.body)
        .set_message_attributes(to_sdk(message.attributes)?)
        .set_message_group_id(message.group_id)
        .set_message_deduplication_id(message.deduplication_id);
    Box::pin(call.send()).await?;
    Ok(())
}
