//! Which delay a failed message gets, by the consumer's settings and by what was said of it, at
//! the end of an invocation (SPEC §4.7, §4.11).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::backoff::{RetryBackoff, RetryBackoffError, left};
use super::builder::{Options, Provider};
use super::event::EventRecord;
use super::fate::{Fate, Fates};
use super::prepare::Job;
use super::queues::Source;
use super::visibility::{self, Change, Refused};
use crate::fields;
use crate::invocation::RetryOptions;
use crate::panics::fenced;
use crate::pipeline::FALLBACK_DELAY;
use crate::policy::WireDelay;

/// The policy, and what a consumer remembers of it over its invocations.
pub(super) struct Retries {
    policy: Policy,
    backoff_on_error: bool,
    backoff: OnceLock<Option<RetryBackoff>>,
    denied: AtomicBool,
    warned_of_fifo: AtomicBool,
    warned_of_client: AtomicBool,
}

enum Policy {
    /// The queue's visibility timeout.
    Queue,
    /// The family's own backoff.
    Family,
    Backoff(Provider),
}

impl Retries {
    pub(super) fn new(options: &Options) -> Self {
        let settings = &options.settings;
        let policy = match &options.retry_backoff {
            Some(provider) => Policy::Backoff(Arc::clone(provider)),
            None if settings.backoff.is_some() || settings.release_delay.is_some() => {
                Policy::Family
            }
            None => Policy::Queue,
        };
        Self {
            policy,
            backoff_on_error: options.backoff_on_error,
            backoff: OnceLock::new(),
            denied: AtomicBool::new(false),
            warned_of_fifo: AtomicBool::new(false),
            warned_of_client: AtomicBool::new(false),
        }
    }

    /// Sets the delays of what has failed. `unknown` are ids that were reported and are not of
    /// the event.
    pub(super) async fn apply(
        &self,
        fates: &Fates<'_>,
        jobs: &[Option<Job>],
        unknown: Vec<String>,
        elapsed: Duration,
    ) {
        for id in &unknown {
            tracing::warn!(
                { fields::MESSAGE_ID } = id,
                "reported as failed, and not a message of this event: left out of the answer"
            );
        }
        let unknown = unknown.iter();
        let refused = unknown
            .map(|id| Refused::new(id, "RecordNotFound"))
            .collect();
        let mut changes = Vec::new();
        for (at, record, fate) in fates.each() {
            let Some(Job {
                source, handled, ..
            }) = jobs.get(at).and_then(Option::as_ref)
            else {
                continue;
            };
            let Some(seconds) = self.seconds(record, fate, source, elapsed) else {
                source.counters.left.one();
                continue;
            };
            if source.fifo {
                source.counters.left.one();
                if !self.warned_of_fifo.swap(true, Ordering::Relaxed) {
                    tracing::warn!(
                        "messages of a FIFO queue come again after its visibility timeout: a \
                         delay would hold up nothing but their groups"
                    );
                }
                continue;
            }
            if !source.has_client() && source.has_arn() {
                source.counters.left.one();
                if !self.warned_of_client.swap(true, Ordering::Relaxed) {
                    tracing::warn!(
                        "a handler asked for a delay, and the consumer has no client to set it \
                         with: add `.client(…)`"
                    );
                }
                continue;
            }
            changes.push(Change {
                source: Arc::clone(source),
                handled: handled.clone(),
                message_id: record.message_id.clone(),
                receipt_handle: record.receipt_handle.clone(),
                seconds,
                attempt: record.attempt(),
            });
        }
        visibility::apply(changes, refused, &self.denied).await;
    }

    /// The delay of one message; `None` leaves it to the queue.
    fn seconds(
        &self,
        record: &EventRecord,
        fate: Fate,
        source: &Source,
        elapsed: Duration,
    ) -> Option<i32> {
        let options = match fate {
            Fate::Done | Fate::Buried | Fate::Left | Fate::Unstarted => {
                // It is a failed message all the same, at which the setting is read.
                self.backoff();
                return None;
            }
            Fate::Stated(delay) => return Some(clamp(delay, elapsed)),
            Fate::Failed(_) => RetryOptions::new(),
            Fate::Reported(options) => options,
        };
        match &self.policy {
            Policy::Queue => None,
            Policy::Family => {
                let delay = match fate {
                    Fate::Failed(Some(delay)) => delay,
                    _ => reported(source, record, options),
                };
                Some(clamp(delay, elapsed))
            }
            Policy::Backoff(_) => {
                let backoff = self.backoff()?;
                let applies = self.backoff_on_error || !matches!(fate, Fate::Failed(_));
                applies
                    .then(|| backoff.applied(record.attempt(), options, fastrand::f64(), elapsed))
            }
        }
    }

    /// The backoff, read at the first failed message.
    fn backoff(&self) -> Option<RetryBackoff> {
        let Policy::Backoff(provider) = &self.policy else {
            return None;
        };
        *self.backoff.get_or_init(|| {
            let read = fenced(|| {
                provider()
                    .map_err(RetryBackoffError::Provider)
                    .and_then(|setting| setting.validate())
            });
            let read =
                read.unwrap_or_else(|panicked| Err(RetryBackoffError::Provider(panicked.into())));
            read.unwrap_or_else(|error| {
                let error = crate::pipeline::error_text(&error);
                tracing::error!({ fields::ERROR } = error, "the retry backoff is off");
                None
            })
        })
    }
}

/// The delay of a message that was reported by its id, under the family's backoff.
fn reported(source: &Source, record: &EventRecord, options: RetryOptions) -> WireDelay {
    let given = |seconds: Option<f64>| {
        let seconds = seconds.filter(|seconds| seconds.is_finite())?;
        let delay = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        Some(WireDelay::given(delay))
    };
    let attempt = record.attempt();
    given(options.delay_seconds).unwrap_or_else(|| {
        let policy = source.pipeline.retry_delay(attempt, attempt - 1);
        let policy = policy.unwrap_or_else(|panicked| {
            tracing::error!(
                { fields::MESSAGE_ID } = record.message_id,
                "the retry policy {panicked}"
            );
            WireDelay::given(FALLBACK_DELAY)
        });
        match given(options.min_delay_seconds) {
            Some(least) if least.seconds > policy.seconds => least,
            _ => policy,
        }
    })
}

/// SQS counts 12 h from the receive, and the batching of the mapping may have used a part.
fn clamp(delay: WireDelay, elapsed: Duration) -> i32 {
    delay.seconds.min(left(elapsed) as i32)
}
