//! The heartbeat: one ticker for all messages in flight. It renews in batches what is due, always
//! to the full timeout, up to a cap, and never what is being settled (SPEC §2.16). A lease that is
//! lost all the same is told to the handler.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::Driver;
use super::calls::{Beaten, Call, Change, Done, change_visibility};
use super::flights::{Flight, Flights, Key, Stage};
use crate::fields;
use crate::policy::{MAX_VISIBILITY_SECONDS, ReportKind};
use crate::sqs::consumer::config::Config;
use crate::sqs::consumer::error::SettleError;
use crate::sqs::consumer::facts::QueueFacts;
use crate::sqs::convert::batches;

#[derive(Debug)]
pub(super) struct Heartbeat {
    /// The visibility timeout in force, if it is known and not zero.
    timeout: Option<Duration>,
    on: bool,
    /// How long after its receive a message is still renewed.
    cap: Duration,
    /// The earliest beat that is due; may be too early, never too late.
    next: Option<Instant>,
}

impl Heartbeat {
    pub(super) fn new(config: &Config, facts: Option<&QueueFacts>) -> Self {
        let configured = config
            .visibility_seconds
            .map(|s| Duration::from_secs(s.unsigned_abs().into()));
        let timeout = configured.or_else(|| facts?.visibility_timeout);
        Self {
            timeout: timeout.filter(|timeout| !timeout.is_zero()),
            on: config.heartbeat,
            cap: config.max_handling_time,
            next: None,
        }
    }

    /// Begins with a message that has just been received.
    pub(super) fn watch(&mut self, flight: &mut Flight) {
        let Some(timeout) = self.timeout else { return };
        flight.lease = Some(flight.received_at + timeout);
        if self.on && flight.receipt_handle.is_some() {
            self.plan(flight, flight.received_at + timeout / 2);
        } else {
            self.look_again(flight);
        }
    }

    /// Takes over those that were received before: it begins with them where the timeout was not
    /// known, and else goes on with what was planned.
    pub(super) fn adopt(&mut self, flights: &mut Flights) {
        for (_, flight) in flights.iter_mut() {
            match (flight.stage, flight.lease) {
                (Stage::Settling, _) => {}
                (_, None) => self.watch(flight),
                (_, Some(_)) => self.look_again(flight),
            }
        }
    }

    /// The visibility timeout in force, if it is known and not zero.
    pub(super) fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    pub(super) fn next_wake(&self) -> Option<Instant> {
        self.next
    }

    fn plan(&mut self, flight: &mut Flight, at: Instant) {
        flight.next_beat = (at < flight.received_at + self.cap).then_some(at);
        self.look_again(flight);
    }

    /// When the message needs the next look: for its beat, or because its lease is over.
    fn look_again(&mut self, flight: &Flight) {
        let at = [flight.next_beat, lapse(flight)].into_iter().flatten();
        self.next = self.next.into_iter().chain(at).min();
    }
}

impl Driver {
    /// Renews what is due, and tells the handlers of what was lost.
    pub(super) fn beat(&mut self, now: Instant) {
        let Some(timeout) = self.heartbeat.timeout else {
            return;
        };
        if self.heartbeat.next.is_none_or(|next| next > now) {
            return;
        }
        self.heartbeat.next = None;
        // Those that are nearly due go along.
        let soon = now + timeout / 10;
        let (mut changes, mut lapsed) = (Vec::new(), Vec::new());
        for (key, flight) in self.flights.iter_mut() {
            if flight.stage == Stage::Settling {
                continue;
            }
            if lapse(flight).is_some_and(|at| at <= now) {
                flight.next_beat = None;
                flight.hold.lose();
                self.shared.counters().lost_leases.one();
                lapsed.extend((flight.stage == Stage::Running).then_some(key));
                continue;
            }
            let due = flight.next_beat.is_some_and(|due| due <= soon);
            let Some(receipt_handle) = flight.receipt_handle.clone().filter(|_| due) else {
                self.heartbeat.look_again(flight);
                continue;
            };
            let seconds = renewal(timeout, now - flight.received_at);
            if seconds > 0 {
                changes.push(Change {
                    key,
                    receipt_handle,
                    seconds,
                });
                self.heartbeat.plan(flight, now + timeout / 2);
            } else {
                flight.next_beat = None;
                self.heartbeat.look_again(flight);
            }
        }
        lapsed.into_iter().for_each(|key| self.on_lapsed(key, now));
        if changes.is_empty() {
            return;
        }
        // Side by side, each with an answer of its own: one that hangs must not cost the others
        // their leases.
        let claims = self.claims_of(changes.iter().map(|change| change.key));
        if !claims.is_empty() {
            let shared = Arc::clone(&self.shared);
            self.calls.push(Call::start(async move {
                let lost = claims.renew(&shared, timeout).await;
                let results = Vec::new();
                Done::Beaten(Beaten {
                    at: now,
                    results,
                    lost,
                })
            }));
        }
        for batch in batches(changes) {
            let shared = Arc::clone(&self.shared);
            self.calls.push(Call::start(async move {
                let results = change_visibility(shared, batch).await;
                let lost = Vec::new();
                Done::Beaten(Beaten {
                    at: now,
                    results,
                    lost,
                })
            }));
        }
    }

