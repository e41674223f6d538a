//! The settle table: from what happened to a message, to what is done with it. One pure function
//! that polling consumer and Lambda share and a test can exhaust (SPEC §2.8, §2.10 to §2.12).

use std::time::Duration;

use super::UnknownUrn;
use crate::envelope::Reason;
use crate::handler::{ErrorKind, HandlerResult, Outcome, Verdict};

/// What of a consumer's configuration decides how messages are settled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// The unknown-URN strategy, if one was set explicitly.
    pub unknown_urn: Option<UnknownUrn>,
    /// Whether a dead-letter queue is configured.
    pub dead_letter_queue: bool,
    /// After how many deliveries a failing message is given up.
    pub max_attempts: Option<u32>,
    /// Whether a payload that does not deserialise is retried like an ordinary failure.
    pub retry_payload_errors: bool,
}

/// What happened to a message.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The version attribute is not 1 (SPEC §2.8).
    Gated,
    /// The body's own version is not 1 (SPEC §2.10).
    UnsupportedVersion,
    /// The body is poison (SPEC §1.8).
    Poison,
    /// The envelope lacks what every handler may rely on (SPEC §1.6).
    NotAccepted,
    /// The body is a pointer, and what it points to cannot be had at present (SPEC §4.10).
    PayloadUnavailable,
    /// No handler takes its URN (SPEC §2.11).
    UnknownUrn {
        /// What the hook, which has already run, came to.
        hook: HookResult,
    },
    /// A handler ran, or failed to start (SPEC §2.12).
    Handled {
        /// Its answer.
        result: &'a HandlerResult,
        /// Which delivery this was: the reconciled attempts plus one.
        delivery_number: u64,
    },
}

/// What the unknown-URN hook came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookResult {
    /// There is none.
    Absent,
    /// It ran.
    Succeeded,
    /// It returned an error or panicked.
    Failed,
}

/// What is done with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Deleted.
    Delete,
    /// Made visible again after a pause.
    Release(Pause),
    /// Copied to the dead-letter queue, then deleted.
    DeadLetter(CopyKind),
    /// Nothing: the visibility timeout brings it back, the queue's redrive policy ends it.
    Leave,
}

impl Action {
    /// A stable name, for logs.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::Release(_) => "release",
            Self::DeadLetter(_) => "dead_letter",
            Self::Leave => "leave",
        }
    }
}

/// How long a released message stays hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// As the consumer's retry policy says.
    Policy,
    /// As the handler or the strategy stated.
    Given(Duration),
}

/// What the copy in the dead-letter queue looks like (SPEC §2.15).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyKind {
    /// The body byte for byte.
    Raw,
    /// The poison record (SPEC §1.9).
    Poison,
    /// The envelope with a `dead_letter` block (SPEC §1.10).
    Annotated(Reason),
}

/// What reaches `on_error` (SPEC §2.14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReportKind {
    /// The version attribute is not 1.
    VersionGate,
    /// The body's own version is not 1.
    UnsupportedVersion,
    /// The envelope lacks what every handler may rely on.
    NotAccepted,
    /// The body is poison.
    Poison,
    /// The body is a pointer, and what it points to could not be had.
    PayloadStore,
    /// No handler takes the URN.
    UnknownUrn,
    /// The unknown-URN hook failed.
    Hook,
    /// The handler failed, panicked or timed out, or its arguments could not be had.
    Handler,
    /// The success of a message could not be remembered.
    Idempotency,
    /// A visibility change failed.
    Release,
    /// The copy to the dead-letter queue failed.
    DeadLetter,
    /// A delete failed: the message will come again.
    Delete,
    /// Riders or contract attributes had to be left out of a copy.
    Dropped,
    /// A receive failed.
    Receive,
}

impl ReportKind {
    /// A stable name, for logs and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::VersionGate => "version_gate",
            Self::UnsupportedVersion => "unsupported_version",
            Self::NotAccepted => "not_accepted",
            Self::Poison => "poison",
            Self::PayloadStore => "payload_store",
            Self::UnknownUrn => "unknown_urn",
            Self::Hook => "hook",
            Self::Handler => "handler",
            Self::Idempotency => "idempotency",
            Self::Release => "release",
            Self::DeadLetter => "dead_letter",
            Self::Delete => "delete",
            Self::Dropped => "dropped",
            Self::Receive => "receive",
        }
    }
}

