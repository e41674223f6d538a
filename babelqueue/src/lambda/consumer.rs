//! [`LambdaConsumer`]: what a function builds once and calls for every event.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use aws_lambda_events::sqs::SqsBatchResponse;
use lambda_runtime::LambdaEvent;
use tokio::time::{Instant, timeout_at};
use tracing::Instrument as _;

use super::builder::{Hook, LambdaConsumerBuilder, Options};
use super::event::Event;
#[cfg(feature = "idempotency")]
use super::fate::{Fate, Fates};
#[cfg(feature = "idempotency")]
use super::prepare::Job;
use super::queues::Queues;
use super::retries::Retries;
use super::run::Run;
use super::watch::Watched;
use crate::BoxFuture;
use crate::fields;
use crate::invocation::Invocation;
use crate::panics::fenced_async;
use crate::pipeline::{Clock, Dispatch};

/// The same handlers as behind a queue, behind AWS Lambda: an SQS event in, the messages that have
/// failed out (SPEC part 4). Cheap to clone; invocations that overlap know nothing of each other.
///
/// ```no_run
/// use babelqueue::LambdaConsumer;
/// use babelqueue::prelude::*;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize, BabelMessage)]
/// # #[urn = "urn:babel:orders:created"]
/// # struct OrderCreated {}
///
/// #[babel_handler]
/// async fn order_created(order: OrderCreated) { /* … */ }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// LambdaConsumer::builder(Router::from_handlers![order_created])
///     .build()?
///     .run()
///     .await
/// # }
/// ```
///
/// The event source mapping must have `ReportBatchItemFailures` among its `FunctionResponseTypes`.
/// Without it Lambda ignores the answer and takes every message for handled.
#[derive(Clone)]
pub struct LambdaConsumer {
    inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) options: Options,
    pub(super) queues: Queues,
    pub(super) retries: Retries,
    clock: Clock,
}

/// Until when an invocation may do what.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    /// Then handlers are cancelled.
    pub(super) cut: Option<Instant>,
    /// Then everything else is given up, too.
    pub(super) end: Option<Instant>,
}

impl Limits {
    fn of(invocation: &Invocation, margin: Duration) -> Self {
        let Some((deadline, remaining)) = invocation.deadline().zip(invocation.remaining()) else {
            return Self::default();
        };
        let margin = margin.min(remaining / 2);
        let before = |margin| Some(deadline.checked_sub(margin).unwrap_or(deadline));
        Self {
            cut: before(margin),
            end: before(margin / 4),
        }
    }

    /// Runs `work` until the end of the invocation at most.
    pub(super) async fn bounded<T>(self, work: impl Future<Output = T>) -> Option<T> {
        match self.end {
            None => Some(work.await),
            Some(end) => timeout_at(end, work).await.ok(),
        }
    }
}

impl LambdaConsumer {
    /// Starts a consumer of whatever queues are mapped to the function. `router` is what
    /// [`Router::from_handlers!`](crate::Router::from_handlers) returns.
    pub fn builder<R>(router: R) -> LambdaConsumerBuilder<R> {
        LambdaConsumerBuilder::new(router)
    }

    pub(super) fn new(options: Options, dispatch: Arc<dyn Dispatch>) -> Self {
        let settings = options.settings.clone();
        let handling = settings.handling(Arc::new(Watched(dispatch)));
        let queues = Queues::new(options.client.clone(), settings, handling);
        Self {
            inner: Arc::new(Inner {
                retries: Retries::new(&options),
                options,
                queues,
                clock: Clock::new(),
            }),
        }
    }

    /// Handles one event: for `lambda_runtime::service_fn(|event| consumer.handle(event))`.
    ///
    /// The answer lists the messages that are to come again, in the order of the event; all of
    /// them when all have failed, none when none has. What is no SQS event does not come this
    /// far: reading it as an [`Event`] is an error, and the invocation fails.
    ///
    /// # Errors
    /// None.
    pub async fn handle(&self, event: LambdaEvent<Event>) -> Result<SqsBatchResponse, Infallible> {
        let LambdaEvent { payload, context } = event;
        let remaining = (context.deadline > 0).then(|| {
            let now = u64::try_from(self.inner.clock.unix_millis()).unwrap_or_default();
            Duration::from_millis(context.deadline.saturating_sub(now))
        });
        let invocation = Invocation::traced(context.request_id, context.xray_trace_id, remaining);
        Ok(self.invocation(payload, invocation).await)
    }

