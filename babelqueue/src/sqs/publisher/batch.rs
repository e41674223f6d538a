//! Batches: any number of messages by as few `SendMessageBatch` calls as possible, and what
//! became of each.

use std::collections::BTreeMap;
use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, FuturesUnordered, StreamExt as _};
use serde::Serialize;
use tokio::time::{Instant, sleep_until};

use super::batch_error::BatchError;
use super::offload::is_offloaded;
use super::outbox::{Outbox, Rules};
use super::request::{Request, from_draft};
use super::send::SqsPublisher;
use crate::BoxFuture;
use crate::message::{BabelMessage, Draft, Publish, PublishBuilder, PublishError, Published};
use crate::telemetry::Publishing;

/// How many bodies are stored at the same time.
const STORES: usize = 10;

const HELD: &str = "another message of the batch cannot be sent: nothing of it was";

/// Messages to be sent together; await it to send. Made by [`SqsPublisher::publish_batch`] for
/// messages of one type and by [`SqsPublisher::batch`] for messages of several.
///
/// - Every message is checked before the first request. If one cannot be sent at all (too large,
///   without a group on a FIFO queue, …), none is, and the error names it. Likewise when a body is
///   to be offloaded and cannot be stored.
/// - A request holds up to ten messages and as many bytes as the publisher's limit allows;
///   requests follow each other in the order of the messages (SPEC §2.5).
/// - What may pass is tried again: only the messages that failed, and never in a way that changes
///   the order of a FIFO group. Messages behind one of their group that was not sent come back as
///   [`PublishError::NotAttempted`].
/// - Dropped in the middle, it stops: what SQS has taken by then stays sent.
#[derive(Debug)]
#[must_use = "a batch does nothing until it is awaited"]
pub struct PublishBatch {
    publisher: SqsPublisher,
    slots: Vec<Slot>,
    /// One for each slot; none of what was settled before.
    publishings: Vec<Option<Publishing>>,
    concurrency: usize,
}

/// A message of a batch, and what telemetry knows of it.
pub(super) type Begun = (Slot, Option<Publishing>);

/// A message of a batch.
#[derive(Debug)]
pub(super) enum Slot {
    /// Not settled. `unknown`: it may have been sent before.
    Open {
        request: Arc<Request>,
        unknown: bool,
    },
    /// A mistake in it that nobody was told of yet.
    Refused(PublishError),
    Settled(Result<Published, PublishError>),
}

/// What became of a message; with its request, if it may be sent again.
pub(super) type Settled = (Result<Published, PublishError>, Option<Arc<Request>>);

impl SqsPublisher {
    /// Sends any number of messages of one type, given as values or as references.
    ///
    /// ```no_run
    /// # use babelqueue::prelude::*;
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize, BabelMessage)]
    /// # #[urn = "urn:babel:orders:created"]
    /// # struct OrderCreated { order_id: u64 }
    /// # async fn run(publisher: SqsPublisher) {
    /// let orders: Vec<_> = (0..1000).map(|order_id| OrderCreated { order_id }).collect();
    /// match publisher.publish_batch(&orders).await {
    ///     Ok(sent) => println!("{} orders sent", sent.len()),
    ///     Err(error) => {
    ///         for (place, failure) in error.failures() {
    ///             println!("order {}: {failure}", orders[place].order_id);
    ///         }
    ///         // The very same messages, those that were sent left out.
    ///         let _ = error.retry().await;
    ///     }
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`BatchError`] unless every message was sent; it has one result per message, in order.
    /// No message at all is success without a call.
    pub fn publish_batch<M>(&self, messages: impl IntoIterator<Item = M>) -> PublishBatch
    where
        M: BabelMessage + Serialize,
    {
        let slot = |message| made(self, Draft::of(&message));
        let begun = messages.into_iter().map(slot);
        PublishBatch::begun(self.clone(), begun)
    }

    /// Starts a batch of messages of any types.
    ///
    /// ```no_run
    /// # use babelqueue::prelude::*;
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize, BabelMessage)]
    /// # #[urn = "urn:babel:orders:created"]
    /// # struct OrderCreated { order_id: u64 }
    /// # #[derive(Serialize, Deserialize, BabelMessage)]
    /// # #[urn = "urn:babel:orders:paid"]
    /// # struct OrderPaid { order_id: u64 }
    /// # async fn run(publisher: SqsPublisher) -> Result<(), babelqueue::Error> {
    /// let later = std::time::Duration::from_secs(60);
    /// publisher
    ///     .batch()
    ///     .push(OrderCreated { order_id: 1042 })
    ///     .push_publish(OrderPaid { order_id: 1042 }.publish(&publisher).delay(later))
    ///     .push_publish(publisher.publish_json("urn:babel:orders:noted", &serde_json::json!({})))
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn batch(&self) -> PublishBatch {
        PublishBatch::begun(self.clone(), std::iter::empty())
    }
}

