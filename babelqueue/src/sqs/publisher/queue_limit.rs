//! The size limit of the queue itself: its `MaximumMessageSize`, asked for once when the builder
//! was told to.

use aws_sdk_sqs::types::QueueAttributeName;

use super::send::SqsPublisher;
use crate::fields;
use crate::pipeline::error_text;

impl SqsPublisher {
    /// Asks SQS; `None` when it does not say, which is told once.
    pub(super) async fn ask_for_limit(&self) -> Option<usize> {
        let told = |error: &(dyn std::error::Error + 'static)| {
            tracing::warn!(
                { fields::QUEUE } = self.queue(),
                { fields::ERROR } = error_text(error),
                "the size limit of the queue cannot be read (sqs:GetQueueAttributes): the \
                 publisher's own limit stands"
            );
        };
        let url = match self.url().await {
            Ok(url) => url,
            Err(failure) => {
                told(failure.source());
                return None;
            }
        };
        let call = self
            .client()
            .get_queue_attributes()
            .queue_url(&*url)
            .attribute_names(QueueAttributeName::MaximumMessageSize)
            .send();
        let answer = Box::pin(call).await.inspect_err(|error| told(error)).ok()?;
        let attributes = answer.attributes?;
        let limit = attributes.get(&QueueAttributeName::MaximumMessageSize)?;
        limit.parse().ok().filter(|limit| *limit > 0)
    }
}
