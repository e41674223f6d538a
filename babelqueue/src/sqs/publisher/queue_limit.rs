//! The size limit of the queue itself: its `MaximumMessageSize`, asked for once when the builder
//! was told to.

use aws_sdk_sqs::types::QueueAttributeName;
use tokio::time::{Instant, timeout_at};

use super::failure::Failure;
use super::send::SqsPublisher;
use crate::fields;
use crate::pipeline::error_text;

impl SqsPublisher {
    /// Asks SQS; `None` when it does not say in time, which is told once.
    pub(super) async fn ask_for_limit(&self) -> Option<usize> {
        let (retry, now) = (&self.settings().retry, Instant::now());
        let ends = retry.attempt_ends(now, now + retry.timeout);
        let limit = timeout_at(ends, self.read_limit()).await;
        let limit = limit.unwrap_or_else(|_| Err(Failure::late()));
        limit.unwrap_or_else(|failure| {
            tracing::warn!(
                { fields::QUEUE } = self.queue(),
                { fields::ERROR } = error_text(failure.source()),
                "the size limit of the queue cannot be read (sqs:GetQueueAttributes): the \
                 publisher's own limit stands"
            );
            None
        })
    }

    async fn read_limit(&self) -> Result<Option<usize>, Failure> {
        let url = self.url().await?;
        let call = self
            .client()
            .get_queue_attributes()
            .queue_url(&*url)
            .attribute_names(QueueAttributeName::MaximumMessageSize)
            .send();
        let answer = Box::pin(call).await.map_err(Failure::of_call)?;
        let limit = answer
            .attributes
            .and_then(|mut attributes| attributes.remove(&QueueAttributeName::MaximumMessageSize));
        Ok(limit
            .and_then(|limit| limit.parse().ok())
            .filter(|limit| *limit > 0))
    }
}
