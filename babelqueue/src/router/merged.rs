//! Two routers as one.

use super::index::Parts;
use super::{RouteTable, Routes};
use crate::handler::{HandlerResult, Input};

/// What [`RouteTable::merge`] returns. Zero-sized, like its parts.
#[derive(Clone, Copy, Debug)]
pub struct Merged<A, B> {
    _a: A,
    _b: B,
}

impl<A, B> Merged<A, B> {
    pub(super) fn new(a: A, b: B) -> Self {
        Self { _a: a, _b: b }
    }
}

impl<A: RouteTable, B: RouteTable> RouteTable for Merged<A, B> {
    const PARTS: Parts = Parts::Pair(&A::PARTS, &B::PARTS);
}

impl<S: Sync, A: Routes<S>, B: Routes<S>> Routes<S> for Merged<A, B> {
    async fn dispatch(handler: usize, input: Input<'_>, state: &S) -> HandlerResult {
        match handler.checked_sub(A::PARTS.len()) {
            None => A::dispatch(handler, input, state).await,
            Some(handler) => B::dispatch(handler, input, state).await,
        }
    }
}
