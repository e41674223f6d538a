//! [`LocalSqs`] and its builder: what a test or an example holds in its hand.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::config::{BehaviorVersion, Region};
use tokio::net::ToSocketAddrs;

use super::calls::Calls;
use super::clock::Clock;
use super::connector::InProcess;
use super::engine::Settings;
use super::engine::error::ApiError;
use super::faults::Faults;
use super::protocol::errors;
use super::server::LocalServer;
use super::service::Service;

/// An Amazon SQS inside the process.
///
/// A handle is cheap to clone, and all clones are one server. Nothing runs in the background:
/// what is due by tokio's clock has happened when the next call comes.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), aws_sdk_sqs::Error> {
/// use babelqueue::local::LocalSqs;
///
/// let local = LocalSqs::new();
/// let url = local.create_queue("orders");
/// let sqs = local.client();
/// sqs.send_message().queue_url(&url).message_body("hello").send().await?;
/// let received = sqs.receive_message().queue_url(&url).send().await?;
/// assert_eq!(received.messages()[0].body(), Some("hello"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct LocalSqs {
    pub(crate) service: Arc<Service>,
    region: String,
}

/// Why a queue could not be made or used.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the embedded SQS refused with {code}: {message}")]
pub struct LocalSqsError {
    code: &'static str,
    message: String,
}

impl LocalSqsError {
    /// The error code of SQS, such as `InvalidAttributeValue`.
    #[must_use]
    pub fn code(&self) -> &str {
        self.code
    }

    /// What was wrong.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl From<ApiError> for LocalSqsError {
    fn from(error: ApiError) -> Self {
        Self {
            code: errors::names(error.kind).query_code,
            message: error.message,
        }
    }
}

impl Default for LocalSqs {
    fn default() -> Self {
        Self::new()
    }
}

impl LocalSqs {
    /// A server without queues, with the settings that [`LocalSqsBuilder`] documents as defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Settings for a server.
    pub fn builder() -> LocalSqsBuilder {
        LocalSqsBuilder::default()
    }

    /// A client of this server: the real AWS SDK, on an HTTP layer that stays in the process.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::from_conf(self.client_config().build())
    }

    /// The configuration of [`client`](Self::client), to be changed first: retries, timeouts,
    /// interceptors. Credentials are dummies, and nothing is read from the environment.
    #[must_use]
    pub fn client_config(&self) -> aws_sdk_sqs::config::Builder {
        aws_sdk_sqs::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new(self.region.clone()))
            .endpoint_url(&self.service.endpoint)
            .credentials_provider(Credentials::from_keys("local", "local", None))
            .http_client(InProcess::new(Arc::clone(&self.service)))
    }

    /// Creates a queue with the default attributes, or finds the one of that name, and gives
    /// its URL. A name that ends in `.fifo` makes a FIFO queue.
    ///
    /// # Panics
    ///
    /// When SQS would not take the name, or a queue of that name was deleted less than a minute
    /// ago. [`create_queue_with`](Self::create_queue_with) gives an error instead.
    #[track_caller]
    pub fn create_queue(&self, name: &str) -> String {
        match self.create_queue_with(name, [] as [(&str, &str); 0]) {
            Ok(url) => url,
            Err(error) => panic!("the queue {name:?} cannot be created: {error}"),
        }
    }

    /// Creates a queue with attributes, named and written as in `CreateQueue`, and gives its URL.
    /// `FifoQueue` may be left out when the name ends in `.fifo`.
    ///
    /// ```
    /// # use babelqueue::local::LocalSqs;
    /// let local = LocalSqs::new();
    /// let url = local.create_queue_with("orders.fifo", [("VisibilityTimeout", "60")])?;
    /// assert_eq!(url, "http://sqs.local/000000000000/orders.fifo");
    /// # Ok::<(), babelqueue::local::LocalSqsError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// What `CreateQueue` answers: a bad name, an unknown attribute, a value out of range, a
    /// dead-letter queue that is not there, or a queue of that name with other attributes.
    pub fn create_queue_with<K, V>(
        &self,
        name: &str,
        attributes: impl IntoIterator<Item = (K, V)>,
    ) -> Result<String, LocalSqsError>
    where
        K: Into<String>,
        V: Into<String>,
    {
        let mut attributes: BTreeMap<String, String> = attributes
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        if name.ends_with(".fifo") {
            attributes
                .entry("FifoQueue".to_owned())
                .or_insert_with(|| "true".to_owned());
        }
        self.service
            .with(|engine, now| engine.create_queue(name, attributes, BTreeMap::new(), now))?;
        Ok(self.queue_url(name))
    }

    /// The URL of a queue, whether or not there is one of that name.
    #[must_use]
    pub fn queue_url(&self, name: &str) -> String {
        self.service.url(&self.service.endpoint, name)
    }

    /// The ARN of a queue, whether or not there is one of that name: what a redrive policy names.
    #[must_use]
    pub fn queue_arn(&self, name: &str) -> String {
        self.service.with(|engine, _| engine.arn(name).to_string())
    }

    /// The fault plan: what goes wrong, with which requests, how often.
    #[must_use]
    pub fn faults(&self) -> Faults {
        Faults::new(Arc::clone(&self.service))
    }

    /// The calls of clients so far. What a test does through this handle is not among them.
    #[must_use]
    pub fn calls(&self) -> Calls {
        self.service.calls().snapshot()
    }

    /// Forgets the calls so far.
    pub fn clear_calls(&self) {
        self.service.calls().clear();
    }

    /// Opens the server to other processes over HTTP, on this address and no other. Port 0
    /// takes any free one. The same queues can be used in the process at the same time.
    ///
    /// # Errors
    ///
    /// When the address cannot be bound.
    pub async fn serve(&self, addr: impl ToSocketAddrs) -> io::Result<LocalServer> {
        LocalServer::start(Arc::clone(&self.service), addr).await
    }
}

