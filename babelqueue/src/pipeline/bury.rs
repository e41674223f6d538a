//! The last station of a message that is beyond help: its copy for the dead-letter queue, with what
//! the copy says of its failure (SPEC §1.9, §1.10, §2.15).

use std::sync::atomic::Ordering;

use super::copy::{Destination, Original, dead_letter_message};
use super::failure::DroppedAttributes;
use super::process::{Cause, Pipeline, subject};
use super::processed::{Seen, Settlement};
use super::record::Record;
use crate::envelope::{DeadLetter, Reason, poison_attempts};
use crate::policy::{CopyKind, ReportKind};

impl Pipeline {
    /// The message for the dead-letter queue, or the reason why there can be none.
    pub(super) fn copy(
        &self,
        kind: CopyKind,
        record: &Record,
        seen: &Seen,
        cause: Option<Cause<'_>>,
    ) -> Settlement {
        let Some(target) = &self.dead_letters else {
            return Settlement::Leave;
        };
        let original = match (&kind, seen) {
            (CopyKind::Raw, _) => Original::Raw(seen.body()),
            (CopyKind::Annotated(reason), Seen::Delivery(delivery)) => {
                let attempts = i64::try_from(delivery.context().attempts()).unwrap_or(i64::MAX);
                // The failed delivery counts; an unknown URN was not tried.
                let tried = i64::from(*reason == Reason::Failed);
                let envelope = delivery.context().envelope();
                Original::Annotated {
                    envelope,
                    attempts: attempts.saturating_add(tried),
                }
            }
            _ => Original::Poison(seen.body()),
        };
        let block = self.block(&kind, &original, record, cause);
        let to = Destination {
            fifo: target.fifo,
            source_queue: &self.queue,
            max_bytes: target.max_bytes.load(Ordering::Relaxed),
        };
        let subject = subject(record, seen.envelope());
        match dead_letter_message(&original, block, record, &to) {
            Ok(message) => {
                if !message.dropped.is_empty() {
                    let error = DroppedAttributes(message.dropped.clone());
                    self.reporter.report(ReportKind::Dropped, subject, &error);
                }
                Settlement::DeadLetter(Box::new(message))
            }
            Err(error) => {
                self.reporter
                    .report(ReportKind::DeadLetter, subject.left(), &error);
                Settlement::Leave
            }
        }
    }

    /// The `dead_letter` block (SPEC §1.9, §1.10).
    fn block(
        &self,
        kind: &CopyKind,
        original: &Original<'_>,
        record: &Record,
        cause: Option<Cause<'_>>,
    ) -> DeadLetter {
        let now = self.clock.unix_millis();
        let (reason, queue) = match (kind, original) {
            (CopyKind::Annotated(reason), Original::Annotated { envelope, .. }) => {
                (reason.clone(), envelope.original_queue(&self.queue))
            }
            _ => (Reason::Poison, &*self.queue),
        };
        let mut block = DeadLetter::new(reason, queue, now);
        block.lang = self.lang.clone().into_owned();
        block.attempts = match original {
            Original::Annotated { attempts, .. } => *attempts,
            Original::Raw(body) | Original::Poison(body) => {
                poison_attempts(body.as_bytes(), record.receive_count.as_deref())
            }
        };
        // Nothing went wrong with a message that merely has no handler.
        if let Some(cause) = cause.filter(|_| block.reason != Reason::UnknownUrn) {
            block.error = self.reporter.text(cause.error);
            block.exception = cause.exception.map(str::to_owned);
        }
        block
    }
}
