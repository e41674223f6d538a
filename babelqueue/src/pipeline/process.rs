//! One message from record to settlement: the stages put together, user code fenced in. Decides
//! by [`settle`]; what comes out is for the driver to perform.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tracing::Instrument as _;

use super::clock::Clock;
use super::failure::{
    OutcomeError, Panicked, UnknownUrnError, VersionGateError, panic_text, short_type_name,
};
use super::foreign::Decode;
use super::handling::Handling;
use super::intake::{Opened, Reading, open};
use super::layers::Layered;
use super::middleware::Next;
use super::processed::{Ending, Processed, Seen, Settlement};
use super::record::Record;
use super::report::{Reporter, Subject};
use crate::BoxFuture;
use crate::context::{Context, Delivery};
use crate::envelope::Envelope;
use crate::fields;
use crate::handler::{ErrorKind, HandlerError, Outcome};
use crate::policy::{
    Action, Backoff, Event, HookResult, Pause, ReportKind, Rules, WireDelay, settle,
};
use crate::telemetry::{Failure, Handled, Observer, Processing};

/// The unknown-URN hook.
pub(crate) type UnknownHook =
    Arc<dyn Fn(Delivery) -> BoxFuture<'static, Result<(), HandlerError>> + Send + Sync>;

/// The caller's own pause, over the backoff: by the reconciled attempts.
pub(crate) type ReleaseDelay = Arc<dyn Fn(u64) -> Duration + Send + Sync>;

/// What the pipeline must know of the dead-letter queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeadLetterTarget {
    pub(crate) fifo: bool,
    pub(crate) max_bytes: usize,
}

/// Everything that decides what becomes of a message.
pub(crate) struct Pipeline {
    pub(crate) queue: Arc<str>,
    pub(crate) handling: Arc<Handling>,
    /// The user's layers around it, the outermost first to be called.
    pub(crate) middleware: Option<Next>,
    /// What reads bodies that are no envelopes, in the order of asking.
    pub(crate) decoders: Vec<Arc<dyn Decode>>,
    pub(crate) rules: Rules,
    pub(crate) backoff: Backoff,
    pub(crate) release_delay: Option<ReleaseDelay>,
    pub(crate) dead_letters: Option<DeadLetterTarget>,
    pub(crate) lenient: bool,
    pub(crate) lang: Cow<'static, str>,
    #[cfg(feature = "idempotency")]
    pub(crate) guard: Option<crate::idempotency::Idempotency>,
    pub(crate) unknown_hook: Option<UnknownHook>,
    pub(crate) reporter: Reporter,
    pub(crate) observer: Observer,
    pub(crate) clock: Clock,
}

/// The error that goes with an event: into reports and into the dead letter.
#[derive(Clone, Copy)]
pub(super) struct Cause<'a> {
    pub(super) error: &'a (dyn StdError + Send + Sync + 'static),
    pub(super) exception: Option<&'a str>,
}

impl<'a> Cause<'a> {
    fn new(error: &'a (dyn StdError + Send + Sync + 'static), exception: &'a str) -> Self {
        Self {
            error,
            exception: Some(exception),
        }
    }
}

impl Pipeline {
    /// Takes one message all the way. Panics of user code end in the settlement of this message.
    pub(crate) async fn process(&self, mut record: Record) -> Processed {
        match self.begin(&mut record) {
            Ok(delivery) => self.route(&record, delivery).await,
            Err(processed) => self.unhandled(*processed),
        }
    }

    /// The part that waits for nothing, apart from the future for its room: the delivery that a
    /// handler may have, or the end of a message that none gets.
    fn begin(&self, record: &mut Record) -> Result<Delivery, Box<Processed>> {
        let reading = Reading {
            lenient: self.lenient,
            decoders: &self.decoders,
            queue: &self.queue,
        };
        Err(Box::new(match open(record, reading) {
            Opened::Gated { body, declared } => {
                let error = VersionGateError { declared };
                let cause = Cause::new(&error, "VersionGateError");
                self.finish(record, Seen::Body(body), Event::Gated, Some(cause))
            }
            Opened::Poison { body, error } => {
                let cause = Cause::new(&error, error.name());
                self.finish(record, Seen::Body(body), Event::Poison, Some(cause))
            }
            Opened::Unreadable { body, error } => {
                let cause = Cause::new(&error, "DecodeError");
                self.finish(record, Seen::Body(body), Event::Poison, Some(cause))
            }
            Opened::UnsupportedVersion {
                envelope,
                received,
                error,
            } => {
                let cause = Cause::new(&error, error.name());
                let seen = Seen::Envelope(Box::new(envelope), received);
                self.finish(record, seen, Event::UnsupportedVersion, Some(cause))
            }
            Opened::NotAccepted {
                envelope,
                received,
                error,
            } => {
                let cause = Cause::new(&error, error.name());
                let seen = Seen::Envelope(Box::new(envelope), received);
                self.finish(record, seen, Event::NotAccepted, Some(cause))
            }
            Opened::Accepted {
                envelope,
                attempts,
                trace_id,
            } => {
                let headers = record.headers();
                let source = record.source(&self.queue);
                let mut context = Context::new(envelope, attempts, headers, source)
                    .with_lease(record.lease.clone());
                if let Some(trace_id) = trace_id {
                    context = context.with_trace_id(trace_id);
                }
                return Ok(Delivery::new(context));
            }
        }))
    }

