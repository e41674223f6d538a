//! Batch handlers: what a `#[babel_handler(batch)]` takes, how it says that single messages of it
//! failed, and how that comes together with its answer. Knows no queue.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::error::{HandlerError, IntoHandlerError};
use super::outcome::{HandlerResult, Outcome};
use super::payload::{Payload, payload};
use super::stopped::{Stopped, Withheld};
use crate::context::{Context, Delivery};

/// The messages of one call of a batch handler: all of one URN, in the order of their receipt,
/// never none. A message whose payload does not deserialise is not among them: it fails alone, and
/// on a FIFO queue holds back those behind it in its group.
///
/// ```
/// use babelqueue::prelude::*;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize, BabelMessage)]
/// # #[urn = "urn:babel:orders:created"]
/// # struct OrderCreated { order_id: u64 }
/// # async fn insert_all(_: &[&OrderCreated]) -> Result<(), std::io::Error> { Ok(()) }
/// #[babel_handler(batch)]
/// async fn orders_created(orders: Batch<OrderCreated>) -> Result<(), std::io::Error> {
///     for order in &orders {
///         if order.order_id == 0 {
///             order.fail(HandlerError::permanent("no order has the number 0"));
///         }
///     }
///     let rows: Vec<_> = orders.iter().map(|order| order.payload()).collect();
///     insert_all(&rows).await // an `Err` fails all of them
/// }
/// ```
#[derive(Debug)]
pub struct Batch<T> {
    items: Vec<Item<T>>,
}

impl<T> Batch<T> {
    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none: never, as a handler gets it.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The messages, one after the other.
    pub fn iter(&self) -> std::slice::Iter<'_, Item<T>> {
        self.items.iter()
    }

    /// Their payloads alone. Those of messages that were failed meanwhile are among them.
    pub fn payloads(&self) -> impl Iterator<Item = &T> {
        self.items.iter().map(Item::payload)
    }
}

impl<T> IntoIterator for Batch<T> {
    type Item = Item<T>;
    type IntoIter = std::vec::IntoIter<Item<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Batch<T> {
    type Item = &'a Item<T>;
    type IntoIter = std::slice::Iter<'a, Item<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

/// One message of a [`Batch`]: its payload, which it derefs to, and a [`Ticket`].
#[derive(Debug)]
pub struct Item<T> {
    payload: T,
    ticket: Ticket,
}

impl<T> Item<T> {
    /// The payload.
    pub fn payload(&self) -> &T {
        &self.payload
    }

    /// What stands for the message, to be kept or sent to another task.
    pub fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// Payload and ticket, owned.
    pub fn into_parts(self) -> (T, Ticket) {
        (self.payload, self.ticket)
    }

    /// What is known of the delivery.
    pub fn context(&self) -> &Context {
        self.ticket.context()
    }

    /// The span of this message, to be entered while it alone is worked on (SPEC §4.5).
    pub fn span(&self) -> tracing::Span {
        self.ticket.context().span()
    }

    /// As [`Ticket::fail`].
    pub fn fail(&self, error: impl IntoHandlerError) {
        self.ticket.fail(error);
    }

    /// As [`Ticket::settle`].
    pub fn settle(&self, outcome: Outcome) {
        self.ticket.settle(outcome);
    }
}

impl<T> Deref for Item<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.payload
    }
}

/// Stands for one message of a batch: by it the message is failed or settled on its own, from any
/// task, any number of times; the last word counts. After the handler has ended it says nothing
/// any more.
#[derive(Clone)]
pub struct Ticket {
    delivery: Delivery,
    at: usize,
    verdicts: Arc<Verdicts>,
}

impl Ticket {
    /// What is known of the delivery.
    pub fn context(&self) -> &Context {
        self.delivery.context()
    }

    /// Fails this message alone. A [`HandlerError`] says more:
    /// [`retry_after`](HandlerError::retry_after) gives it a pause of its own,
    /// [`permanent`](HandlerError::permanent) gives it up. It stands also when the handler
    /// returns an error for all.
    pub fn fail(&self, error: impl IntoHandlerError) {
        self.verdicts.set(self.at, Err(error.into_handler_error()));
    }

    /// Says what becomes of this message alone, in place of what the handler returns for all. A
    /// success does not stand against a handler that fails.
    pub fn settle(&self, outcome: Outcome) {
        self.verdicts.set(self.at, Ok(outcome));
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket")
            .field("message_id", &self.context().source().message_id)
            .finish_non_exhaustive()
    }
}

/// What was said of the single messages of a batch.
#[derive(Debug, Default)]
struct Verdicts(Mutex<Vec<Option<HandlerResult>>>);

impl Verdicts {
    fn of(messages: usize) -> Self {
        Self(Mutex::new((0..messages).map(|_| None).collect()))
    }

    fn set(&self, at: usize, verdict: HandlerResult) {
        if let Some(place) = self.lock().get_mut(at) {
            *place = Some(verdict);
        }
    }

    fn take(&self) -> Vec<Option<HandlerResult>> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Option<HandlerResult>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The deliveries that a batch handler is called for, and what it says of each.
#[derive(Debug)]
pub struct Deliveries {
    deliveries: Vec<Delivery>,
    verdicts: Arc<Verdicts>,
}

impl Deliveries {
    /// Deliveries of one URN, in the order of their receipt: for drivers and tests.
    pub fn new(deliveries: Vec<Delivery>) -> Self {
        Self {
            verdicts: Arc::new(Verdicts::of(deliveries.len())),
            deliveries,
        }
    }

