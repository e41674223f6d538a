//! One message from record to settlement: the stages put together, user code fenced in.
//! What comes out is for the driver to perform.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use tracing::Instrument as _;

use super::clock::Clock;
use super::failure::{OutcomeError, UnknownUrnError, VersionGateError, short_type_name};
use super::foreign::Decode;
use super::handling::Handling;
use super::intake::Opened;
use super::layers::{Layered, Place};
use super::middleware::Next;
use super::processed::{Ending, Processed, Seen, Settlement};
use super::record::Record;
use super::report::{Reporter, Subject};
use crate::BoxFuture;
use crate::context::{Context, Delivery};
use crate::envelope::Envelope;
use crate::fields;
use crate::handler::{ErrorKind, HandlerError, HandlerResult, Withheld};
use crate::panics::{Panicked, fenced_async};
use crate::policy::{Backoff, Event, HookResult, ReportKind, Rules, WireDelay};
use crate::telemetry::{Failure, Observer, Processing};

/// The unknown-URN hook.
pub(crate) type UnknownHook =
    Arc<dyn Fn(Delivery) -> BoxFuture<'static, Result<(), HandlerError>> + Send + Sync>;

/// The caller's own pause, over the backoff: by the reconciled attempts.
pub(crate) type ReleaseDelay = Arc<dyn Fn(u64) -> Duration + Send + Sync>;

/// What the pipeline must know of the dead-letter queue.
#[derive(Debug)]
pub(crate) struct DeadLetterTarget {
    pub(crate) fifo: bool,
    /// How large a copy may be: what was configured, until the queue says that it takes less.
    pub(crate) max_bytes: AtomicUsize,
}

/// Everything that decides what becomes of a message.
pub(crate) struct Pipeline {
    pub(crate) queue: Arc<str>,
    pub(crate) handling: Arc<Handling>,
    /// The user's layers around it, the outermost first to be called.
    pub(crate) middleware: Option<Next>,
    /// What reads bodies that are no envelopes, in the order of asking.
    pub(crate) decoders: Vec<Arc<dyn Decode>>,
    /// What follows the pointers of large messages.
    #[cfg(feature = "payload-store")]
    pub(crate) payloads: Option<Arc<super::payloads::Payloads>>,
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
    pub(super) fn new(
        error: &'a (dyn StdError + Send + Sync + 'static),
        exception: &'a str,
    ) -> Self {
        Self {
            error,
            exception: Some(exception),
        }
    }
}

impl Pipeline {
    /// Takes one message all the way. Panics of user code end in the settlement of this message.
    /// The record is boxed, by the driver or here: its room in the future would be moved around.
    pub(crate) async fn process(&self, record: impl Into<Box<Record>>) -> Processed {
        let mut record = record.into();
        match self.look(&mut record) {
            Ok(delivery) => self.route(&record, delivery, Place::Alone).await,
            Err(opened) => self.not_opened(record, opened).await,
        }
    }

    /// The rest of the way of a message that is no delivery yet, or never.
    pub(super) async fn not_opened(&self, record: Box<Record>, opened: Box<Opened>) -> Processed {
        match *opened {
            #[cfg(feature = "payload-store")]
            Opened::Pointer(found) => Box::pin(self.process_pointer(record, *found)).await,
            opened => self.refuse(&record, opened),
        }
    }

    /// The end of a message that no handler may have, which telemetry is told of.
    pub(super) fn refuse(&self, record: &Record, opened: Opened) -> Processed {
        self.unhandled(match opened {
            #[cfg(feature = "payload-store")]
            Opened::Unfollowed { body, error } => self.unfollowed(record, body, &error),
            // It is to be followed, and nothing to refuse.
            #[cfg(feature = "payload-store")]
            Opened::Pointer(found) => Processed::left(found.body),
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
            Opened::Skipped { body } => {
                tracing::debug!(
                    { fields::QUEUE } = &*self.queue,
                    { fields::MESSAGE_ID } = record.message_id,
                    "skipped by a decoder"
                );
                Processed::new(Settlement::Delete, Ending::Discarded, Seen::Body(body))
            }
            // It is a delivery, and nothing to refuse.
            Opened::Accepted { envelope, .. } => Processed::left(envelope.into_body()),
        })
    }

    /// The span of one message (SPEC §4.5).
    pub(super) fn span(&self, record: &Record, context: &Context, handler: usize) -> tracing::Span {
        tracing::info_span!(
            "process",
            { fields::URN } = context.urn(),
            { fields::HANDLER } = self.handling.dispatch.handler_name(handler),
            { fields::QUEUE } = &*self.queue,
            { fields::MESSAGE_ID } = context.source().message_id,
            { fields::TRACE_ID } = context.trace_id(),
            { fields::ATTEMPTS } = context.attempts(),
            { fields::REQUEST_ID } = record.request_id(),
        )
    }

