//! The whole settle table, every combination spelled out against the text of the contract.

use super::*;
use crate::handler::HandlerError;

const DELAY: Duration = Duration::from_secs(7);

fn strategies() -> [Option<UnknownUrn>; 5] {
    [
        None,
        Some(UnknownUrn::Fail),
        Some(UnknownUrn::Delete),
        Some(UnknownUrn::Release { delay: DELAY }),
        Some(UnknownUrn::DeadLetter),
    ]
}

fn rules(unknown_urn: Option<UnknownUrn>, dead_letter_queue: bool) -> Rules {
    Rules {
        unknown_urn,
        dead_letter_queue,
        ..Rules::default()
    }
}

#[test]
fn unrouted_messages_go_by_the_explicit_strategy_alone() {
    let events = [
        (Event::Gated, CopyKind::Raw, ReportKind::VersionGate),
        (
            Event::UnsupportedVersion,
            CopyKind::Raw,
            ReportKind::UnsupportedVersion,
        ),
        (Event::Poison, CopyKind::Poison, ReportKind::Poison),
        (
            Event::NotAccepted,
            CopyKind::Poison,
            ReportKind::NotAccepted,
        ),
    ];
    for (event, copy, report) in events {
        for strategy in strategies() {
            for dead_letter_queue in [false, true] {
                for max_attempts in [None, Some(1)] {
                    let rules = Rules {
                        max_attempts,
                        ..rules(strategy, dead_letter_queue)
                    };
                    let expected = if strategy == Some(UnknownUrn::Delete) {
                        Action::Delete
                    } else if dead_letter_queue {
                        Action::DeadLetter(copy.clone())
                    } else {
                        Action::Leave
                    };
                    let decision = settle(&rules, event);
                    assert_eq!(decision.action, expected, "{event:?} {rules:?}");
                    assert_eq!(decision.reports, [report]);
                }
            }
        }
    }
}

#[test]
fn c_086_a_payload_that_cannot_be_had_is_retried_whatever_is_configured() {
    for strategy in strategies() {
        for dead_letter_queue in [false, true] {
            for max_attempts in [None, Some(1)] {
                let rules = Rules {
                    max_attempts,
                    ..rules(strategy, dead_letter_queue)
                };
                let decision = settle(&rules, Event::PayloadUnavailable);
                assert_eq!(decision.action, Action::Release(Pause::Policy), "{rules:?}");
                assert_eq!(decision.reports, [ReportKind::PayloadStore]);
            }
        }
    }
}

#[test]
fn unknown_urns_go_by_strategy_and_hook() {
    use HookResult::{Absent, Failed, Succeeded};
    let annotated = || Action::DeadLetter(CopyKind::Annotated(Reason::UnknownUrn));
    let release = || Action::Release(Pause::Given(DELAY));
    for max_attempts in [None, Some(1)] {
        for hook in [Absent, Succeeded, Failed] {
            for strategy in strategies() {
                let rules = Rules {
                    max_attempts,
                    ..rules(strategy, true)
                };
                let decision = settle(&rules, Event::UnknownUrn { hook });
                let action = match (strategy, hook) {
                    (None, Succeeded) | (Some(UnknownUrn::Delete), _) => Action::Delete,
                    (None, _) | (Some(UnknownUrn::Fail), _) => Action::Leave,
                    (Some(UnknownUrn::Release { .. }), _) => release(),
                    (Some(UnknownUrn::DeadLetter), _) => annotated(),
                };
                assert_eq!(decision.action, action, "{strategy:?} {hook:?}");
                let unhandled = match (strategy, hook) {
                    (None, Absent) | (Some(UnknownUrn::Fail), _) => Some(ReportKind::UnknownUrn),
                    _ => None,
                };
                let hook_report = (hook == Failed).then_some(ReportKind::Hook);
                let expected: Vec<_> = hook_report.into_iter().chain(unhandled).collect();
                assert_eq!(decision.reports, expected, "{strategy:?} {hook:?}");
            }
        }
    }
}

#[test]
fn without_a_writer_the_dead_letter_strategy_leaves() {
    let rules = rules(Some(UnknownUrn::DeadLetter), false);
    for event in [
        Event::Gated,
        Event::Poison,
        Event::UnknownUrn {
            hook: HookResult::Absent,
        },
    ] {
        assert_eq!(settle(&rules, event).action, Action::Leave);
    }
}

fn payload_error() -> HandlerError {
    HandlerError::permanent("bad payload").with_kind(ErrorKind::Payload)
}

