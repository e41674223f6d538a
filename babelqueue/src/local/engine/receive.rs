//! Receiving: who gets which messages, and what the redrive policy takes away.

use super::Engine;
use super::attempts::Taken;
use super::error::{ApiResult, Kind, invalid_value};
use super::handles::{self, Handle};
use super::limits;
use super::message::{Message, Received, State};
use super::queue::Queue;
use crate::local::clock::At;

/// A receive, as far as it does not wait.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receive {
    pub(crate) max: usize,
    /// The visibility timeout in seconds; the queue's own when not given.
    pub(crate) visibility: Option<u32>,
    /// Whether the client does not wait: then it is told when too much is in flight.
    pub(crate) short: bool,
    pub(crate) attempt: Option<String>,
    pub(crate) quirks: Quirks,
}

/// What the fault plan wants of a receive.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Quirks {
    /// Deliver every message once more, as another copy of it.
    pub(crate) duplicate: bool,
    /// Take messages out of order, on a standard queue.
    pub(crate) shuffle: bool,
}

impl Engine {
    pub(crate) fn receive(
        &mut self,
        name: &str,
        request: &Receive,
        now: At,
    ) -> ApiResult<Vec<Received>> {
        let limit = self.settings.in_flight_limit;
        self.queue(name, now)?;
        let target = self.dead_letter_target(name);
        // Both are there, or `queue` above had failed.
        let (Some(queue), random) = (self.queues.get_mut(name), &mut self.random) else {
            return Ok(Vec::new());
        };
        let fifo = queue.attributes.fifo;
        if let Some(attempt) = &request.attempt {
            if !fifo {
                return Err(invalid_value(
                    "ReceiveRequestAttemptId",
                    attempt,
                    "The request include parameter that is not valid for this queue type.",
                ));
            }
            if let Some(again) = repeat(queue, attempt, request, now) {
                return again;
            }
        }
        let max = request
            .max
            .min(limit.saturating_sub(queue.counts.in_flight));
        if max == 0 {
            if request.short && !fifo {
                return Err(Kind::OverLimit.error(format!(
                    "Too many messages are in flight: at most {limit} can be."
                )));
            }
            return Ok(Vec::new());
        }
        let visibility = request.visibility.unwrap_or(queue.attributes.visibility);
        let mut received = Vec::new();
        let mut taken = Vec::new();
        let mut copies = Vec::new();
        let mut dead = Vec::new();
        while received.len() < max {
            let skip = if request.quirks.shuffle {
                random.usize(..limits::MAX_BATCH)
            } else {
                0
            };
            let Some(ticket) = queue.next_visible(skip) else {
                break;
            };
            if let Some((_, max_receives)) = &target
                && queue
                    .store
                    .get(ticket)
                    .is_some_and(|it| it.receives >= *max_receives)
            {
                dead.extend(queue.pull(ticket));
                continue;
            }
            queue.take_off(ticket, now, visibility);
            if let Some(message) = queue.store.get(ticket) {
                if request.quirks.duplicate && !fifo {
                    copies.push(message.clone());
                }
                let it = Taken {
                    ticket,
                    receive: message.receives,
                    salt: random.u64(..),
                };
                taken.push(it);
                received.push(hand_out(queue.uid, it, message));
            }
        }
        queue.finish();
        for mut copy in copies {
            copy.state = State::Visible;
            queue.put(copy);
        }
        if let Some(attempt) = &request.attempt
            && !taken.is_empty()
        {
            queue.attempts.remember(attempt, taken, now);
        }
        if let Some((target, _)) = target {
            self.bury(name, &target, dead, now);
        }
        Ok(received)
    }

    /// The dead-letter queue of a queue and the most receives before it, if both are there.
    fn dead_letter_target(&self, name: &str) -> Option<(String, u32)> {
        let policy = self.queues.get(name)?.attributes.redrive.as_ref()?;
        let target = self.name_of_arn(&policy.target_arn)?;
        Some((target.to_owned(), policy.max_receives))
    }

    /// Moves messages to the dead-letter queue, with their ids, attributes and, on
    /// standard queues, their age.
    fn bury(&mut self, source: &str, target: &str, dead: Vec<Message>, now: At) {
        let source_arn = self.arn(source);
        let start_over = self.settings.dead_letters_start_over;
        let Some(queue) = self.queues.get_mut(target) else {
            return;
        };
        queue.advance(now);
        for mut message in dead {
            message.dead_letter_source = Some(source_arn.clone());
            message.state = State::Visible;
            if start_over {
                message.receives = 0;
                message.first_received = None;
            }
            if queue.attributes.fifo {
                message.sequence = queue.next_sequence();
                message.enqueued = now;
            }
            queue.put(message);
        }
    }
}

/// Repeats a receive whose answer was lost: the same messages and handles, hidden anew, unless
/// one of them has been deleted, changed or become visible since.
fn repeat(
    queue: &mut Queue,
    attempt: &str,
    request: &Receive,
    now: At,
) -> Option<ApiResult<Vec<Received>>> {
    let taken = queue.attempts.find(attempt, now)?.to_vec();
    let untouched = |it: &Taken| {
        queue.store.get(it.ticket).is_some_and(|message| {
            let as_taken = matches!(message.state, State::InFlight { changed: false, .. });
            message.receives == it.receive && as_taken
        })
    };
    if !taken.iter().all(untouched) {
        return Some(Err(invalid_value(
            "ReceiveRequestAttemptId",
            attempt,
            "The receiveRequestAttemptId is not valid anymore since the receive call is not retryable.",
        )));
    }
    let visibility = request.visibility.unwrap_or(queue.attributes.visibility);
    let due = now.plus_secs(visibility);
    let mut again = Vec::new();
    for it in taken {
        queue.postpone(it.ticket, due, now, true);
        if let Some(message) = queue.store.get(it.ticket) {
            again.push(hand_out(queue.uid, it, message));
        }
    }
    Some(Ok(again))
}

fn hand_out(uid: u64, taken: Taken, message: &Message) -> Received {
    let handle = Handle {
        queue: uid,
        ticket: taken.ticket,
        receive: taken.receive,
    };
    Received {
        message: message.clone(),
        handle: handles::write(handle, taken.salt),
    }
}
