//! Several deliveries in one call of a batch handler. Each goes its own way through the
//! idempotency guard and to its own settlement; in the middle they wait for each other and share
//! the call.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use futures_util::future::{join, join_all};
use tokio::sync::{mpsc, oneshot};
use tracing::Instrument as _;

use super::failure::short_type_name;
use super::layers::Place;
use super::prepared::Prepared;
use super::process::Pipeline;
use super::processed::{Processed, Settlement};
use crate::context::Delivery;
use crate::fields;
use crate::handler::{ErrorKind, HandlerError, HandlerResult, Stopped, Withheld};
use crate::panics::fenced_async;
use crate::telemetry::Failure;

/// A delivery that is ready to be handled, and where its result is waited for.
struct Sitting {
    at: usize,
    delivery: Delivery,
    answer: oneshot::Sender<HandlerResult>,
}

/// The place of one delivery in a common call. To drop it is to stay away.
pub(super) struct Seat {
    at: usize,
    door: Mutex<Option<mpsc::UnboundedSender<Sitting>>>,
}

/// The common call ended without a result for this delivery.
#[derive(Debug, thiserror::Error)]
#[error("the call of the batch ended without a result for this message")]
struct NoResult;

impl Seat {
    /// Takes the place, and waits for the call.
    pub(super) async fn take(&self, delivery: Delivery) -> HandlerResult {
        let door = self
            .door
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let (answer, result) = oneshot::channel();
        if let Some(door) = door {
            let at = self.at;
            // Without anybody to receive it, the answer is dropped with it.
            let _ = door.send(Sitting {
                at,
                delivery,
                answer,
            });
        }
        result.await.unwrap_or_else(|_| Err(NoResult.into()))
    }

    /// Whether the place was never taken.
    fn is_free(&self) -> bool {
        let door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
        door.is_some()
    }
}

/// Those who may be handled: a member that stayed away unhandled holds back what stands behind it
/// in its FIFO group.
fn behind_none(sitting: Vec<Sitting>, absent: BTreeMap<usize, String>) -> Vec<Sitting> {
    let mut absent = absent.into_iter().peekable();
    let mut stopped = Stopped::default();
    let mut may = Vec::with_capacity(sitting.len());
    for member in sitting {
        while let Some((_, group)) = absent.next_if(|(at, _)| *at < member.at) {
            stopped.add(Some(&group));
        }
        if stopped.has(member.delivery.context().source().fifo_group()) {
            let _ = member.answer.send(Err(Withheld.into()));
        } else {
            may.push(member);
        }
    }
    may
}

impl Pipeline {
    /// Handles prepared deliveries of one batch handler in one call, and says what becomes of
    /// each, in their order.
    pub(crate) async fn handle_batch(
        &self,
        handler: usize,
        members: Vec<Prepared>,
    ) -> Vec<Processed> {
        let (door, mut sittings) = mpsc::unbounded_channel::<Sitting>();
        let absent = Mutex::new(BTreeMap::new());
        let absent = &absent;
        let members: Vec<_> = members
            .into_iter()
            .enumerate()
            .map(|(at, member)| {
                let seat = Seat {
                    at,
                    door: Mutex::new(Some(door.clone())),
                };
                let group = member.fifo_group().map(str::to_owned);
                async move {
                    let processed = self.handle_in(member, Place::Shared(&seat)).await;
                    let is_done = matches!(processed.settlement, Settlement::Delete);
                    if let (Some(group), true, false) = (group, seat.is_free(), is_done) {
                        let mut absent = absent.lock().unwrap_or_else(PoisonError::into_inner);
                        absent.insert(at, group);
                    }
                    processed
                }
            })
            .collect();
        drop(door);
        let call = async {
            let mut sitting = Vec::new();
            // Ends when every member has come or has been settled without.
            while let Some(member) = sittings.recv().await {
                sitting.push(member);
            }
            sitting.sort_by_key(|member| member.at);
            let absent =
                std::mem::take(&mut *absent.lock().unwrap_or_else(PoisonError::into_inner));
            let sitting = behind_none(sitting, absent);
            let (deliveries, answers): (Vec<_>, Vec<_>) = sitting
                .into_iter()
                .map(|member| (member.delivery, member.answer))
                .unzip();
            if deliveries.is_empty() {
                return;
            }
            let results = self.call_batch(handler, deliveries).await;
            for (answer, result) in answers.into_iter().zip(results) {
                // A member that was dropped meanwhile needs none.
                let _ = answer.send(result);
            }
        };
        join(join_all(members), call).await.0
    }

    /// The user's layers and the handler inside of them, for all.
    async fn call_batch(&self, handler: usize, deliveries: Vec<Delivery>) -> Vec<HandlerResult> {
        let messages = deliveries.len();
        let batch = self
            .observer
            .batch(deliveries.iter().map(Delivery::context));
        let span = batch.within(|| {
            tracing::info_span!(
                "process_batch",
                { fields::URN } = deliveries.first().map(|delivery| delivery.context().urn()),
                { fields::HANDLER } = self.handling.dispatch.handler_name(handler),
                { fields::QUEUE } = &*self.queue,
                { fields::MESSAGES } = messages,
            )
        });
        let call = async {
            match &self.middleware {
                Some(middleware) => middleware.batch(deliveries).await,
                None => self.handling.run_batch(handler, deliveries).await,
            }
        };
        let call = fenced_async(call).instrument(span);
        let results = batch.scope(call).await;
        let results = results.unwrap_or_else(|panicked| {
            HandlerError::of_kind(ErrorKind::Panic, panicked)
                .repeated(messages)
                .into_iter()
                .map(Err)
                .collect()
        });
        if let Some(Err(error)) = results.first()
            && results.iter().all(Result::is_err)
        {
            batch.failed(error.kind().as_str(), || Failure {
                exception: Some(short_type_name(error.type_name())),
                text: self.reporter.text(error.as_error()),
            });
        }
        batch.end();
        results
    }
}
