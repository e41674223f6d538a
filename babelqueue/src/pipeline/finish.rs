//! The end of a message: the decision of [`settle`] told to whoever has to know, and made into what
//! the driver performs.

use std::time::Duration;

use super::process::{Cause, Pipeline, subject};
use super::processed::{Ending, Processed, Seen, Settlement};
use super::record::Record;
use super::report::Subject;
use crate::envelope::Envelope;
use crate::fields;
use crate::handler::Outcome;
use crate::panics::{Panicked, fenced};
use crate::policy::{Action, Event, Pause, ReportKind, WireDelay, settle};

/// The pause of a failed message whose `release_delay` panicked: SQS's own default for one that
/// nobody settles. None at all would make a hot loop of it.
pub(crate) const FALLBACK_DELAY: Duration = Duration::from_secs(30);

impl Pipeline {
    /// Decides, reports, and prepares what the driver performs.
    pub(super) fn finish(
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
            Action::Release(pause) => {
                let stated = matches!(pause, Pause::Given(_));
                Settlement::release(self.pause(pause, record, &seen), stated)
            }
            Action::DeadLetter(kind) => self.copy(kind, record, &seen, cause),
        };
        Processed::new(settlement, ending, seen)
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
                { fields::QUEUE } = &*self.queue,
                { fields::MESSAGE_ID } = record.message_id,
                "SQS did not tell the receive count: the attempts of this message cannot advance"
            );
        }
        let delay = match pause {
            Pause::Given(delay) => WireDelay::given(delay),
            Pause::Policy => {
                let n = receives.unwrap_or(attempts.saturating_add(1));
                self.retry_delay(n, attempts).unwrap_or_else(|panicked| {
                    let subject = subject(record, seen.envelope());
                    self.reporter
                        .report(ReportKind::Handler, subject, &panicked);
                    WireDelay::given(FALLBACK_DELAY)
                })
            }
        };
        if delay.altered {
            tracing::warn!(
                { fields::QUEUE } = &*self.queue,
                { fields::MESSAGE_ID } = record.message_id,
                { fields::SECONDS } = delay.seconds,
                "the delay was out of range and has been clamped"
            );
        }
        delay
    }

    /// What the retry policy says after receive `n`, with so many attempts before; it may be
    /// user code.
    pub(crate) fn retry_delay(&self, n: u64, attempts: u64) -> Result<WireDelay, Panicked> {
        match &self.release_delay {
            Some(release_delay) => fenced(|| WireDelay::given(release_delay(attempts))),
            None => Ok(WireDelay::computed(
                self.backoff.delay_seconds(n, fastrand::f64()),
            )),
        }
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
