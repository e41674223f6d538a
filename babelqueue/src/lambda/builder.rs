//! The settings of a Lambda consumer, one method each.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_sqs::Client;

use super::backoff::RetrySetting;
use super::consumer::LambdaConsumer;
use crate::aws::{BuildError, Settings};
use crate::handler::SharedState;
use crate::invocation::Invocation;
use crate::pipeline::Bound;
use crate::router::Routes;
use crate::{BoxError, BoxFuture};

/// Makes a [`LambdaConsumer`]; start with [`LambdaConsumer::builder`].
#[derive(Clone)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct LambdaConsumerBuilder<R, S = ()> {
    router: R,
    state: S,
    options: Options,
}

/// Called around every invocation.
pub(super) type Hook = Arc<dyn Fn(Invocation) -> BoxFuture<'static, ()> + Send + Sync>;

/// Gives the retry backoff when it is first needed.
pub(super) type Provider = Arc<dyn Fn() -> Result<RetrySetting, BoxError> + Send + Sync>;

/// Every option with its default.
#[derive(Clone)]
pub(super) struct Options {
    pub(super) settings: Settings,
    pub(super) client: Option<Client>,
    pub(super) concurrency: usize,
    pub(super) deadline_margin: Duration,
    pub(super) retry_backoff: Option<Provider>,
    pub(super) backoff_on_error: bool,
    pub(super) on_start: Option<Hook>,
    pub(super) on_end: Option<Hook>,
}

impl<R> LambdaConsumerBuilder<R> {
    pub(super) fn new(router: R) -> Self {
        Self {
            router,
            state: (),
            options: Options {
                settings: Settings::default(),
                client: None,
                concurrency: 10,
                deadline_margin: Duration::from_secs(1),
                retry_backoff: None,
                backoff_on_error: true,
                on_start: None,
                on_end: None,
            },
        }
    }
}

impl<R, S> LambdaConsumerBuilder<R, S> {
    fn with(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(&mut self.options);
        self
    }

    fn with_settings(self, change: impl FnOnce(&mut Settings)) -> Self {
        self.with(|options| change(&mut options.settings))
    }

    /// The state that handlers take parts of with `State<T>`.
    pub fn state<T>(self, state: T) -> LambdaConsumerBuilder<R, T> {
        LambdaConsumerBuilder {
            router: self.router,
            state,
            options: self.options,
        }
    }

    /// The client for dead letters and for the delays of failed messages; others of the same
    /// configuration are made from it for queues of other regions, when they are first needed.
    /// A consumer that does neither needs none.
    pub fn client(self, client: Client) -> Self {
        self.with(|options| options.client = Some(client))
    }

    /// How many handlers run at a time in an invocation, a batch counting as one: 10 unless set.
    pub fn concurrency(self, handlers: usize) -> Self {
        self.with(|options| options.concurrency = handlers)
    }

    /// How long before the function's deadline handlers are cancelled, so that the answer gets
    /// out: 1 s unless set, and never more than half of the time that there is (SPEC §4.8). A
    /// handler that blocks its thread cannot be cancelled: the answer gets out without it as long
    /// as the runtime has another worker thread, which a `current_thread` one has not.
    pub fn deadline_margin(self, margin: Duration) -> Self {
        self.with(|options| options.deadline_margin = margin)
    }

    /// When failed messages come again: a [`RetryBackoff`](super::RetryBackoff), or `true` for the
    /// defaults. Off unless set; then the queue's visibility timeout decides. Needs a
    /// [`client`](Self::client) and the permission `sqs:ChangeMessageVisibility`
    /// (SPEC §4.7). It is an alternative to `retry` and `release_delay`.
    ///
    /// A setting that cannot be used is logged once and switches the backoff off; check it with
    /// [`RetryBackoff::validate`](super::RetryBackoff::validate).
    pub fn retry_backoff(self, setting: impl Into<RetrySetting>) -> Self {
        let setting = setting.into();
        if setting.is_off() {
            return self.with(|options| options.retry_backoff = None);
        }
        self.retry_backoff_with(move || Ok::<_, BoxError>(setting.clone()))
    }

    /// The same from a provider, which is asked once, when a message has failed for the first
    /// time.
    pub fn retry_backoff_with<F, T, E>(self, provider: F) -> Self
    where
        F: Fn() -> Result<T, E> + Send + Sync + 'static,
        T: Into<RetrySetting>,
        E: Into<BoxError>,
    {
        let provider = move || provider().map(Into::into).map_err(Into::into);
        self.with(|options| options.retry_backoff = Some(Arc::new(provider)))
    }

    /// Whether the [`retry_backoff`](Self::retry_backoff) also applies to messages whose handlers
    /// returned an error or panicked, and not only to those that were
    /// [reported](Invocation::add_failed_message): yes unless switched off.
    pub fn backoff_on_error(self, on: bool) -> Self {
        self.with(|options| options.backoff_on_error = on)
    }

    /// Is called before the records of each invocation.
    pub fn on_start<F, Fut>(self, hook: F) -> Self
    where
        F: Fn(Invocation) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.with(|options| options.on_start = Some(erased(hook)))
    }

    /// Is called after the records of each invocation, failed ones included, and before delays
    /// are set.
    pub fn on_end<F, Fut>(self, hook: F) -> Self
    where
        F: Fn(Invocation) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.with(|options| options.on_end = Some(erased(hook)))
    }

    crate::aws::settings_methods!();

    /// Checks the settings and makes the consumer. Does no I/O.
    ///
    /// # Errors
    /// [`BuildError`], which says what to change.
    pub fn build(self) -> Result<LambdaConsumer, BuildError>
    where
        R: Routes<S>,
        S: SharedState,
    {
        check(&self.options)?;
        let dispatch = Arc::new(Bound::new(self.router, self.state));
        Ok(LambdaConsumer::new(self.options, dispatch))
    }
}

fn erased<F, Fut>(hook: F) -> Hook
where
    F: Fn(Invocation) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    // The call itself belongs into the future, so that a panic of either is fenced in.
    let hook = Arc::new(hook);
    Arc::new(move |invocation| {
        let hook = Arc::clone(&hook);
        Box::pin(async move { hook(invocation).await })
    })
}

fn check(options: &Options) -> Result<(), BuildError> {
    let settings = &options.settings;
    settings.check()?;
    if options.concurrency == 0 {
        return Err(BuildError::range("concurrency", 0, "at least 1"));
    }
    let family = settings.backoff.is_some() || settings.release_delay.is_some();
    if family && options.retry_backoff.is_some() {
        return Err(BuildError::TwoBackoffs);
    }
    if let Some(queue) = &settings.dead_letter_queue {
        // Which queues there will be only events tell, but what no queue can be called is known.
        queue.resolve("https://sqs/1/q")?;
    }
    if options.client.is_some() {
        return Ok(());
    }
    let needing = [
        ("dead_letter_queue", settings.dead_letter_queue.is_some()),
        ("retry_backoff", options.retry_backoff.is_some()),
        ("retry", settings.backoff.is_some()),
        ("release_delay", settings.release_delay.is_some()),
    ];
    match needing.into_iter().find(|(_, is_set)| *is_set) {
        Some((option, _)) => Err(BuildError::NoClient { option }),
        None => Ok(()),
    }
}

impl<R, S> std::fmt::Debug for LambdaConsumerBuilder<R, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LambdaConsumerBuilder")
            .finish_non_exhaustive()
    }
}