    /// The lease of a message ran out under its handler. Where nobody meant to renew it, that is
    /// no surprise, and a delete that fails for it is told as such.
    fn on_lapsed(&mut self, key: Key, now: Instant) {
        let Some(flight) = self.flights.get(key) else {
            return;
        };
        let error = SettleError::LeaseLost {
            held: now - flight.received_at,
        };
        if self.heartbeat.on {
            self.report_settle_error(ReportKind::Release, key, &error);
        } else {
            tracing::debug!({ fields::MESSAGE_ID } = flight.message_id, "{error}");
        }
    }

    pub(super) fn on_beaten(&mut self, beaten: Beaten) {
        let Some(timeout) = self.heartbeat.timeout else {
            return;
        };
        let now = Instant::now();
        for key in beaten.lost {
            if let Some(flight) = self.flights.get(key) {
                // Somebody else has claimed the message: to its handler that is the same.
                flight.hold.lose();
                self.shared.counters().lost_leases.one();
            }
        }
        for (key, result) in beaten.results {
            // A message that is settled meanwhile has no use for the answer, good or bad.
            let Some(flight) = self.flights.get_mut(key) else {
                continue;
            };
            if flight.stage == Stage::Settling {
                continue;
            }
            let Err(error) = result else {
                // SQS counts from when it had the call, which is not before it was made.
                let seconds = renewal(timeout, beaten.at.duration_since(flight.received_at));
                let renewed = Duration::from_secs(seconds.unsigned_abs().into());
                flight.lease = Some(beaten.at + renewed);
                flight.beat_failed = false;
                self.shared.counters().heartbeats.one();
                continue;
            };
            if flight.hold.is_lost() {
                continue;
            }
            if matches!(
                error,
                SettleError::Refused {
                    sender_fault: true,
                    ..
                }
            ) {
                // The lease is lost: nothing can renew it.
                flight.next_beat = None;
                flight.hold.lose();
                self.shared.counters().lost_leases.one();
            } else {
                self.heartbeat.plan(flight, now + timeout / 10);
            }
            if !std::mem::replace(&mut flight.beat_failed, true) {
                self.report_settle_error(ReportKind::Release, key, &error);
            }
        }
    }
}

/// When the lease is over, unless that has been seen.
fn lapse(flight: &Flight) -> Option<Instant> {
    flight.lease.filter(|_| !flight.hold.is_lost())
}

/// The timeout to renew to: the full one, as far as SQS's 12 h since the receive allow.
fn renewal(timeout: Duration, elapsed: Duration) -> i32 {
    let most = Duration::from_secs(MAX_VISIBILITY_SECONDS.unsigned_abs().into());
    let left = most.saturating_sub(elapsed + Duration::from_secs(2));
    i32::try_from(timeout.min(left).as_secs()).unwrap_or(MAX_VISIBILITY_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn c_032_a_renewal_is_always_the_full_timeout() {
        for elapsed in [0, 20, 40, 80, 3599] {
            assert_eq!(renewal(secs(30), secs(elapsed)), 30);
        }
        assert_eq!(renewal(secs(600), secs(43_000)), 198);
        assert_eq!(renewal(secs(600), secs(43_200)), 0);
    }
}
