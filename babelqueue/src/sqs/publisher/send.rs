//! [`SqsPublisher`]: sends single messages by `SendMessage`, and again if need be.

use std::sync::Arc;

use aws_sdk_sqs::Client;
use serde::Serialize;
use tokio::sync::OnceCell;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::builder::{Settings, SqsPublisherBuilder};
use super::failure::Failure;
use super::relay::RelayBuilder;
use super::request::{Frame, Request, from_draft};
use super::target::Target;
use crate::BoxFuture;
use crate::message::{Draft, Publish, PublishBuilder, PublishError, Published};
use crate::sqs::consumer::BuildError;
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
    /// What the queue says, once it was asked.
    queue_limit: OnceCell<Option<usize>>,
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
                queue_limit: OnceCell::new(),
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

    pub(super) fn observer(&self) -> &Observer {
        &self.inner.observer
    }

    pub(super) fn client(&self) -> &Client {
        &self.inner.client
    }

    /// The queue's URL, asked for once when only its name is known.
    pub(super) async fn url(&self) -> Result<Arc<str>, Failure> {
        self.inner.target.url(&self.inner.client).await
    }

    /// Fails when the publisher cannot work at all.
    pub(super) fn check(&self) -> Result<(), PublishError> {
        match &self.inner.mistake {
            Some(mistake) => Err(PublishError::Publisher(mistake.clone().into())),
            None => Ok(()),
        }
    }

    /// The limit of a message and of a request, in bytes.
    pub(super) async fn max_bytes(&self) -> usize {
        let settings = self.settings();
        if !settings.read_queue_limit {
            return settings.max_message_bytes;
        }
        let ask = || Box::pin(self.ask_for_limit());
        let limit = self.inner.queue_limit.get_or_init(ask);
        let own = settings.max_message_bytes;
        limit.await.map_or(own, |limit| own.min(limit))
    }

    /// The same, of a publisher that can work.
    pub(super) async fn limit(&self) -> Result<usize, PublishError> {
        self.check()?;
        Ok(self.max_bytes().await)
    }

    /// What every message of this publisher is made with.
    pub(super) fn frame(&self) -> Frame<'_> {
        Frame {
            queue: self.queue(),
            settings: self.settings(),
        }
    }

    /// The finished request of a draft.
    pub(super) fn fitting(
        &self,
        draft: Draft,
        max_bytes: usize,
    ) -> Result<Arc<Request>, PublishError> {
        let mut request = from_draft(draft, self.frame())?;
        request.fit(self.settings(), max_bytes)?;
        Ok(Arc::new(request))
    }

    /// Sends a finished request, again if need be, until the time to send is over.
    pub(super) async fn perform(&self, request: &Request) -> Result<Published, PublishError> {
        self.store(request).await?;
        let retry = &self.settings().retry;
        let deadline = Instant::now() + retry.timeout;
        let (mut attempts, mut unknown) = (0_u32, false);
        loop {
            attempts = attempts.saturating_add(1);
            let ends = retry.attempt_ends(Instant::now(), deadline);
            let fate = timeout_at(ends, self.send_one(request)).await;
            let failure = match fate.unwrap_or_else(|_| Err(Failure::late())) {
                Ok(accepted) => return Ok(request.published(accepted)),
                Err(failure) => failure,
            };
            let next = retry.next(attempts, Instant::now(), deadline, fastrand::f64());
            match next.filter(|_| failure.retryable) {
                Some(at) => {
                    unknown |= !failure.refused;
                    sleep_until(at).await;
                }
                None => return Err(failure.into_error(self.queue(), request, unknown)),
            }
        }
    }
}

impl Publish for SqsPublisher {
    fn send(&self, mut draft: Draft) -> BoxFuture<'_, Result<Published, PublishError>> {
        Box::pin(async move {
            let publishing = self.observer().publishing(&mut draft);
            let limit = self.limit().await;
            let request = limit.and_then(|max_bytes| self.fitting(draft, max_bytes));
            let sending = async { self.perform(&*request?).await };
            let result = publishing.scope(sending).await;
            publishing.end(&result);
            result
        })
    }
}
