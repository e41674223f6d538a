//! What the callers, the calls and the clock of a buffered publisher share under one lock: the
//! outbox, who waits for it to be empty, and how far its end has come. Decides and spawns calls;
//! waits for nothing, and tells nobody anything before the lock is free ([`News`]).

use std::sync::Arc;

use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::Reply;
use super::flush::{Answer, Flushes, Waiter};
use super::shared::Shared;
use crate::sqs::publisher::outbox::{Call, Ended, Outbox, Rules};
use crate::sqs::publisher::request::Request;

/// What messages are told that were not tried before the end.
const ENDED: &str = "its buffered publisher ended";

#[derive(Debug)]
pub(super) struct State {
    outbox: Outbox<Reply>,
    flushes: Flushes,
    phase: Phase,
    /// Those under way.
    calls: Vec<AbortHandle>,
    /// When the clock looks next by itself.
    wake: Option<Instant>,
    /// Messages that came, and whose fate nobody knows yet.
    open: usize,
}

/// How far the end has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Open,
    /// Closed, until then at most.
    Closing(Option<Instant>),
    /// The last handle was dropped: only calls under way are waited for.
    Dropped,
    /// Its runtime is gone.
    Lost,
    /// Nothing is left.
    Ended,
}

/// What is to be told, when the lock is free.
#[derive(Debug, Default)]
pub(super) struct News {
    pub(super) ended: Vec<Ended<Reply>>,
    pub(super) answers: Vec<Answer>,
    /// The clock has to look earlier than it would.
    pub(super) wake: bool,
}

impl State {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            outbox: Outbox::new(rules, Instant::now()),
            flushes: Flushes::default(),
            phase: Phase::Open,
            calls: Vec::new(),
            wake: None,
            open: 0,
        }
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// Messages whose fate nobody knows yet.
    pub(super) fn open(&self) -> usize {
        self.open
    }

    /// Takes a message in, unless the buffer takes none any more.
    pub(super) fn push(
        &mut self,
        request: Arc<Request>,
        reply: Reply,
        max_bytes: usize,
        shared: &Arc<Shared>,
        news: &mut News,
    ) -> Result<(), Phase> {
        if self.phase != Phase::Open {
            return Err(self.phase);
        }
        let now = Instant::now();
        self.open += 1;
        self.outbox.limit_bytes(max_bytes);
        self.outbox.push(request, reply, false, now);
        if self.outbox.may_leave(now) {
            self.look(now, shared, news);
        } else {
            self.wake_by(Some(self.outbox.wake_for_new(now)), news);
        }
        Ok(())
    }

    /// A call has ended.
    pub(super) fn settle(&mut self, call: Call<Reply>, shared: &Arc<Shared>, news: &mut News) {
        if matches!(self.phase, Phase::Lost | Phase::Ended) {
            return; // Given up before: the callers see that their reply is gone.
        }
        let now = Instant::now();
        let ended = self.outbox.settle(call, now, fastrand::f64());
        self.note(ended, news);
        self.look(now, shared, news);
    }

    /// Somebody waits for all that is here.
    pub(super) fn flush(&mut self, waiter: Waiter, shared: &Arc<Shared>, news: &mut News) {
        self.wait(waiter);
        self.answer(news);
        self.look(Instant::now(), shared, news);
    }

    fn wait(&mut self, waiter: Waiter) {
        let upto = self.outbox.hurry();
        self.flushes.add(upto, self.outbox.len(), waiter);
    }

    /// Takes no more messages, and sends what is here.
    pub(super) fn close(&mut self, until: Option<Instant>, shared: &Arc<Shared>, news: &mut News) {
        if self.phase == Phase::Open {
            self.phase = Phase::Closing(until);
            self.flush(Waiter::End, shared, news);
        }
    }

    /// The last handle is gone without a `close`: what is in no call is not sent.
    pub(super) fn drop_handle(&mut self, news: &mut News) {
        if self.phase == Phase::Open {
            self.phase = Phase::Dropped;
            self.wait(Waiter::End);
            let left = self.outbox.abandon(ENDED);
            self.note(left, news);
        }
    }

    /// The runtime is gone: what is in no call is not sent, and the callers of what is in one see
    /// that their reply is gone.
    pub(super) fn lose(&mut self, news: &mut News) {
        let left = self.outbox.abandon(ENDED);
        self.note(left, news);
        self.flushes.lost(self.outbox.in_flight());
        self.answer(news);
        if self.phase != Phase::Ended {
            self.phase = Phase::Lost;
        }
    }

    /// The clock's turn. Gives when its next one is.
    pub(super) fn turn(&mut self, shared: &Arc<Shared>, news: &mut News) -> Option<Instant> {
        self.wake = None;
        self.look(Instant::now(), shared, news);
        news.wake = false;
        self.wake
    }

    /// Lets go what is late, makes the calls whose time has come, and sees to the next look.
    fn look(&mut self, now: Instant, shared: &Arc<Shared>, news: &mut News) {
        let until = match self.phase {
            Phase::Closing(until) => until,
            Phase::Open | Phase::Dropped => None,
            Phase::Lost | Phase::Ended => return,
        };
        if until.is_some_and(|until| until <= now) {
            return self.give_up(news);
        }
        let late = self.outbox.expire(now);
        self.note(late, news);
        while let Some((messages, deadline)) = self.outbox.next_call(now) {
            self.calls.retain(|call| !call.is_finished());
            self.calls.extend(shared.spawn(messages, deadline));
        }
        self.wake_by(self.outbox.next_wake(now), news);
        self.wake_by(until, news);
    }

    /// The time to close is over. The callers of what is in a call see that their reply is gone.
    fn give_up(&mut self, news: &mut News) {
        let left = self.outbox.abandon(ENDED);
        self.note(left, news);
        self.calls.drain(..).for_each(|call| call.abort());
        self.open -= self.outbox.in_flight();
        self.flushes.lost(self.outbox.in_flight());
        self.answer(news);
    }

    fn note(&mut self, mut ended: Vec<Ended<Reply>>, news: &mut News) {
        self.open -= ended.len();
        for message in &ended {
            self.flushes.settled(message.ticket, message.unsent());
        }
        self.answer(news);
        if news.ended.is_empty() {
            news.ended = ended;
        } else {
            news.ended.append(&mut ended);
        }
    }

    fn answer(&mut self, news: &mut News) {
        news.answers.extend(self.flushes.answered());
        if news.answers.iter().any(Answer::is_end) {
            self.phase = Phase::Ended;
            news.wake = true;
        }
    }

    /// The clock has to look by then.
    fn wake_by(&mut self, at: Option<Instant>, news: &mut News) {
        if let Some(at) = at
            && self.wake.is_none_or(|wake| at < wake)
        {
            self.wake = Some(at);
            news.wake = true;
        }
    }
}
