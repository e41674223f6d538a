//! The queues that events come from: what is derived from a queue's ARN, once for a consumer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_sdk_sqs::Client;
use tokio::sync::OnceCell;

use crate::aws::{QueueArn, Settings, client, endpoint};
use crate::fields;
use crate::pipeline::{Counters, Handling, Pipeline};
use crate::policy::is_fifo;

/// Makes and keeps them.
pub(super) struct Queues {
    template: Option<Client>,
    settings: Settings,
    handling: Arc<Handling>,
    clients: Mutex<HashMap<String, Client>>,
    sources: Mutex<HashMap<String, Arc<Source>>>,
}

/// One queue.
pub(super) struct Source {
    pub(super) fifo: bool,
    pub(super) pipeline: Pipeline,
    pub(super) dead_letter_url: Option<String>,
    /// In the queue's region; `None` when its ARN is none, or the consumer has no client.
    pub(super) client: Option<Client>,
    arn: Option<QueueArn>,
    url: OnceCell<Option<String>>,
}

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
            clients: Mutex::default(),
            sources: Mutex::default(),
        }
    }

    #[cfg(feature = "idempotency")]
    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The queue with this ARN.
    pub(super) async fn source(&self, arn: &str) -> Arc<Source> {
        if let Some(source) = lock(&self.sources).get(arn) {
            return Arc::clone(source);
        }
        let made = Arc::new(self.make(arn).await);
        // Of two invocations that make one at the same time, the first one's stays.
        let mut sources = lock(&self.sources);
        Arc::clone(sources.entry(arn.to_owned()).or_insert(made))
    }

    async fn make(&self, text: &str) -> Source {
        let arn = QueueArn::parse(text);
        let queue = text.rsplit(':').next().unwrap_or_default();
        let observer = self.settings.telemetry.observer(queue);
        let client = arn.as_ref().and_then(|arn| self.client_in(&arn.region));
        let client = client.map(|client| client::watching(&client, &observer));
        let url = OnceCell::new();
        let mut dead_letter_url = None;
        if self.settings.dead_letter_queue.is_some() {
            let found = url_of(arn.as_ref(), client.as_ref()).await;
            dead_letter_url = match found
                .as_deref()
                .map(|url| self.settings.dead_letter_url(url))
            {
                Some(Ok(url)) => url,
                Some(Err(error)) => {
                    tracing::error!({ fields::ARN } = text, "no dead-letter queue: {error}");
                    None
                }
                None => {
                    tracing::error!(
                        { fields::ARN } = text,
                        "no dead-letter queue: the ARN is not a queue's"
                    );
                    None
                }
            };
            let _ = url.set(found);
        }
        Source {
            fifo: is_fifo(queue),
            pipeline: self.settings.clone().pipeline(
                queue.into(),
                Arc::clone(&self.handling),
                dead_letter_url.as_deref(),
                Arc::new(Counters::observed(&observer)),
            ),
            dead_letter_url,
            client,
            arn,
            url,
        }
    }

    /// One client for each region.
    fn client_in(&self, region: &str) -> Option<Client> {
        let template = self.template.as_ref()?;
        let mut clients = lock(&self.clients);
        let make = || client::settling_in(template, region);
        let client = clients.entry(region.to_owned()).or_insert_with(make);
        Some(client.clone())
    }
}

impl Source {
    /// URL of the queue; `None` when its ARN is none, or the consumer has no client.
    pub(super) async fn url(&self) -> Option<&str> {
        let make = || url_of(self.arn.as_ref(), self.client.as_ref());
        self.url.get_or_init(make).await.as_deref()
    }

    /// Whether the ARN is one.
    pub(super) fn has_arn(&self) -> bool {
        self.arn.is_some()
    }
}

async fn url_of(arn: Option<&QueueArn>, client: Option<&Client>) -> Option<String> {
    let endpoint = endpoint::url_of(client?).await?;
    Some(arn?.url(&endpoint))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