#[test]
fn handler_answers_at_every_attempt() {
    enum Ask {
        Delete,
        Retry(Pause),
        Permanent,
    }
    let answers: Vec<(HandlerResult, Ask)> = vec![
        (Ok(Outcome::Done), Ask::Delete),
        (Ok(Outcome::Discard), Ask::Delete),
        (Ok(Outcome::retry()), Ask::Retry(Pause::Policy)),
        (
            Ok(Outcome::retry_after(DELAY)),
            Ask::Retry(Pause::Given(DELAY)),
        ),
        (
            Ok(Outcome::retry_after(Duration::ZERO)),
            Ask::Retry(Pause::Given(Duration::ZERO)),
        ),
        (Ok(Outcome::dead_letter("no use")), Ask::Permanent),
        (Err(HandlerError::new("x")), Ask::Retry(Pause::Policy)),
        (
            Err(HandlerError::new("x").with_kind(ErrorKind::Panic)),
            Ask::Retry(Pause::Policy),
        ),
        (
            Err(HandlerError::new("x").with_kind(ErrorKind::Timeout)),
            Ask::Retry(Pause::Policy),
        ),
        (
            Err(HandlerError::retry_after("x", DELAY)),
            Ask::Retry(Pause::Given(DELAY)),
        ),
        (Err(HandlerError::permanent("x")), Ask::Permanent),
        (Err(payload_error()), Ask::Permanent),
    ];
    for (result, ask) in &answers {
        for dead_letter_queue in [false, true] {
            for max_attempts in [None, Some(1), Some(3)] {
                for delivery_number in [1, 2, 3, 4, u64::MAX] {
                    // The unknown-URN strategy has no say over handled messages.
                    for strategy in strategies() {
                        let rules = Rules {
                            max_attempts,
                            ..rules(strategy, dead_letter_queue)
                        };
                        let over = max_attempts.is_some_and(|most| delivery_number >= most.into());
                        let expected = match ask {
                            Ask::Delete => Action::Delete,
                            Ask::Retry(pause) if !over => Action::Release(*pause),
                            _ if dead_letter_queue => {
                                Action::DeadLetter(CopyKind::Annotated(Reason::Failed))
                            }
                            _ => Action::Leave,
                        };
                        let decision = settle(
                            &rules,
                            Event::Handled {
                                result,
                                delivery_number,
                            },
                        );
                        assert_eq!(decision.action, expected, "{result:?} {rules:?}");
                        let silent = matches!(ask, Ask::Delete);
                        assert_eq!(decision.reports.is_empty(), silent);
                    }
                }
            }
        }
    }
}

#[test]
fn payload_errors_can_be_made_retryable() {
    let rules = Rules {
        retry_payload_errors: true,
        ..rules(None, true)
    };
    let payload: HandlerResult = Err(payload_error());
    let event = Event::Handled {
        result: &payload,
        delivery_number: 1,
    };
    assert_eq!(settle(&rules, event).action, Action::Release(Pause::Policy));
    // Other permanent failures stay what they are.
    let other: HandlerResult = Err(HandlerError::permanent("x"));
    let event = Event::Handled {
        result: &other,
        delivery_number: 1,
    };
    assert!(matches!(
        settle(&rules, event).action,
        Action::DeadLetter(_)
    ));
}

/// The rows of the conformance section `version_gate_sqs`, on the pure function.
#[test]
fn version_gate_rows() {
    let raw = Action::DeadLetter(CopyKind::Raw);
    let rows = [
        (None, true, &raw),
        (Some(UnknownUrn::Fail), true, &raw),
        (
            Some(UnknownUrn::Release {
                delay: Duration::ZERO,
            }),
            true,
            &raw,
        ),
        (Some(UnknownUrn::Delete), true, &Action::Delete),
        (Some(UnknownUrn::Delete), false, &Action::Delete),
        (Some(UnknownUrn::DeadLetter), true, &raw),
        (None, false, &Action::Leave),
        (Some(UnknownUrn::Fail), false, &Action::Leave),
        (
            Some(UnknownUrn::Release {
                delay: Duration::ZERO,
            }),
            false,
            &Action::Leave,
        ),
        (Some(UnknownUrn::DeadLetter), false, &Action::Leave),
    ];
    for (strategy, queue, expected) in rows {
        assert_eq!(
            &settle(&rules(strategy, queue), Event::Gated).action,
            expected
        );
    }
}
