//! What stands around a handler (SPEC §2.7, step 7): the idempotency guard outside, then the
//! user's own layers, then the validation of the payload, the fences and the handler. Each costs
//! nothing when it is not set.

use std::time::Duration;

use super::batch::Seat;
use super::process::{Pipeline, subject};
use super::record::Record;
use crate::context::Delivery;
use crate::handler::{ErrorKind, HandlerError, HandlerResult};
use crate::panics::fenced_async;
#[cfg(feature = "idempotency")]
use crate::{
    handler::Outcome,
    idempotency::{Guarded, Idempotency, Request},
    policy::ReportKind,
};

/// What came out of the layers.
pub(super) enum Layered {
    /// The handler's answer, or a layer's in its place.
    Answer(HandlerResult),
    /// The message was handled before: it is only deleted.
    #[cfg_attr(not(feature = "idempotency"), allow(dead_code))]
    Duplicate,
    /// The message is being handled elsewhere, for this long at most.
    #[cfg_attr(not(feature = "idempotency"), allow(dead_code))]
    Held(Duration),
}

/// Where a delivery is handled.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// By a call of its own.
    Alone,
    /// By one that it shares.
    Shared(&'a Seat),
}

impl Pipeline {
    #[cfg(not(feature = "idempotency"))]
    pub(super) async fn layered(
        &self,
        _: &Record,
        handler: usize,
        delivery: Delivery,
        place: Place<'_>,
    ) -> Layered {
        // Nothing stands around a message that is not guarded.
        let _ = subject;
        Layered::Answer(self.inner(handler, delivery, place).await)
    }

    #[cfg(feature = "idempotency")]
    pub(super) async fn layered(
        &self,
        record: &Record,
        handler: usize,
        delivery: Delivery,
        place: Place<'_>,
    ) -> Layered {
        match &self.guard {
            None => Layered::Answer(self.inner(handler, delivery, place).await),
            // A box of its own, for who has a guard: the others need not carry its room.
            Some(guard) => Box::pin(self.guarded(guard, record, handler, delivery, place)).await,
        }
    }

    #[cfg(feature = "idempotency")]
    async fn guarded(
        &self,
        guard: &Idempotency,
        record: &Record,
        handler: usize,
        delivery: Delivery,
        place: Place<'_>,
    ) -> Layered {
        let request = Request {
            id: delivery.context().meta().id().unwrap_or_default(),
            owner: Some(record.delivery.get()),
            lease: record.visible_after,
        };
        let work = |token: Option<&str>| {
            let delivery = delivery.clone();
            if let Some(token) = token {
                delivery.context().set_claim_token(token);
            }
            async move {
                // Only what is deleted for good is remembered: what goes to the dead-letter queue
                // must run again when it is redriven.
                match self.inner(handler, delivery, place).await {
                    done @ Ok(Outcome::Done | Outcome::Discard) => Ok(done),
                    other => Err(other),
                }
            }
        };
        match guard.run_claimed(request, work).await {
            Guarded::Ran {
                result,
                unremembered,
            } => {
                if let Some(error) = unremembered {
                    let subject = subject(record, Some(delivery.context().envelope()));
                    self.reporter
                        .report(ReportKind::Idempotency, subject, &*error);
                }
                Layered::Answer(result.unwrap_or_else(|failed| failed))
            }
            Guarded::AlreadyDone => Layered::Duplicate,
            Guarded::Held { remaining } => Layered::Held(remaining),
            Guarded::Unknown(error) => {
                let error = HandlerError::from_boxed(error);
                Layered::Answer(Err(error.with_kind(ErrorKind::Idempotency)))
            }
        }
    }

    /// The user's layers, if there are any, and the handler inside of them.
    async fn inner(&self, handler: usize, delivery: Delivery, place: Place<'_>) -> HandlerResult {
        if let Place::Shared(seat) = place {
            return Box::pin(seat.take(delivery)).await;
        }
        let Some(middleware) = &self.middleware else {
            return self.handling.run(handler, delivery).await;
        };
        let ended = fenced_async(middleware.one(delivery)).await;
        ended.unwrap_or_else(|panicked| Err(HandlerError::of_kind(ErrorKind::Panic, panicked)))
    }
}