    async fn route(&self, record: &Record, delivery: Delivery) -> Processed {
        let context = delivery.context();
        let Some(handler) = self.handling.dispatch.find(context.urn()) else {
            let processed = self.unknown_urn(record, delivery).await;
            return self.unhandled(processed);
        };
        let routed = !self.handling.dispatch.is_fallback(handler);
        let waited = || self.clock.since(record.sent_at?);
        let processing = self.observer.processing(context, routed, waited);
        let span = processing.within(|| {
            tracing::info_span!(
                "process",
                { fields::URN } = context.urn(),
                { fields::HANDLER } = self.handling.dispatch.handler_name(handler),
                { fields::QUEUE } = &*self.queue,
                { fields::MESSAGE_ID } = context.source().message_id,
                { fields::TRACE_ID } = context.trace_id(),
                { fields::ATTEMPTS } = context.attempts(),
            )
        });
        // What a handler's own fence does not hold: layers, stores and schemas are user code, too.
        let layered = AssertUnwindSafe(self.layered(record, handler, delivery.clone()));
        let layered = processing.scope(layered.catch_unwind().instrument(span));
        let layered = layered.await.unwrap_or_else(|panic| {
            let panicked = Panicked(panic_text(&*panic));
            Layered::Answer(Err(HandlerError::of_kind(ErrorKind::Panic, panicked)))
        });
        let mut processed = self.conclude(record, delivery, layered, &processing);
        processed.handled = processing.end(processed.outcome());
        processed
    }

    /// Tells telemetry of a message that no handler had.
    fn unhandled(&self, processed: Processed) -> Processed {
        self.observer.unhandled(processed.outcome());
        processed
    }

    /// From what the layers came to, to what is done with the message.
    fn conclude(
        &self,
        record: &Record,
        delivery: Delivery,
        layered: Layered,
        processing: &Processing,
    ) -> Processed {
        let result = match layered {
            Layered::Answer(result) => result,
            Layered::Duplicate => {
                return self.unreported(Settlement::Delete, Ending::Duplicate, delivery);
            }
            Layered::Held(remaining) => {
                // At once would only be the same answer again.
                let delay = WireDelay::given(remaining.max(Duration::from_secs(1)));
                return self.unreported(Settlement::Release(delay), Ending::Unhandled, delivery);
            }
        };
        let event = Event::Handled {
            result: &result,
            delivery_number: delivery.context().attempts().saturating_add(1),
        };
        let answer = OutcomeError::of(&result);
        let cause = match (&result, &answer) {
            (Err(error), _) => {
                let exception = short_type_name(error.type_name());
                Some(Cause::new(error.as_error(), exception))
            }
            (_, Some(answer)) => Some(Cause {
                error: answer,
                exception: None,
            }),
            _ => None,
        };
        if let Some(cause) = cause {
            let kind = result
                .as_ref()
                .map_or_else(HandlerError::kind, |_| ErrorKind::Handler);
            processing.failed(|| Failure {
                kind: kind.as_str(),
                exception: cause.exception,
                text: self.reporter.text(cause.error),
            });
        }
        self.finish(record, Seen::Delivery(delivery), event, cause)
    }

    /// What a layer has decided before the handler: no failure, and nothing to report.
    fn unreported(&self, settlement: Settlement, ending: Ending, delivery: Delivery) -> Processed {
        let message_id = &delivery.context().source().message_id;
        tracing::debug!(
            queue = &*self.queue,
            message_id,
            ?ending,
            "not handled again"
        );
        Processed {
            settlement,
            ending,
            seen: Seen::Delivery(delivery),
            handled: Handled::default(),
        }
    }