    /// Fails those that `is_failed` tells of and that nothing failing was said of.
    #[cfg(feature = "lambda")]
    pub(crate) fn fail_where(
        &self,
        is_failed: impl Fn(&Delivery) -> bool,
        error: impl Fn() -> HandlerError,
    ) {
        let mut verdicts = self.verdicts.lock();
        for (delivery, verdict) in self.deliveries.iter().zip(verdicts.iter_mut()) {
            if !verdict.as_ref().is_some_and(is_failing) && is_failed(delivery) {
                *verdict = Some(Err(error()));
            }
        }
    }

    /// The result of every message, after the handler has ended with `answer`: what was said of
    /// it alone, else the answer. Later words of tickets are lost.
    pub fn results(&self, answer: HandlerResult) -> Vec<HandlerResult> {
        let verdicts = self.verdicts.take();
        match answer {
            Ok(outcome) => verdicts
                .into_iter()
                .map(|verdict| verdict.unwrap_or_else(|| Ok(outcome.clone())))
                .collect(),
            Err(error) => {
                let errors = error.repeated(verdicts.len());
                verdicts
                    .into_iter()
                    .zip(errors)
                    .map(|(verdict, error)| verdict.filter(is_failing).unwrap_or(Err(error)))
                    .collect()
            }
        }
    }
}

fn is_failing(verdict: &HandlerResult) -> bool {
    !matches!(verdict, Ok(Outcome::Done | Outcome::Discard))
}

/// What a handler is called for: [`Routes::dispatch`](crate::Routes::dispatch) takes it.
#[derive(Clone, Copy, Debug)]
pub enum Input<'d> {
    /// One message.
    One(&'d Delivery),
    /// Several messages of one URN, for a batch handler.
    Batch(&'d Deliveries),
}

impl<'d> From<&'d Delivery> for Input<'d> {
    fn from(delivery: &'d Delivery) -> Self {
        Self::One(delivery)
    }
}

impl<'d> From<&'d Deliveries> for Input<'d> {
    fn from(deliveries: &'d Deliveries) -> Self {
        Self::Batch(deliveries)
    }
}

/// A batch was given to a handler that takes one message at a time.
#[derive(Debug, thiserror::Error)]
#[error("the handler takes one message at a time and was given a batch of {0}")]
struct NotABatchHandler(usize);

impl<'d> Input<'d> {
    /// For the generated code: the one message.
    ///
    /// # Errors
    /// When it is a batch.
    #[doc(hidden)]
    pub fn one(self) -> Result<&'d Delivery, HandlerError> {
        match self {
            Self::One(delivery) => Ok(delivery),
            Self::Batch(batch) => Err(NotABatchHandler(batch.deliveries.len()).into()),
        }
    }

    /// For the generated code: the messages, one of them included.
    #[doc(hidden)]
    pub fn all(self) -> Gathered<'d> {
        match self {
            Self::One(delivery) => Gathered {
                deliveries: std::slice::from_ref(delivery),
                verdicts: Arc::new(Verdicts::of(1)),
                is_one: true,
            },
            Self::Batch(batch) => Gathered {
                deliveries: &batch.deliveries,
                verdicts: Arc::clone(&batch.verdicts),
                is_one: false,
            },
        }
    }
}

/// A batch on its way into a handler.
#[derive(Debug)]
#[doc(hidden)]
pub struct Gathered<'d> {
    deliveries: &'d [Delivery],
    verdicts: Arc<Verdicts>,
    is_one: bool,
}

impl<'d> Gathered<'d> {
    pub fn deliveries(&self) -> &'d [Delivery] {
        self.deliveries
    }

    /// The handler's answer; of one message, together with what was said of it.
    ///
    /// # Errors
    /// The handler's own.
    pub fn answer(&self, answer: HandlerResult) -> HandlerResult {
        if !self.is_one {
            return answer;
        }
        let verdict = self.verdicts.take().pop().flatten();
        match (answer, verdict) {
            (Ok(_), Some(verdict)) => verdict,
            (answer, _) => answer,
        }
    }
}

/// What may be the first argument of a batch handler.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the first argument of a batch handler",
    label = "a batch handler takes a `Batch<T>` first",
    note = "`T` is a message: derive both `BabelMessage` (with `#[urn = \"urn:…:…\"]`) and \
            `serde::Deserialize` on it",
    note = "a handler of one message at a time is `#[babel_handler]` alone"
)]
pub trait BatchPayload<'d>: Sized {
    #[doc(hidden)]
    fn gather(gathered: &Gathered<'d>) -> Self;

    #[doc(hidden)]
    fn has_none(&self) -> bool;
}

#[diagnostic::do_not_recommend]
impl<'d, T: Payload<'d>> BatchPayload<'d> for Batch<T> {
    fn gather(gathered: &Gathered<'d>) -> Self {
        let mut items = Vec::with_capacity(gathered.deliveries.len());
        let mut stopped = Stopped::default();
        for (at, delivery) in gathered.deliveries.iter().enumerate() {
            let group = delivery.context().source().fifo_group();
            if stopped.has(group) {
                gathered.verdicts.set(at, Err(Withheld.into()));
                continue;
            }
            match payload::<T>(delivery) {
                Ok(payload) => items.push(Item {
                    payload,
                    ticket: Ticket {
                        delivery: delivery.clone(),
                        at,
                        verdicts: Arc::clone(&gathered.verdicts),
                    },
                }),
                Err(error) => {
                    stopped.add(group);
                    gathered.verdicts.set(at, Err(error));
                }
            }
        }
        Self { items }
    }

    fn has_none(&self) -> bool {
        self.items.is_empty()
    }
}

/// For the generated code: the batch, or nothing when no message of it has a payload.
#[doc(hidden)]
pub fn gather<'d, B: BatchPayload<'d>>(gathered: &Gathered<'d>) -> Option<B> {
    let batch = B::gather(gathered);
    (!batch.has_none()).then_some(batch)
}