    /// Handles one event outside of Lambda: for tests, and for running a function locally.
    ///
    /// ```
    /// use babelqueue::LambdaConsumer;
    /// use babelqueue::lambda::{Event, Invocation};
    /// use babelqueue::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    /// let consumer = LambdaConsumer::builder(Router::from_handlers![]).build()?;
    /// let event = Event::try_from(serde_json::json!({ "Records": [] }))?;
    /// let answer = consumer.invoke(event, Invocation::new("test", None)).await;
    /// assert!(answer.batch_item_failures.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn invoke(&self, event: Event, invocation: Invocation) -> SqsBatchResponse {
        self.invocation(event, invocation).await
    }

    /// In a box that is made here, so that what is in it is compiled here and once.
    fn invocation(&self, event: Event, invocation: Invocation) -> BoxFuture<'_, SqsBatchResponse> {
        let (request_id, xray_trace) = (invocation.request_id(), invocation.xray_trace_id());
        let telemetry = &self.inner.options.settings.telemetry;
        let invoked = telemetry.invocation(request_id, xray_trace, event.len());
        let span = invoked.within(|| {
            tracing::info_span!(
                "invocation",
                { fields::REQUEST_ID } = request_id,
                { fields::XRAY_TRACE_ID } = xray_trace,
                { fields::RECORDS } = event.len(),
            )
        });
        let work = self.inner.invoke(event, invocation.clone());
        Box::pin(async move { invoked.scope(work.instrument(span)).await })
    }

    /// Runs the function: takes events from Lambda until Lambda ends the process.
    ///
    /// # Errors
    /// Those of the runtime, outside of Lambda in particular.
    pub async fn run(self) -> Result<(), lambda_runtime::Error> {
        lambda_runtime::run(lambda_runtime::service_fn(|event| self.handle(event))).await
    }
}

impl Inner {
    async fn invoke(&self, event: Event, invocation: Invocation) -> SqsBatchResponse {
        let limits = Limits::of(&invocation, self.options.deadline_margin);
        self.call(&self.options.on_start, "on_start", &invocation, limits)
            .await;
        let records = event.into_records();
        let run = Run::new(self, &invocation, &records, limits);
        let (mut fates, jobs) = run.finish().await;
        self.call(&self.options.on_end, "on_end", &invocation, limits)
            .await;
        let unknown = fates.report(&invocation.take_failed());
        #[cfg(feature = "idempotency")]
        limits.bounded(self.forget(&fates, &jobs)).await;
        fates.close_groups();
        let delays = self
            .retries
            .apply(&fates, &jobs, unknown, invocation.elapsed());
        match fenced_async(limits.bounded(delays)).await {
            Ok(Some(())) => {}
            Ok(None) => tracing::warn!("no time was left to set the delays of failed messages"),
            Err(panicked) => {
                tracing::error!("setting the delays of failed messages {panicked}");
            }
        }
        fates.response()
    }

    /// What was reported after its handler had succeeded, by the handler of another message or by
    /// `on_end`, must run again, and not be taken for a duplicate.
    #[cfg(feature = "idempotency")]
    async fn forget(&self, fates: &Fates<'_>, jobs: &[Option<Job>]) {
        let Some(guard) = &self.options.settings.guard else {
            return;
        };
        let reported = fates
            .each()
            .filter(|(_, _, fate)| matches!(fate, Fate::Reported(_)));
        let ids = reported.filter_map(|(at, ..)| jobs.get(at)?.as_ref()?.remembered.as_deref());
        let forgotten = ids.map(|id| async move {
            if let Err(error) = guard.forget(id).await {
                tracing::warn!(
                    { fields::ID } = id,
                    "the success of a message could not be forgotten: {error}"
                );
            }
        });
        futures_util::future::join_all(forgotten).await;
    }

    async fn call(&self, hook: &Option<Hook>, name: &str, of: &Invocation, limits: Limits) {
        let Some(hook) = hook else { return };
        let call = limits.bounded(hook(of.clone()));
        if let Err(panicked) = fenced_async(call).await {
            tracing::error!("{name} {panicked}");
        }
    }
}

impl std::fmt::Debug for LambdaConsumer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LambdaConsumer").finish_non_exhaustive()
    }
}
