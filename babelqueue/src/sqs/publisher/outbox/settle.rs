//! How messages leave the outbox: by the answer to a call, because their time is over, or because
//! their owner gives them up.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use super::{Call, Ended, Outbox, Pending};
use crate::sqs::publisher::batch::Settled;
use crate::sqs::publisher::failure::{Failure, Fate};
use crate::sqs::publisher::plan::{Came, again};

const BEHIND: &str = "an earlier message of its group was not sent";
const NO_TIME: &str = "there was no time left to try";

impl<R> Pending<R> {
    fn end(self, fate: Fate) -> Ended<R> {
        Ended {
            request: self.request,
            receipt: self.receipt,
            ticket: self.ticket,
            unknown: self.unknown,
            fate,
        }
    }

    /// Without another attempt: by what the last one came to, or by the reason why there was none.
    fn end_untried(mut self, reason: &'static str) -> Ended<R> {
        let failure = self.last.take();
        let failure = failure.unwrap_or_else(|| Failure::not_attempted(reason));
        self.end(Err(failure))
    }
}

impl<R> Ended<R> {
    /// Unless it was sent: whether it surely was not.
    pub(in super::super) fn unsent(&self) -> Option<bool> {
        let failure = self.fate.as_ref().err()?;
        Some(failure.refused && !self.unknown)
    }

    /// What the owner is told; with the request, if it may be sent again.
    pub(in super::super) fn into_result(self, queue: &str) -> (R, Settled) {
        let settled = match self.fate {
            Ok(accepted) => (Ok(self.request.published(accepted)), None),
            Err(failure) => {
                let error = failure.into_error(queue, &self.request, self.unknown);
                let open = error.is_retryable().then_some(self.request);
                (Err(error), open)
            }
        };
        (self.receipt, settled)
    }
}

impl<R> Outbox<R> {
    /// Reads the answer to a call: gives the messages that are settled by it, and keeps those
    /// that will be tried again. `uniform` is a random number in 0..=1.
    pub(in super::super) fn settle(
        &mut self,
        call: Call<R>,
        now: Instant,
        uniform: f64,
    ) -> Vec<Ended<R>> {
        let Call {
            messages,
            began,
            answer,
        } = call;
        self.calls -= 1;
        self.in_flight -= messages.len();
        for message in &messages {
            self.groups.returns(&message.request);
        }
        let fates = match answer {
            Ok(fates) => {
                self.failed_calls = 0;
                self.closed_until = None;
                fates
            }
            // Nothing of it was taken, and smaller requests may be.
            Err(failure) if failure.is_request_too_large() && messages.len() > 1 => {
                self.entries_per_call = messages.len().div_ceil(2);
                for message in messages {
                    self.rest(now, message);
                }
                return Vec::new();
            }
            Err(failure) => {
                self.hold_off(began, now, uniform);
                messages.iter().map(|_| Err(failure.clone())).collect()
            }
        };
        self.sort(messages, fates, now, uniform)
    }

    /// Nothing goes out for a while: SQS failed a whole call.
    fn hold_off(&mut self, began: Instant, now: Instant, uniform: f64) {
        // Calls side by side that fail together are one failure.
        if self.failed_at.is_none_or(|at| began >= at) {
            self.failed_calls = self.failed_calls.saturating_add(1);
            self.failed_at = Some(now);
        }
        let retry = &self.rules.retry;
        let seconds = retry
            .backoff
            .delay_seconds(u64::from(self.failed_calls), uniform);
        let pause = Duration::try_from_secs_f64(seconds).unwrap_or(retry.timeout);
        self.closed_until = now.checked_add(pause);
    }