impl PublishBatch {
    pub(super) fn begun(publisher: SqsPublisher, begun: impl Iterator<Item = Begun>) -> Self {
        let (slots, publishings) = begun.unzip();
        Self {
            publisher,
            slots,
            publishings,
            concurrency: 1,
        }
    }

    fn add(mut self, (slot, publishing): Begun) -> Self {
        self.slots.push(slot);
        self.publishings.push(publishing);
        self
    }

    /// Adds a message.
    pub fn push<M: BabelMessage + Serialize>(self, message: M) -> Self {
        let begun = made(&self.publisher, Draft::of(&message));
        self.add(begun)
    }

    /// Adds a message with all that a [`PublishBuilder`] can say of it: headers, a delay, a
    /// trace, … It is sent by this batch; which publisher the builder names does not matter.
    pub fn push_publish<P: Publish + ?Sized>(self, publish: PublishBuilder<'_, P>) -> Self {
        let begun = made(&self.publisher, publish.into_draft());
        self.add(begun)
    }

    /// How many calls may be under way at the same time: 1 unless set, so that messages go out in
    /// order. More are faster and mix the order. A FIFO queue gets one call at a time whatever is
    /// set (SPEC §2.5).
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.concurrency = calls.max(1);
        self
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    async fn send(self) -> Result<Vec<Published>, BatchError> {
        let Self {
            publisher,
            mut slots,
            publishings,
            concurrency,
        } = self;
        if slots.is_empty() {
            return Ok(Vec::new());
        }
        // Nothing is asked of SQS by a publisher that cannot work.
        let max_bytes = match publisher.check() {
            Ok(()) => publisher.max_bytes().await,
            Err(_) => publisher.settings().max_message_bytes,
        };
        let all_good = check(&publisher, &mut slots, max_bytes);
        let mut unstored = match all_good {
            true => store(&publisher, &slots).await,
            false => BTreeMap::new(),
        };
        let settled = if all_good && unstored.is_empty() {
            let settings = publisher.settings();
            let rules = Rules {
                fifo: settings.fifo,
                max_bytes,
                max_calls: if settings.fifo { 1 } else { concurrency },
                linger: Duration::ZERO,
                retry: settings.retry,
                time_runs_from_arrival: false,
            };
            drive(&publisher, slots, rules).await
        } else {
            let slots = slots.into_iter().enumerate();
            slots
                .map(|(place, slot)| hold(&publisher, slot, unstored.remove(&place)))
                .collect()
        };
        for (publishing, (result, _)) in publishings.into_iter().zip(&settled) {
            if let Some(publishing) = publishing {
                publishing.end(result);
            }
        }
        BatchError::unless_all_sent(publisher, settled)
    }
}