/// The outcome of [`settle`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What is done with the message.
    pub action: Action,
    /// What is reported, in this order, before it is done.
    pub reports: &'static [ReportKind],
}

impl Decision {
    const fn new(action: Action, reports: &'static [ReportKind]) -> Self {
        Self { action, reports }
    }
}

/// Decides what is done with a message.
pub fn settle(rules: &Rules, event: Event<'_>) -> Decision {
    match event {
        Event::Gated => unrouted(rules, CopyKind::Raw, &[ReportKind::VersionGate]),
        Event::UnsupportedVersion => {
            unrouted(rules, CopyKind::Raw, &[ReportKind::UnsupportedVersion])
        }
        Event::Poison => unrouted(rules, CopyKind::Poison, &[ReportKind::Poison]),
        Event::NotAccepted => unrouted(rules, CopyKind::Poison, &[ReportKind::NotAccepted]),
        // Nothing is known against the message: whatever is configured, it is only retried.
        Event::PayloadUnavailable => {
            Decision::new(Action::Release(Pause::Policy), &[ReportKind::PayloadStore])
        }
        Event::UnknownUrn { hook } => unknown_urn(rules, hook),
        Event::Handled {
            result,
            delivery_number,
        } => handled(rules, result, delivery_number),
    }
}

/// Messages that never get as far as a handler: settled on their first delivery, and only by the
/// strategy that was set explicitly; a hook never stands in for it.
fn unrouted(rules: &Rules, copy: CopyKind, reports: &'static [ReportKind]) -> Decision {
    let action = match rules.unknown_urn {
        Some(UnknownUrn::Delete) => Action::Delete,
        _ if rules.dead_letter_queue => Action::DeadLetter(copy),
        _ => Action::Leave,
    };
    Decision::new(action, reports)
}

fn unknown_urn(rules: &Rules, hook: HookResult) -> Decision {
    let failed = hook == HookResult::Failed;
    let hook_only: &[ReportKind] = if failed { &[ReportKind::Hook] } else { &[] };
    match (rules.unknown_urn, hook) {
        (None, HookResult::Succeeded) => Decision::new(Action::Delete, &[]),
        (None, HookResult::Failed) => Decision::new(Action::Leave, hook_only),
        (None, HookResult::Absent) | (Some(UnknownUrn::Fail), _) => {
            let both = &[ReportKind::Hook, ReportKind::UnknownUrn];
            Decision::new(
                Action::Leave,
                if failed {
                    both
                } else {
                    &[ReportKind::UnknownUrn]
                },
            )
        }
        (Some(UnknownUrn::Delete), _) => Decision::new(Action::Delete, hook_only),
        (Some(UnknownUrn::Release { delay }), _) => {
            Decision::new(Action::Release(Pause::Given(delay)), hook_only)
        }
        // The builder refuses the strategy without a queue; there is no writer then.
        (Some(UnknownUrn::DeadLetter), _) if !rules.dead_letter_queue => {
            Decision::new(Action::Leave, hook_only)
        }
        (Some(UnknownUrn::DeadLetter), _) => Decision::new(
            Action::DeadLetter(CopyKind::Annotated(Reason::UnknownUrn)),
            hook_only,
        ),
    }
}

fn handled(rules: &Rules, result: &HandlerResult, delivery_number: u64) -> Decision {
    let verdict = match result {
        Ok(Outcome::Done | Outcome::Discard) => return Decision::new(Action::Delete, &[]),
        Ok(Outcome::DeadLetter { .. }) => Verdict::Permanent,
        Ok(Outcome::Retry { after: None }) => Verdict::Retry,
        Ok(Outcome::Retry { after: Some(after) }) => Verdict::RetryAfter(*after),
        Err(error) if error.kind() == ErrorKind::Payload && rules.retry_payload_errors => {
            Verdict::Retry
        }
        Err(error) => error.verdict(),
    };
    let exhausted = rules
        .max_attempts
        .is_some_and(|most| delivery_number >= u64::from(most));
    let action = match verdict {
        Verdict::Retry if !exhausted => Action::Release(Pause::Policy),
        Verdict::RetryAfter(after) if !exhausted => Action::Release(Pause::Given(after)),
        _ if rules.dead_letter_queue => Action::DeadLetter(CopyKind::Annotated(Reason::Failed)),
        _ => Action::Leave,
    };
    Decision::new(action, &[ReportKind::Handler])
}

#[cfg(test)]
#[path = "settle_tests.rs"]
mod tests;