    /// To the handler of its URN, and to the end. What a handler's own fence does not hold:
    /// stores, schemas and policies are user code, too. The message has an end all the same.
    #[expect(
        clippy::manual_async_fn,
        reason = "it would have room for its arguments twice"
    )]
    pub(super) fn route<'a>(
        &'a self,
        record: &'a Record,
        delivery: Delivery,
        place: Place<'a>,
    ) -> impl Future<Output = Processed> + Send + 'a {
        async move {
            let context = delivery.context();
            let handler = self.handling.dispatch.find(context.urn());
            let processing = match handler {
                Some(handler) => {
                    let named = !self.handling.dispatch.is_fallback(handler);
                    let waited = || self.clock.since(record.sent_at?);
                    self.observer.processing(context, named, waited)
                }
                None => Processing::of_nothing(),
            };
            // Awaited where it is made: a variable would have room for the future twice.
            let routed =
                fenced_async(self.routed(record, delivery.clone(), handler, place, &processing))
                    .await;
            let mut processed = routed
                .unwrap_or_else(|panicked| self.failed(record, delivery, panicked, &processing));
            if handler.is_none() {
                return self.unhandled(processed);
            }
            processed.handled = processing.end(processed.ended());
            processed
        }
    }

    /// Tells telemetry of a message that no handler had.
    pub(super) fn unhandled(&self, processed: Processed) -> Processed {
        self.observer.unhandled(processed.ended());
        processed
    }

    #[expect(
        clippy::manual_async_fn,
        reason = "it would have room for its arguments twice"
    )]
    fn routed<'a>(
        &'a self,
        record: &'a Record,
        delivery: Delivery,
        handler: Option<usize>,
        place: Place<'a>,
        processing: &'a Processing,
    ) -> impl Future<Output = Processed> + Send + 'a {
        async move {
            let context = delivery.context();
            let Some(handler) = handler else {
                return self.unknown_urn(record, delivery).await;
            };
            let span = match place {
                Place::Alone => processing.within(|| self.span(record, context, handler)),
                Place::Shared(_) => context.span(),
            };
            let layered = processing
                .scope(
                    self.layered(record, handler, delivery.clone(), place)
                        .instrument(span),
                )
                .await;
            match layered {
                Layered::Answer(Err(error)) if error.downcast_ref::<Withheld>().is_some() => {
                    self.unreported(Settlement::Leave, Ending::Unhandled, delivery)
                }
                Layered::Answer(result) => self.answered(record, delivery, &result, processing),
                Layered::Duplicate => {
                    self.unreported(Settlement::Delete, Ending::Duplicate, delivery)
                }
                Layered::Held(remaining) => {
                    // At once would only be the same answer again.
                    let delay = WireDelay::given(remaining.max(Duration::from_secs(1)));
                    self.unreported(
                        Settlement::release(delay, true),
                        Ending::Unhandled,
                        delivery,
                    )
                }
            }
        }
    }

    /// User code panicked where no answer of a handler could come of it.
    fn failed(
        &self,
        record: &Record,
        delivery: Delivery,
        panicked: Panicked,
        processing: &Processing,
    ) -> Processed {
        let failure = HandlerError::of_kind(ErrorKind::Panic, panicked);
        self.answered(record, delivery, &Err(failure), processing)
    }

    /// A handler has answered, or a layer in its place.
    fn answered(
        &self,
        record: &Record,
        delivery: Delivery,
        result: &HandlerResult,
        processing: &Processing,
    ) -> Processed {
        let event = Event::Handled {
            result,
            delivery_number: delivery.context().attempts().saturating_add(1),
        };
        let answer = OutcomeError::of(result);
        let cause = match (result, &answer) {
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
            processing.failed(kind.as_str(), || Failure {
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
            { fields::QUEUE } = &*self.queue,
            { fields::MESSAGE_ID } = message_id,
            { fields::ENDING } = ?ending,
            "not handled again"
        );
        Processed::new(settlement, ending, Seen::Delivery(delivery))
    }

    async fn unknown_urn(&self, record: &Record, delivery: Delivery) -> Processed {
        let urn = delivery.context().urn().to_owned();
        let mut hook = HookResult::Absent;
        if let Some(call) = &self.unknown_hook {
            hook = HookResult::Succeeded;
            let call = Arc::clone(call);
            let argument = delivery.clone();
            let failure = match fenced_async(async move { call(argument).await }).await {
                Ok(result) => result.err(),
                Err(panicked) => Some(HandlerError::from(panicked)),
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
}

pub(super) fn subject<'a>(record: &'a Record, envelope: Option<&'a Envelope>) -> Subject<'a> {
    Subject {
        message_id: &record.message_id,
        receive_count: record.receives(),
        envelope,
        settlement: None,
    }
}
