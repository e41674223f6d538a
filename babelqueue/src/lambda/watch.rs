//! Turns the success of a message into a failure when its handler has reported it as failed by
//! [`Invocation::add_failed_message`](crate::invocation::Invocation::add_failed_message): before
//! idempotency remembers it as handled.

use std::sync::Arc;

use crate::BoxFuture;
use crate::context::Delivery;
use crate::handler::{BatchRule, Deliveries, HandlerError, HandlerResult, Outcome};
use crate::pipeline::Dispatch;

/// The handler said so by the message's id.
#[derive(Debug, thiserror::Error)]
#[error("the handler reported this message as failed")]
pub(super) struct ReportedFailed;

/// Handlers, and an eye on what they report.
pub(super) struct Watched(pub(super) Arc<dyn Dispatch>);

impl Dispatch for Watched {
    fn find(&self, urn: &str) -> Option<usize> {
        self.0.find(urn)
    }

    fn handler_name(&self, handler: usize) -> &'static str {
        self.0.handler_name(handler)
    }

    fn is_fallback(&self, handler: usize) -> bool {
        self.0.is_fallback(handler)
    }

    fn batch_rule(&self, handler: usize) -> Option<BatchRule> {
        self.0.batch_rule(handler)
    }

    fn takes_batches(&self) -> bool {
        self.0.takes_batches()
    }

    fn call(&self, handler: usize, delivery: Delivery) -> BoxFuture<'static, HandlerResult> {
        let call = self.0.call(handler, delivery.clone());
        Box::pin(async move {
            let result = call.await;
            // What the answer asks for besides stands.
            let succeeded = matches!(result, Ok(Outcome::Done | Outcome::Discard));
            if succeeded && is_reported(&delivery) {
                return Err(HandlerError::new(ReportedFailed));
            }
            result
        })
    }

    fn call_batch(
        &self,
        handler: usize,
        batch: Arc<Deliveries>,
    ) -> BoxFuture<'static, HandlerResult> {
        let call = self.0.call_batch(handler, Arc::clone(&batch));
        Box::pin(async move {
            let result = call.await;
            batch.fail_where(is_reported, || HandlerError::new(ReportedFailed));
            result
        })
    }
}

fn is_reported(delivery: &Delivery) -> bool {
    let context = delivery.context();
    let invocation = context.invocation();
    invocation.is_some_and(|invocation| invocation.has_failed(&context.source().message_id))
}
