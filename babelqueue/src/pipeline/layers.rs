//! What stands around a handler (SPEC §2.7, step 7): the idempotency guard outside, then the
//! validation of the payload, then the fences and the handler. Each costs nothing when it is not
//! set.

use std::time::Duration;

use super::process::{Pipeline, subject};
use super::record::Record;
use crate::context::Delivery;
use crate::handler::HandlerResult;
#[cfg(feature = "idempotency")]
use crate::{
    handler::Outcome,
    idempotency::{Guarded, Request},
    policy::ReportKind,
};
#[cfg(feature = "schema")]
use crate::{
    handler::{ErrorKind, HandlerError, Verdict},
    schema::{SchemaProvider, ValidationError},
};

/// Validates payloads before their handlers.
#[cfg(feature = "schema")]
#[derive(Clone)]
pub(crate) struct Validation {
    pub(crate) schemas: std::sync::Arc<dyn SchemaProvider>,
    /// Whether a violation is final, in place of being retried.
    pub(crate) permanent: bool,
}

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

impl Pipeline {
    #[cfg(not(feature = "idempotency"))]
    pub(super) async fn layered(&self, _: &Record, handler: usize, delivery: Delivery) -> Layered {
        // Nothing stands around a message that is not guarded.
        let _ = subject;
        Layered::Answer(self.validated(handler, delivery).await)
    }

    #[cfg(feature = "idempotency")]
    pub(super) async fn layered(
        &self,
        record: &Record,
        handler: usize,
        delivery: Delivery,
    ) -> Layered {
        let Some(guard) = &self.guard else {
            return Layered::Answer(self.validated(handler, delivery).await);
        };
        let request = Request {
            id: delivery.context().meta().id().unwrap_or_default(),
            owner: Some(&record.message_id),
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
                match self.validated(handler, delivery).await {
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
                let error = crate::HandlerError::from_boxed(error);
                let kind = crate::handler::ErrorKind::Idempotency;
                Layered::Answer(Err(error.with_kind(kind)))
            }
        }
    }

    #[cfg(not(feature = "schema"))]
    async fn validated(&self, handler: usize, delivery: Delivery) -> HandlerResult {
        self.call(handler, delivery).await
    }

    #[cfg(feature = "schema")]
    async fn validated(&self, handler: usize, delivery: Delivery) -> HandlerResult {
        if let Some(validation) = &self.validation {
            validation.check(&delivery)?;
        }
        self.call(handler, delivery).await
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
