//! The settings of a publisher.

use std::borrow::Cow;
use std::time::Duration;

use aws_sdk_sqs::Client;

use super::limits::is_legal_id;
use super::retry::Retry;
use super::send::SqsPublisher;
use super::target::Target;
use crate::envelope::LANG;
use crate::policy::{Backoff, is_fifo};
use crate::sqs::consumer::BuildError;
use crate::sqs::{client, endpoint};
use crate::telemetry::Telemetry;

/// SQS's own limit for a message and for a batch, in bytes.
pub(super) const MAX_MESSAGE_BYTES: usize = 1_048_576;

/// What a publisher is told once.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) fifo: bool,
    pub(super) message_group_id: Option<String>,
    pub(super) content_based_deduplication: bool,
    pub(super) lang: Cow<'static, str>,
    pub(super) max_message_bytes: usize,
    pub(super) telemetry: Telemetry,
    pub(super) read_queue_limit: bool,
    pub(super) retry: Retry,
    #[cfg(feature = "payload-store")]
    pub(super) offload: Option<crate::payload_store::Offload>,
}

/// Makes an [`SqsPublisher`]; start with [`SqsPublisher::builder`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct SqsPublisherBuilder {
    client: Client,
    target: Target,
    fifo: Option<bool>,
    settings: Settings,
}

impl SqsPublisherBuilder {
    pub(super) fn new(client: Client, target: Target) -> Self {
        let settings = Settings {
            fifo: target.is_fifo(),
            message_group_id: None,
            content_based_deduplication: false,
            lang: Cow::Borrowed(LANG),
            max_message_bytes: MAX_MESSAGE_BYTES,
            telemetry: Telemetry::default(),
            read_queue_limit: false,
            retry: retry(&client),
            #[cfg(feature = "payload-store")]
            offload: None,
        };
        Self {
            client,
            target,
            fifo: None,
            settings,
        }
    }

