//! The queues that events come from: what is derived from a queue's ARN, once for a consumer.
//! What only a call of SQS needs, a client in the queue's region and the URLs, is made for the
//! first one: most invocations of a function make none.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::ChangeMessageVisibilityBatchRequestEntry;
use tokio::sync::OnceCell;

use crate::aws::calls::{Changed, bury, change_visibility};
use crate::aws::{BuildError, QueueArn, Settings, client, endpoint};
use crate::fields;
use crate::pipeline::{Counters, DeadLetterMessage, Handling, Pipeline};
use crate::policy::is_fifo;
use crate::{BoxError, BoxFuture};

/// Stands for the endpoint as long as only names matter.
const ANY_ENDPOINT: &str = "https://sqs";

/// Makes and keeps them.
pub(super) struct Queues {
    template: Option<Client>,
    settings: Settings,
    handling: Arc<Handling>,
    sources: Mutex<HashMap<String, Arc<Source>>>,
}

/// One queue.
pub(super) struct Source {
    pub(super) fifo: bool,
    pub(super) pipeline: Pipeline,
    pub(super) counters: Arc<Counters>,
    settings: Settings,
    template: Option<Client>,
    arn: Option<QueueArn>,
    place: OnceCell<Option<Place>>,
    dead_letter_url: OnceCell<Result<String, BuildError>>,
}

/// Where the calls about a queue go.
pub(super) struct Place {
    client: Client,
    /// Tries once.
    once: Client,
    /// URL of the queue.
    url: String,
}

impl Place {
    /// Changes the visibility of up to ten messages. It is tried once: they come again anyway.
    pub(super) fn change(
        &self,
        entries: Vec<ChangeMessageVisibilityBatchRequestEntry>,
    ) -> BoxFuture<'static, Changed> {
        change_visibility(&self.once, &self.url, entries)
    }
}

/// Why a copy could not be sent.
#[derive(Debug, thiserror::Error)]
#[error("there is no dead-letter queue to send to")]
struct NoQueue(#[source] Option<BuildError>);

impl Queues {
    pub(super) fn new(
        template: Option<Client>,
        settings: Settings,
        handling: Arc<Handling>,
    ) -> Self {
        Self {
            template,
            settings,
            handling,
            sources: Mutex::default(),
        }
    }

    #[cfg(feature = "idempotency")]
    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The queue with this ARN.
    pub(super) fn source(&self, arn: &str) -> Arc<Source> {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(source) = sources.get(arn) {
            return Arc::clone(source);
        }
        let source = Arc::new(self.make(arn));
        sources.insert(arn.to_owned(), Arc::clone(&source));
        source
    }

    fn make(&self, text: &str) -> Source {
        let arn = QueueArn::parse(text);
        let dead_letter_url = match &arn {
            Some(arn) => self.settings.dead_letter_url(&arn.url(ANY_ENDPOINT)),
            None => Ok(None),
        };
        let dead_letter_url = dead_letter_url.unwrap_or_else(|error| {
            tracing::error!({ fields::ARN } = text, "no dead-letter queue: {error}");
            None
        });
        let queue = text.rsplit(':').next().unwrap_or_default();
        let settings = &self.settings;
        let observer = settings.telemetry.observer(queue, settings.redact.as_ref());
        let counters = Arc::new(Counters::observed(&observer));
        Source {
            fifo: is_fifo(queue),
            pipeline: self.settings.clone().pipeline(
                queue.into(),
                Arc::clone(&self.handling),
                dead_letter_url.as_deref(),
                Arc::clone(&counters),
            ),
            counters,
            settings: self.settings.clone(),
            template: self.template.clone(),
            arn,
            place: OnceCell::new(),
            dead_letter_url: OnceCell::new(),
        }
    }
}

impl Source {
    /// Where the queue is; `None` when its ARN is none, or the consumer has no client.
    pub(super) async fn place(&self) -> Option<&Place> {
        let make = || async {
            let (arn, template) = (self.arn.as_ref()?, self.template.as_ref()?);
            let client = client::settling_in(template, &arn.region, &self.pipeline.observer);
            let url = arn.url(&endpoint::url_of(&client).await?);
            let once = client::once(&client);
            Some(Place { client, once, url })
        };
        self.place.get_or_init(make).await.as_ref()
    }

    /// Sends a copy to the dead-letter queue.
    pub(super) async fn bury(&self, message: DeadLetterMessage) -> Result<(), BoxError> {
        let place = self.place().await.ok_or(NoQueue(None))?;
        let make = || async {
            let url = self.settings.dead_letter_url(&place.url)?;
            let url = url.unwrap_or_default();
            endpoint::check(&place.client, &url)?;
            Ok(url)
        };
        match self.dead_letter_url.get_or_init(make).await {
            Ok(url) => bury(&place.client, Some(url.clone()), message).await,
            Err(error) => Err(NoQueue(Some(error.clone())).into()),
        }
    }

    /// Whether the ARN is one.
    pub(super) fn has_arn(&self) -> bool {
        self.arn.is_some()
    }

    /// Whether there is anything to call SQS with.
    pub(super) fn has_client(&self) -> bool {
        self.template.is_some()
    }
}
