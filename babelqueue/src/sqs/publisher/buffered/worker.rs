//! The one task of a buffered publisher: takes orders, makes the calls that the outbox asks for,
//! and tells every caller the fate of its message.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use super::flush::{Ending, FlushError, Flushes};
use super::{Order, Reply, Shared};
use crate::BoxFuture;
use crate::fields;
use crate::message::PublishError;
use crate::sqs::publisher::outbox::{Call, Ended, Outbox};

/// How many orders are read at a time.
const READ: usize = 256;

const ENDED: &str = "its buffered publisher ended";

pub(super) struct Worker {
    shared: Arc<Shared>,
    orders: mpsc::UnboundedReceiver<Order>,
    ending: watch::Sender<Ending>,
    outbox: Outbox<Reply>,
    calls: FuturesUnordered<BoxFuture<'static, Call<Reply>>>,
    flushes: Flushes,
    /// It was closed, and has so long to end.
    closing: Option<Option<Instant>>,
    /// No more orders will come: what is here is all. The result of it, when it is known.
    last: Option<oneshot::Receiver<Result<(), FlushError>>>,
}

impl Worker {
    pub(super) fn new(
        shared: Arc<Shared>,
        orders: mpsc::UnboundedReceiver<Order>,
        ending: watch::Sender<Ending>,
    ) -> Self {
        let outbox = Outbox::new(shared.rules, Instant::now());
        Self {
            shared,
            orders,
            ending,
            outbox,
            calls: FuturesUnordered::new(),
            flushes: Flushes::default(),
            closing: None,
            last: None,
        }
    }

    /// Runs until it was closed, or the last handle is gone, and nothing is left.
    pub(super) async fn run(mut self) {
        // The queue may have a lower limit than the publisher; the first publish asked for it.
        let max_bytes = self.shared.publisher.max_bytes().await;
        self.outbox.limit_bytes(max_bytes);
        let mut orders = Vec::with_capacity(READ);
        while self.last.is_none() || self.outbox.len() > 0 {
            self.make_calls();
            let now = Instant::now();
            let until = self.closing.flatten();
            if until.is_some_and(|until| until <= now) {
                self.give_up();
                break;
            }
            let wake = self.outbox.next_wake(now).into_iter().chain(until).min();
            tokio::select! {
                biased;
                Some(call) = self.calls.next() => {
                    let ended = self.outbox.settle(call, Instant::now(), fastrand::f64());
                    self.tell(ended);
                }
                count = self.orders.recv_many(&mut orders, READ), if self.last.is_none() => {
                    orders.drain(..).for_each(|order| self.take(order));
                    if count == 0 || self.closing.is_some() {
                        self.last_orders();
                    }
                }
                () = sleep_until(wake.unwrap_or(now)), if wake.is_some() => {}
            }
        }
        let result = self.last.and_then(|mut last| last.try_recv().ok());
        let result = result.unwrap_or(Ok(()));
        self.ending.send_replace(Ending::new(result));
    }

    fn make_calls(&mut self) {
        let now = Instant::now();
        let late = self.outbox.expire(now);
        self.tell(late);
        while let Some(messages) = self.outbox.take(now) {
            let deadlines = messages.iter().map(|message| self.outbox.deadline(message));
            let deadline = deadlines.min().unwrap_or(now);
            let call = self.shared.publisher.call(messages, deadline);
            self.calls.push(call);
        }
    }

    fn take(&mut self, order: Order) {
        match order {
            Order::Send(request, reply) => {
                self.outbox.push(request, reply, false, Instant::now());
            }
            Order::Flush(waiter) => self.flush(waiter),
            // The first one decides; there is no second but in a race.
            Order::Close(until) => self.closing = self.closing.or(Some(until)),
        }
    }

    fn flush(&mut self, waiter: oneshot::Sender<Result<(), FlushError>>) {
        let upto = self.outbox.hurry();
        let queue = self.shared.publisher.queue();
        self.flushes.add(upto, self.outbox.len(), queue, waiter);
    }

    /// After a `close`, or when the last handle was dropped without one: takes in what was
    /// ordered before, and nothing more.
    fn last_orders(&mut self) {
        self.orders.close();
        while let Ok(order) = self.orders.try_recv() {
            self.take(order);
        }
        let (waiter, result) = oneshot::channel();
        self.flush(waiter);
        self.last = Some(result);
        if self.closing.is_none() {
            let left = self.outbox.abandon(ENDED);
            self.tell(left);
        }
    }

    /// The time to close is over. The callers of what is in a call see that their reply is gone.
    fn give_up(&mut self) {
        if self.last.is_none() {
            self.last_orders();
        }
        let left = self.outbox.abandon(ENDED);
        self.tell(left);
        let in_flight = self.outbox.in_flight();
        self.calls.clear();
        self.shared.open.fetch_sub(in_flight, Ordering::Relaxed);
        self.flushes.lost(in_flight, self.shared.publisher.queue());
    }

    fn tell(&mut self, ended: Vec<Ended<Reply>>) {
        let queue = self.shared.publisher.queue();
        for message in ended {
            self.shared.open.fetch_sub(1, Ordering::Relaxed);
            let ticket = message.ticket;
            let message_id = message
                .fate
                .is_err()
                .then(|| message.request.message_id.clone());
            let (reply, (result, _)) = message.into_result(queue);
            let unsent = result.as_ref().err().map(PublishError::is_refused);
            if let Err(Err(error)) = reply.caller.send(result) {
                tracing::error!(
                    { fields::QUEUE } = queue,
                    { fields::MESSAGE_ID } = message_id,
                    { fields::ERROR } = crate::pipeline::error_text(&error),
                    "a message was not sent whose caller does not wait for it any more"
                );
            }
            self.flushes.settled(ticket, unsent, queue);
        }
    }
}