    /// Finds the queue under `<prefix>/<name>` instead of asking SQS for its URL: a queue URL
    /// without its last segment, such as `https://sqs.eu-west-1.amazonaws.com/123456789012`.
    /// Only for a publisher that was given a queue name.
    pub fn url_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.target.set_prefix(prefix.into());
        self
    }

    /// `MessageGroupId` of messages that have none of their own (SPEC §2.3). The same group for
    /// all messages makes a FIFO queue handle them one by one.
    pub fn message_group_id(mut self, group_id: impl Into<String>) -> Self {
        self.settings.message_group_id = Some(group_id.into());
        self
    }

    /// Leaves deduplication to SQS, by the content of the body: no `MessageDeduplicationId` is
    /// sent, unless a message has its own. The queue must have `ContentBasedDeduplication`. Every
    /// envelope has an id and a time of its own, so this only finds the very same bytes.
    pub fn content_based_deduplication(mut self, on: bool) -> Self {
        self.settings.content_based_deduplication = on;
        self
    }

    /// `meta.lang`, `rust` unless set (SPEC §1.7).
    pub fn lang(mut self, lang: impl Into<Cow<'static, str>>) -> Self {
        self.settings.lang = lang.into();
        self
    }

    /// The largest message in bytes, attributes included, and the most that goes into one request
    /// of a batch: 1,048,576 unless set (SPEC §2.5). Lower it for a queue with a lower
    /// `MaximumMessageSize`, or let [`read_queue_limit`](Self::read_queue_limit) do that.
    pub fn max_message_bytes(mut self, bytes: usize) -> Self {
        self.settings.max_message_bytes = bytes;
        self
    }

    /// Spans and metrics of what is published, and its trace beside it (SPEC §3.5): none unless
    /// set.
    #[cfg(feature = "otel")]
    pub fn telemetry(mut self, telemetry: Telemetry) -> Self {
        self.settings.telemetry = telemetry;
        self
    }

    /// Asks the queue for its `MaximumMessageSize` before the first publish, by one
    /// `GetQueueAttributes`, and goes by it where it is lower than
    /// [`max_message_bytes`](Self::max_message_bytes). When it cannot be read, that is logged, and
    /// not asked again. Off unless set: it takes the permission `sqs:GetQueueAttributes`.
    pub fn read_queue_limit(mut self, on: bool) -> Self {
        self.settings.read_queue_limit = on;
        self
    }

    /// Moves large messages to a store, and sends pointers in their place: a store, or an
    /// [`Offload`](crate::payload_store::Offload) that says more. Consumers must be able to follow
    /// them (SPEC §4.10).
    #[cfg(feature = "payload-store")]
    pub fn offload(mut self, offload: impl Into<crate::payload_store::Offload>) -> Self {
        self.settings.offload = Some(offload.into());
        self
    }

    /// The pauses between the attempts of a message. Unless set they begin at 100 ms, double up
    /// to 5 s, and are spread over zero to that ([`Jitter::Full`](crate::Jitter)).
    ///
    /// Only what may pass is tried again: throttling, faults of SQS, lost connections and answers,
    /// and entries of a batch that SQS failed on its own account. Every attempt sends the very
    /// same message, its id and its deduplication id included.
    pub fn retry(mut self, backoff: Backoff) -> Self {
        self.settings.retry.backoff = backoff;
        self
    }

    /// The most attempts of one message, the first included; at least 1. Unless set only
    /// [`send_timeout`](Self::send_timeout) ends them; with a client whose own retries are
    /// disabled there is one.
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.settings.retry.max_attempts = Some(attempts);
        self
    }

    /// How long a message is tried in all, attempts and pauses: 30 s unless set, or the operation
    /// timeout of the client if it has one. Up to four minutes, so that on a FIFO queue every
    /// retry falls into the five minutes in which SQS knows duplicates.
    ///
    /// For [`publish_batch`](SqsPublisher::publish_batch) the time runs anew whenever SQS has
    /// taken a message: a batch of any length may take its time as long as it moves.
    pub fn send_timeout(mut self, timeout: Duration) -> Self {
        self.settings.retry.timeout = timeout;
        self
    }

    /// States the type of the queue. It follows from the name already; a statement that
    /// contradicts it is a build error.
    pub fn fifo(mut self, fifo: bool) -> Self {
        self.fifo = Some(fifo);
        self
    }

    /// Checks the settings and makes the publisher. Does no I/O.
    ///
    /// # Errors
    /// [`BuildError`] when the queue URL does not go with the client's endpoint, the name is not
    /// one of SQS, the FIFO settings contradict the queue's type, the size limit is zero or beyond
    /// what SQS takes, or the retries have no attempt, no time or pauses that are no time.
    pub fn build(self) -> Result<SqsPublisher, BuildError> {
        self.check()?;
        Ok(self.assemble(None))
    }

    /// With a mistake kept for the first publish, for [`SqsPublisher::new`], which cannot fail.
    pub(super) fn build_or_tell(self) -> SqsPublisher {
        let mistake = self.check().err();
        self.assemble(mistake)
    }

    fn assemble(self, mistake: Option<BuildError>) -> SqsPublisher {
        let observer = self.settings.telemetry.observer(self.target.name(), None);
        let client = client::sending(&self.client, &observer);
        SqsPublisher::from_parts(client, self.target, self.settings, observer, mistake)
    }

    fn check(&self) -> Result<(), BuildError> {
        let Self {
            client,
            target,
            fifo,
            settings,
        } = self;
        target.check()?;
        if let Some(url) = target.known_url() {
            endpoint::check(client, &url)?;
        }
        let queue = target.name().to_owned();
        if fifo.is_some_and(|fifo| fifo != is_fifo(&queue)) {
            return Err(BuildError::FifoFlag {
                queue,
                fifo: !settings.fifo,
            });
        }
        if settings.content_based_deduplication && !settings.fifo {
            return Err(BuildError::FifoOption {
                queue,
                option: "content_based_deduplication",
            });
        }
        if let Some(group_id) = &settings.message_group_id
            && !is_legal_id(group_id)
        {
            return Err(BuildError::range(
                "message_group_id",
                format!("{group_id:?}"),
                "1 to 128 letters, digits and punctuation characters",
            ));
        }
        if !(1..=MAX_MESSAGE_BYTES).contains(&settings.max_message_bytes) {
            return Err(BuildError::range(
                "max_message_bytes",
                settings.max_message_bytes,
                "1 to 1048576 bytes",
            ));
        }
        settings.retry.check()?;
        #[cfg(feature = "payload-store")]
        if let Some(offload) = &settings.offload {
            check_offload(offload, settings.max_message_bytes)?;
        }
        Ok(())
    }
}

/// A threshold beyond the limit would be one that offloads nothing.
#[cfg(feature = "payload-store")]
fn check_offload(
    offload: &crate::payload_store::Offload,
    max_message_bytes: usize,
) -> Result<(), BuildError> {
    let threshold = offload.threshold.unwrap_or(max_message_bytes);
    if !(1..=max_message_bytes).contains(&threshold) {
        return Err(BuildError::range(
            "Offload::threshold",
            threshold,
            "1 to `max_message_bytes`, which is 1048576 bytes unless set",
        ));
    }
    offload.check().map_err(|(location, reason)| {
        BuildError::range(
            "offload",
            format!("`{location}`: {reason}"),
            "a store with a bucket, a region and a prefix that make legal keys",
        )
    })
}

/// What the user's client says of retries stands, and the defaults where it says nothing.
fn retry(client: &Client) -> Retry {
    let sends = client::Sends::of(client);
    let default = Retry::default();
    Retry {
        attempt: sends.attempt,
        timeout: sends.operation.unwrap_or(default.timeout),
        max_attempts: sends.once.then_some(1),
        ..default
    }
}
