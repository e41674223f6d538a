//! Router and state behind one object, so that the runtime is compiled once and a consumer has no
//! type parameters.

use std::sync::Arc;

use crate::BoxFuture;
use crate::context::Delivery;
use crate::handler::{BatchRule, Deliveries, HandlerResult};
use crate::router::Routes;

/// A router with its state, erased.
pub(crate) trait Dispatch: Send + Sync {
    /// The number of the handler that takes the URN; the fallback's when there is no other.
    fn find(&self, urn: &str) -> Option<usize>;

    /// Name of the handler with this number.
    fn handler_name(&self, handler: usize) -> &'static str;

    /// Whether it is the one for URNs that no other takes.
    fn is_fallback(&self, handler: usize) -> bool;
    /// How the handler with this number takes batches, if it does.
    fn batch_rule(&self, handler: usize) -> Option<BatchRule>;

    /// Whether any handler takes batches.
    fn takes_batches(&self) -> bool;

    /// Runs a batch handler. What it says of single messages is in `batch` afterwards.
    fn call_batch(
        &self,
        handler: usize,
        batch: Arc<Deliveries>,
    ) -> BoxFuture<'static, HandlerResult>;

    /// Runs a handler: one box for the call.
    fn call(&self, handler: usize, delivery: Delivery) -> BoxFuture<'static, HandlerResult>;
}

/// The router `R` with a state of type `S`.
pub(crate) struct Bound<R, S> {
    router: R,
    state: Arc<S>,
}

impl<R, S> Bound<R, S> {
    pub(crate) fn new(router: R, state: S) -> Self {
        Self {
            router,
            state: Arc::new(state),
        }
    }
}

impl<R, S> Dispatch for Bound<R, S>
where
    R: Routes<S>,
    S: Send + Sync + 'static,
{
    fn find(&self, urn: &str) -> Option<usize> {
        self.router.find(urn)
    }

    fn handler_name(&self, handler: usize) -> &'static str {
        self.router.handler_name(handler)
    }

    fn is_fallback(&self, handler: usize) -> bool {
        R::PARTS.fallback() == Some(handler)
    }

    fn batch_rule(&self, handler: usize) -> Option<BatchRule> {
        self.router.batch_rule(handler)
    }

    fn takes_batches(&self) -> bool {
        self.router.takes_batches()
    }

    fn call_batch(
        &self,
        handler: usize,
        batch: Arc<Deliveries>,
    ) -> BoxFuture<'static, HandlerResult> {
        let state = Arc::clone(&self.state);
        Box::pin(async move { R::dispatch(handler, (&*batch).into(), &state).await })
    }

    fn call(&self, handler: usize, delivery: Delivery) -> BoxFuture<'static, HandlerResult> {
        let state = Arc::clone(&self.state);
        Box::pin(async move { R::dispatch(handler, (&delivery).into(), &state).await })
    }
}