/// Makes the request of a message, once for every attempt, which begins its publish.
fn made(publisher: &SqsPublisher, draft: Result<Draft, PublishError>) -> Begun {
    let mut publishing = None;
    let request = draft.and_then(|mut draft| {
        publishing = Some(publisher.observer().publishing(&mut draft));
        from_draft(draft, publisher.frame())
    });
    let slot = match request {
        Ok(request) => Slot::Open {
            request: Arc::new(request),
            unknown: false,
        },
        Err(error) => Slot::Refused(error),
    };
    (slot, publishing)
}

/// Refuses what cannot be sent; tells whether there is nothing of that kind.
fn check(publisher: &SqsPublisher, slots: &mut [Slot], max_bytes: usize) -> bool {
    for slot in &mut *slots {
        if let Slot::Open { request, .. } = slot {
            let fits = |()| Arc::make_mut(request).fit(publisher.settings(), max_bytes);
            if let Err(error) = publisher.check().and_then(fits) {
                *slot = Slot::Refused(error);
            }
        }
    }
    !slots.iter().any(|slot| matches!(slot, Slot::Refused(_)))
}

/// Stores the bodies of large messages, several at a time; returns what failed, by place.
async fn store(publisher: &SqsPublisher, slots: &[Slot]) -> BTreeMap<usize, PublishError> {
    let mut stores = Vec::new();
    for (place, slot) in slots.iter().enumerate() {
        if let Slot::Open { request, .. } = slot
            && is_offloaded(request)
        {
            let store = publisher.store(request);
            stores.push(async move { Some((place, store.await.err()?)) });
        }
    }
    let stored = stream::iter(stores).buffer_unordered(STORES);
    stored
        .collect::<Vec<_>>()
        .await
        .into_iter()
        .flatten()
        .collect()
}

/// A message of a batch that does not go out as it is, perhaps for a reason of its own.
fn hold(publisher: &SqsPublisher, slot: Slot, error: Option<PublishError>) -> Settled {
    match slot {
        Slot::Settled(result) => (result, None),
        Slot::Refused(error) => (Err(error), None),
        Slot::Open { request, .. } => {
            (Err(error.unwrap_or_else(|| held(publisher))), Some(request))
        }
    }
}

fn held(publisher: &SqsPublisher) -> PublishError {
    PublishError::NotAttempted {
        queue: publisher.queue().to_owned(),
        reason: HELD,
    }
}

/// Sends all that is open, and waits for the last word on each.
async fn drive(publisher: &SqsPublisher, slots: Vec<Slot>, rules: Rules) -> Vec<Settled> {
    let mut outbox = Outbox::new(rules, Instant::now());
    let mut settled: Vec<Option<Settled>> = Vec::with_capacity(slots.len());
    for (place, slot) in slots.into_iter().enumerate() {
        settled.push(match slot {
            Slot::Open { request, unknown } => {
                outbox.push(request, place, unknown, Instant::now());
                None
            }
            other => Some(hold(publisher, other, None)),
        });
    }
    let mut calls = FuturesUnordered::new();
    while outbox.len() > 0 {
        let now = Instant::now();
        let mut ended = outbox.expire(now);
        while let Some((messages, deadline)) = outbox.next_call(now) {
            calls.push(publisher.clone().call(messages, deadline));
        }
        if ended.is_empty() {
            let wake = outbox.next_wake(now);
            tokio::select! {
                biased;
                Some(call) = calls.next() => {
                    ended = outbox.settle(call, Instant::now(), fastrand::f64());
                }
                () = sleep_until(wake.unwrap_or(now)), if wake.is_some() => {}
                else => break,
            }
        }
        for message in ended {
            let (place, result) = message.into_result(publisher.queue());
            settled[place] = Some(result);
        }
    }
    let lost = || (Err(held(publisher)), None);
    settled
        .into_iter()
        .map(|slot| slot.unwrap_or_else(lost))
        .collect()
}

impl IntoFuture for PublishBatch {
    type Output = Result<Vec<Published>, BatchError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}