    fn sort(
        &mut self,
        messages: Vec<Pending<R>>,
        fates: Vec<Fate>,
        now: Instant,
        uniform: f64,
    ) -> Vec<Ended<R>> {
        if fates.iter().all(Result::is_ok) {
            // As ever: there is nothing to be decided.
            self.progress = now;
            let sent = messages.into_iter().zip(fates);
            return sent.map(|(message, fate)| message.end(fate)).collect();
        }
        let next = |message: &Pending<R>| {
            let deadline = self.deadline(message);
            let retry = &self.rules.retry;
            retry.next(message.attempts + 1, now, deadline, uniform)
        };
        let next: Vec<_> = messages.iter().map(next).collect();
        let came: Vec<_> = (messages.iter().zip(&fates).zip(&next))
            .map(|((message, fate), next)| {
                let came = match fate {
                    Ok(_) => Came::Sent,
                    Err(failure) if failure.retryable && next.is_some() => Came::Retryable,
                    Err(_) => Came::Lost,
                };
                (self.groups.key(&message.request), came)
            })
            .collect();
        let again = again(&came);
        let mut ended = Vec::new();
        for (((mut message, fate), next), again) in
            messages.into_iter().zip(fates).zip(next).zip(again)
        {
            match (fate, next) {
                (Ok(accepted), _) => {
                    self.progress = now;
                    ended.push(message.end(Ok(accepted)));
                }
                (Err(failure), Some(at)) if again => {
                    message.attempts += 1;
                    message.unknown |= !failure.refused;
                    message.last = Some(failure);
                    self.rest(at, message);
                }
                (Err(failure), _) => {
                    message.last = Some(failure);
                    self.give_up(message, &mut ended);
                }
            }
        }
        ended
    }

    fn rest(&mut self, at: Instant, message: Pending<R>) {
        self.groups.rests(&message.request);
        let earlier = |(_, other): &(Instant, Pending<R>)| other.ticket < message.ticket;
        let place = self.resting.partition_point(earlier);
        self.resting.insert(place, (at, message));
    }

    /// Ends a message unsent, and with it those of its FIFO group that were to follow.
    fn give_up(&mut self, message: Pending<R>, ended: &mut Vec<Ended<R>>) {
        let key = self.groups.key(&message.request).map(ToOwned::to_owned);
        ended.push(message.end_untried(NO_TIME));
        let Some(key) = key else { return };
        let groups = &self.groups;
        let same = |other: &Pending<R>| groups.key(&other.request) == Some(&key);
        let resting = self.resting.extract_if(.., |(_, other)| same(other));
        let mut behind: Vec<_> = resting.map(|(_, other)| other).collect();
        let ready = std::mem::take(&mut self.ready).into_iter();
        let (waiting, others): (VecDeque<_>, _) = ready.partition(same);
        self.ready = others;
        for other in &behind {
            self.groups.wakes(&other.request);
        }
        behind.extend(waiting);
        ended.extend(behind.into_iter().map(|other| other.end_untried(BEHIND)));
    }

    /// Gives up what has no time left.
    pub(in super::super) fn expire(&mut self, now: Instant) -> Vec<Ended<R>> {
        let timeout = self.rules.retry.timeout;
        if !self.rules.time_runs_from_arrival && self.progress + timeout <= now {
            return self.abandon(NO_TIME);
        }
        let mut ended = Vec::new();
        let late = |outbox: &Self, message: &Pending<R>| outbox.deadline(message) <= now;
        while let Some(place) = (self.resting.iter()).position(|(_, message)| late(self, message)) {
            let (_, message) = self.resting.remove(place);
            self.groups.wakes(&message.request);
            self.give_up(message, &mut ended);
        }
        // They came in the order of their deadlines.
        while self.ready.front().is_some_and(|first| late(self, first)) {
            if let Some(first) = self.ready.pop_front() {
                self.give_up(first, &mut ended);
            }
        }
        ended
    }

    /// Gives up all that is in no call.
    pub(in super::super) fn abandon(&mut self, reason: &'static str) -> Vec<Ended<R>> {
        let resting: Vec<_> = self.resting.drain(..).map(|(_, message)| message).collect();
        for message in &resting {
            self.groups.wakes(&message.request);
        }
        let all = resting.into_iter().chain(self.ready.drain(..));
        all.map(|message| message.end_untried(reason)).collect()
    }
}