/// Settings of a [`LocalSqs`]. Where SQS leaves a choice, the default is what is least kind to
/// a careless client, so that a test fails here and not a service there.
#[derive(Clone, Debug)]
#[must_use]
pub struct LocalSqsBuilder {
    settings: Settings,
    endpoint: String,
    created_at: Option<SystemTime>,
    record_requests: bool,
}

impl Default for LocalSqsBuilder {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            endpoint: "http://sqs.local".to_owned(),
            created_at: None,
            record_requests: false,
        }
    }
}

impl LocalSqsBuilder {
    /// The region in ARNs and of clients; `us-east-1` when not set.
    pub fn region(mut self, region: impl Into<String>) -> Self {
        self.settings.region = region.into();
        self
    }

    /// The account in ARNs and queue URLs; `000000000000` when not set.
    pub fn account(mut self, account: impl Into<String>) -> Self {
        self.settings.account = account.into();
        self
    }

    /// Scheme and host of the queue URLs inside the process; `http://sqs.local` when not set.
    pub fn endpoint(mut self, endpoint: impl Into<String>) -> Self {
        self.endpoint = endpoint.into().trim_end_matches('/').to_owned();
        self
    }

    /// The seed of message ids, receipt handles and chances; 0 when not set. With the same seed
    /// and the same calls everything is the same again.
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// The wall time at which the server is created, for timestamps that are the same in every
    /// run; the system's when not set. A time before 1970 counts as its beginning.
    pub fn created_at(mut self, time: SystemTime) -> Self {
        self.created_at = Some(time);
        self
    }

    /// Whether a receipt handle of an earlier receive still acts on a standard queue. By default
    /// a delete with one succeeds and keeps the message, as the API reference says, and a change
    /// of visibility is refused. SQS is seen to act on them at times.
    pub fn old_handles_act(mut self, yes: bool) -> Self {
        self.settings.old_handles_act = yes;
        self
    }

    /// Whether a FIFO queue takes a message with `DelaySeconds` 0. By default it is refused like
    /// any other delay, as the API reference says; SQS is seen to take it.
    pub fn fifo_takes_zero_delay(mut self, yes: bool) -> Self {
        self.settings.fifo_takes_zero_delay = yes;
        self
    }

    /// Whether a dead letter starts again at a receive count of 0. By default it keeps its count.
    pub fn dead_letters_start_over(mut self, yes: bool) -> Self {
        self.settings.dead_letters_start_over = yes;
        self
    }

    /// Whether a change of visibility hides a message of a standard queue whose visibility timeout
    /// has expired and that nobody has received since. By default it is refused with
    /// `MessageNotInflight`, as the API reference says; SQS is seen to answer with success.
    pub fn expired_handles_hide(mut self, yes: bool) -> Self {
        self.settings.expired_handles_hide = yes;
        self
    }

    /// Whether a purge of a FIFO queue forgets what was sent to it. By default a deduplication id
    /// counts for five minutes even then, so that what is sent again after a purge is dropped.
    pub fn purge_forgets_duplicates(mut self, yes: bool) -> Self {
        self.settings.purge_forgets_duplicates = yes;
        self
    }

    /// How many messages of one queue can be in flight; 120 000 when not set, as in SQS.
    pub fn in_flight_limit(mut self, messages: usize) -> Self {
        self.settings.in_flight_limit = messages;
        self
    }

    /// How long the name of a deleted queue cannot be used again; 60 s when not set, as in SQS.
    pub fn name_rest(mut self, time: Duration) -> Self {
        self.settings.name_rest = time;
        self
    }

    /// How long after a purge the next one of the queue is refused; 60 s when not set, as in SQS.
    pub fn purge_rest(mut self, time: Duration) -> Self {
        self.settings.purge_rest = time;
        self
    }

    /// Whether the log of calls keeps the JSON of the latest requests. By default it does not.
    pub fn record_requests(mut self, yes: bool) -> Self {
        self.record_requests = yes;
        self
    }

    /// The server. Its clock is that of the tokio runtime it is built in.
    #[must_use]
    pub fn build(self) -> LocalSqs {
        let clock = Clock::new(self.created_at.unwrap_or_else(SystemTime::now));
        let region = self.settings.region.clone();
        LocalSqs {
            service: Arc::new(Service::new(
                self.settings,
                self.endpoint,
                clock,
                self.record_requests,
            )),
            region,
        }
    }
}