    async fn unknown_urn(&self, record: &Record, delivery: Delivery) -> Processed {
        let urn = delivery.context().urn().to_owned();
        let mut hook = HookResult::Absent;
        if let Some(call) = &self.unknown_hook {
            hook = HookResult::Succeeded;
            let call = Arc::clone(call);
            let argument = delivery.clone();
            let run = AssertUnwindSafe(async move { call(argument).await }).catch_unwind();
            let failure = match run.await {
                Ok(result) => result.err(),
                Err(panic) => Some(HandlerError::from(Panicked(panic_text(&*panic)))),
            };
            if let Some(error) = failure {
                hook = HookResult::Failed;
                let subject = subject(record, Some(delivery.context().envelope()));
                self.reporter
                    .report(ReportKind::Hook, subject, error.as_error());
            }
        }
        let error = UnknownUrnError { urn };
        let cause = Cause::new(&error, "UnknownUrnError");
        self.finish(
            record,
            Seen::Delivery(delivery),
            Event::UnknownUrn { hook },
            Some(cause),
        )
    }

    /// Decides, reports, and prepares what the driver performs.
    fn finish(
        &self,
        record: &Record,
        seen: Seen,
        event: Event<'_>,
        cause: Option<Cause<'_>>,
    ) -> Processed {
        let decision = settle(&self.rules, event);
        let ending = ending(event);
        // A failed hook has been reported when it ran.
        for kind in decision
            .reports
            .iter()
            .filter(|kind| **kind != ReportKind::Hook)
        {
            if let Some(cause) = cause {
                let subject = Subject {
                    settlement: Some(decision.action.as_str()),
                    ..subject(record, seen.envelope())
                };
                self.reporter.report(*kind, subject, cause.error);
            }
        }
        // Whoever set a strategy is told all the same that it was used.
        if let (Event::UnknownUrn { .. }, [], Some(strategy)) =
            (event, decision.reports, self.rules.unknown_urn)
        {
            tracing::warn!(
                { fields::URN } = seen.envelope().map(Envelope::urn),
                { fields::QUEUE } = &*self.queue,
                { fields::MESSAGE_ID } = record.message_id,
                { fields::STRATEGY } = strategy.as_str(),
                "no handler takes this URN"
            );
        }
        let settlement = match decision.action {
            Action::Delete => Settlement::Delete,
            Action::Leave => Settlement::Leave,
            Action::Release(pause) => Settlement::Release(self.pause(pause, record, &seen)),
            Action::DeadLetter(kind) => self.copy(kind, record, &seen, cause),
        };
        Processed {
            settlement,
            ending,
            seen,
            handled: Handled::default(),
        }
    }

    /// How long a released message pauses (SPEC §2.12).
    fn pause(&self, pause: Pause, record: &Record, seen: &Seen) -> WireDelay {
        let attempts = match seen {
            Seen::Delivery(delivery) => delivery.context().attempts(),
            _ => 0,
        };
        let receives = record.receives();
        if receives.is_none() {
            tracing::warn!(
                queue = &*self.queue,
                message_id = record.message_id,
                "SQS did not tell the receive count: the attempts of this message cannot advance"
            );
        }
        let delay = match (pause, &self.release_delay) {
            (Pause::Given(delay), _) => WireDelay::given(delay),
            (Pause::Policy, Some(release_delay)) => WireDelay::given(release_delay(attempts)),
            (Pause::Policy, None) => {
                let n = receives.unwrap_or(attempts.saturating_add(1));
                WireDelay::computed(self.backoff.delay_seconds(n, fastrand::f64()))
            }
        };
        if delay.altered {
            tracing::warn!(
                queue = &*self.queue,
                message_id = record.message_id,
                seconds = delay.seconds,
                "the delay was out of range and has been clamped"
            );
        }
        delay
    }
}

fn ending(event: Event<'_>) -> Ending {
    match event {
        Event::Handled {
            result: Ok(Outcome::Done),
            ..
        } => Ending::Handled,
        Event::Handled {
            result: Ok(Outcome::Discard),
            ..
        } => Ending::Discarded,
        Event::Handled { .. } => Ending::Failed,
        _ => Ending::Unhandled,
    }
}

pub(super) fn subject<'a>(record: &'a Record, envelope: Option<&'a Envelope>) -> Subject<'a> {
    Subject {
        message_id: &record.message_id,
        receive_count: record.receives(),
        envelope,
        settlement: None,
    }
}
