//! [`SqsPublisher`]: sends one message by one `SendMessage`.

use std::sync::Arc;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_sqs::operation::send_message::SendMessageError;
use serde::Serialize;

use super::builder::{Settings, SqsPublisherBuilder};
use super::relay::RelayBuilder;
use super::request::{Request, from_draft};
use super::target::Target;
use crate::BoxFuture;
use crate::message::{Draft, Publish, PublishBuilder, PublishError, Published};
use crate::sqs::consumer::BuildError;
use crate::sqs::convert::to_sdk;
use crate::telemetry::Observer;

/// Publishes messages to one queue. Cheap to clone and meant to be shared.
///
/// ```no_run
/// # async fn run(sqs: aws_sdk_sqs::Client) -> Result<(), babelqueue::Error> {
/// use babelqueue::prelude::*;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, BabelMessage)]
/// #[urn = "urn:babel:orders:created"]
/// struct OrderCreated {
///     order_id: u64,
/// }
///
/// let publisher = SqsPublisher::new(sqs, "https://sqs.eu-west-1.amazonaws.com/1234/orders");
/// let sent = OrderCreated { order_id: 1042 }.publish(&publisher).header("tenant", "acme").await?;
/// println!("{} in trace {}", sent.message_id, sent.trace_id);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SqsPublisher {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    client: Client,
    target: Target,
    settings: Settings,
    observer: Observer,
    /// What is wrong with the settings: told by every publish, before any call.
    mistake: Option<BuildError>,
}

impl SqsPublisher {
    /// A publisher with the default settings. `queue` is a queue URL, or a name, which is
    /// resolved by `GetQueueUrl` on the first publish. A mistake in it surfaces on that publish;
    /// [`builder`](Self::builder) finds it at once.
    pub fn new(client: Client, queue: impl AsRef<str>) -> Self {
        Self::builder(client, queue).build_or_tell()
    }

    /// Starts a publisher with settings. `queue` is a queue URL or a name.
    pub fn builder(client: Client, queue: impl AsRef<str>) -> SqsPublisherBuilder {
        SqsPublisherBuilder::new(client, Target::new(queue.as_ref()))
    }

    pub(super) fn from_parts(
        client: Client,
        target: Target,
        settings: Settings,
        observer: Observer,
        mistake: Option<BuildError>,
    ) -> Self {
        Self {
            inner: Arc::new(Inner {
                client,
                target,
                settings,
                observer,
                mistake,
            }),
        }
    }

    /// Name of the queue.
    pub fn queue(&self) -> &str {
        self.inner.target.name()
    }

    /// Publishes `data` under a URN that is known only at run time. `data` must serialise to a
    /// JSON object; of the URN nothing is asked but that it is not blank, as the contract has it
    /// (SPEC §1.3).
    ///
    /// ```no_run
    /// # async fn run(publisher: babelqueue::SqsPublisher) -> Result<(), babelqueue::Error> {
    /// let data = serde_json::json!({ "order_id": 1042 });
    /// publisher.publish_json("urn:babel:orders:created", &data).trace_id("t-1").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn publish_json<T>(&self, urn: impl Into<String>, data: &T) -> PublishBuilder<'_, Self>
    where
        T: Serialize + ?Sized,
    {
        PublishBuilder::new(self, Draft::new(urn.into(), data))
    }

    /// Publishes an envelope that is already encoded, byte for byte; the attributes are projected
    /// from it (SPEC §2.1).
    pub fn relay(&self, encoded: impl Into<String>) -> RelayBuilder<'_> {
        RelayBuilder::new(self, encoded.into())
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// Performs a finished request.
    pub(super) async fn perform(&self, request: Request) -> Result<Published, PublishError> {
        let Inner { client, target, .. } = &*self.inner;
        if let Some(mistake) = &self.inner.mistake {
            return Err(PublishError::Publisher(mistake.clone().into()));
        }
        let url = target.url(client).await?;
        let failed = |refused, retryable, source| PublishError::Send {
            queue: target.name().to_owned(),
            refused,
            retryable,
            source,
        };
        let attributes =
            to_sdk(request.attributes).map_err(|error| failed(true, false, error.into()))?;
        let call = client
            .send_message()
            .queue_url(&*url)
            .message_body(request.body)
            .set_message_attributes(attributes)
            .set_delay_seconds(request.delay_seconds)
            .set_message_group_id(request.group_id)
            .set_message_deduplication_id(request.deduplication_id)
            .send();
        // The SDK's future is large: one box keeps it out of every caller's.
        let answer = Box::pin(call).await.map_err(|error| {
            let (refused, retryable) = fate(&error);
            failed(refused, retryable, error.into())
        })?;
        let mut published = Published::new(request.message_id, request.trace_id);
        published.sqs_message_id = answer.message_id;
        published.sequence_number = answer.sequence_number;
        Ok(published)
    }
}

/// Whether a failed send was surely not taken, and whether another try may succeed.
fn fate(error: &SdkError<SendMessageError>) -> (bool, bool) {
    match error {
        // Never left the process.
        SdkError::ConstructionFailure(_) => (true, false),
        SdkError::DispatchFailure(failure) => {
            // A connection that was never made sent nothing.
            let refused = failure.is_user();
            (refused, !refused)
        }
        SdkError::ServiceError(answer) => {
            let throttled = answer.err().is_request_throttled()
                || matches!(
                    answer.err().code(),
                    Some("ThrottlingException" | "Throttling")
                );
            let server = answer.raw().status().as_u16() >= 500;
            // A server's fault may come after the message was taken.
            (!server, throttled || server)
        }
        _ => (false, true),
    }
}

impl Publish for SqsPublisher {
    fn send(&self, mut draft: Draft) -> BoxFuture<'_, Result<Published, PublishError>> {
        Box::pin(async move {
            let publishing = self.inner.observer.publishing(&mut draft);
            let result = match from_draft(draft, self.queue(), self.settings()) {
                Ok(request) => publishing.scope(self.perform(request)).await,
                Err(error) => Err(error),
            };
            publishing.end(&result);
            result
        })
    }
}
