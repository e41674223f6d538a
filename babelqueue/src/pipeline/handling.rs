//! The innermost of the layers: the payload's schema, then the handler, fenced by its timeout and
//! against its panics (SPEC §2.7, step 7).

use std::sync::Arc;
use std::time::Duration;

use super::dispatch::Dispatch;
use super::failure::{TimedOut, UnknownUrnError};
use super::middleware::{Call, Outcomes, Work};
use crate::context::Delivery;
#[cfg(feature = "schema")]
use crate::handler::Verdict;
use crate::handler::{Deliveries, ErrorKind, HandlerError, HandlerResult, Stopped, Withheld};
use crate::panics::fenced_async;
#[cfg(feature = "schema")]
use crate::schema::{SchemaProvider, ValidationError};
use crate::{BoxError, BoxFuture};

/// Runs handlers.
pub(crate) struct Handling {
    pub(crate) dispatch: Arc<dyn Dispatch>,
    pub(crate) timeout: Option<Duration>,
    #[cfg(feature = "schema")]
    pub(crate) validation: Option<Validation>,
}

/// Validates payloads before their handlers.
#[cfg(feature = "schema")]
#[derive(Clone)]
pub(crate) struct Validation {
    pub(crate) schemas: Arc<dyn SchemaProvider>,
    /// Whether a violation is final, in place of being retried.
    pub(crate) permanent: bool,
}

impl Handling {
    /// Runs the handler with this number.
    pub(super) async fn run(&self, handler: usize, delivery: Delivery) -> HandlerResult {
        if let Some(fault) = self.check(&delivery) {
            return Err(fault);
        }
        self.fenced(|| self.dispatch.call(handler, delivery)).await
    }

    /// Runs the batch handler with this number. A payload that violates its schema fails alone.
    pub(super) async fn run_batch(
        &self,
        handler: usize,
        deliveries: Vec<Delivery>,
    ) -> Vec<HandlerResult> {
        let mut valid = Vec::with_capacity(deliveries.len());
        let mut checked = Vec::with_capacity(deliveries.len());
        let mut stopped = Stopped::default();
        for delivery in deliveries {
            let group = delivery.context().source().fifo_group();
            let fault = match stopped.has(group) {
                true => Some(Withheld.into()),
                false => self.check(&delivery),
            };
            if fault.is_some() {
                stopped.add(group);
            } else {
                valid.push(delivery);
            }
            checked.push(fault);
        }
        let mut results = Vec::new().into_iter();
        if !valid.is_empty() {
            let batch = Arc::new(Deliveries::new(valid));
            let call = || self.dispatch.call_batch(handler, Arc::clone(&batch));
            let answer = self.fenced(call).await;
            results = batch.results(answer).into_iter();
        }
        let result = |fault: Option<HandlerError>| match fault {
            Some(error) => Some(Err(error)),
            None => results.next(),
        };
        checked.into_iter().filter_map(result).collect()
    }

    #[cfg(feature = "schema")]
    fn check(&self, delivery: &Delivery) -> Option<HandlerError> {
        self.validation.as_ref()?.check(delivery).err()
    }

    #[cfg(not(feature = "schema"))]
    fn check(&self, _: &Delivery) -> Option<HandlerError> {
        None
    }

    /// A panic and the timeout become the handler's failure.
    async fn fenced(
        &self,
        call: impl FnOnce() -> BoxFuture<'static, HandlerResult>,
    ) -> HandlerResult {
        let call = fenced_async(call());
        let ended = match self.timeout {
            None => call.await,
            Some(limit) => match tokio::time::timeout(limit, call).await {
                Ok(ended) => ended,
                Err(_) => return Err(HandlerError::of_kind(ErrorKind::Timeout, TimedOut(limit))),
            },
        };
        ended.unwrap_or_else(|panicked| Err(HandlerError::of_kind(ErrorKind::Panic, panicked)))
    }
}

/// As a layer sees it. The handler is looked up again: a layer may have changed the message.
impl Call for Arc<Handling> {
    fn call(&self, work: Work) -> BoxFuture<'static, Result<Outcomes, BoxError>> {
        let handling = Self::clone(self);
        Box::pin(async move {
            let urn = work.urn();
            let Some(handler) = handling.dispatch.find(urn) else {
                let urn = urn.to_owned();
                return Err(UnknownUrnError { urn }.into());
            };
            match work {
                Work::One(delivery) => {
                    let outcome = handling.run(handler, delivery).await?;
                    Ok(Outcomes::all(outcome))
                }
                Work::Batch(deliveries) => {
                    let results = handling.run_batch(handler, deliveries).await;
                    Ok(Outcomes::each(results))
                }
            }
        })
    }
}

#[cfg(feature = "schema")]
impl Validation {
    fn check(&self, delivery: &Delivery) -> Result<(), HandlerError> {
        let envelope = delivery.context().envelope();
        let data = envelope.data_json().unwrap_or("{}");
        let Err(error) = self.schemas.validate(envelope.urn(), data) else {
            return Ok(());
        };
        // A schema that cannot be used says nothing of the payload.
        let is_final = self.permanent && matches!(error, ValidationError::Invalid { .. });
        let failure = HandlerError::of_kind(ErrorKind::Schema, error);
        Err(if is_final {
            failure.with_verdict(Verdict::Permanent)
        } else {
            failure
        })
    }
}
