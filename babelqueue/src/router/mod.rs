//! The router: a list of handlers that is proved when it compiles, and the lookup of a URN in it.
//! Reads the handlers; knows no queue.

use std::future::Future;

use crate::handler::{BatchRule, HandlerResult, Input};

mod check;
mod index;
mod merged;

pub use check::{assert_disjoint, check_entry};
pub use index::{Entry, Parts, Slot, Table, slots_for};
pub use merged::Merged;

/// The handlers of a router, whatever their state: what `Router::from_handlers![…]` returns is a
/// zero-sized value of a type that implements this.
pub trait RouteTable: Copy + Send + Sync + 'static {
    #[doc(hidden)]
    const PARTS: Parts;

    /// Looks a URN up: the handler's number, for [`Routes::dispatch`]. A URN without a handler
    /// goes to the fallback, if there is one. Costs no allocation.
    fn find(&self, urn: &str) -> Option<usize> {
        Self::PARTS.find(urn).or_else(|| Self::PARTS.fallback())
    }

    /// The table: every URN, older ones included, with the name of its handler, in the order of
    /// the list.
    fn routes(&self) -> Vec<Route> {
        Self::PARTS.routes()
    }

    /// Name of the handler with this number.
    fn handler_name(&self, handler: usize) -> &'static str {
        Self::PARTS.entry(handler).map_or("", |entry| entry.name)
    }

    /// How the handler with this number takes batches, if it does.
    fn batch_rule(&self, handler: usize) -> Option<BatchRule> {
        Self::PARTS.entry(handler).and_then(|entry| entry.batch)
    }

    /// Whether any handler takes batches.
    fn takes_batches(&self) -> bool {
        (0..Self::PARTS.len()).any(|handler| self.batch_rule(handler).is_some())
    }

    /// Joins two routers. A URN that both have does not build; between named routers
    /// (`from_handlers![pub struct Orders; …]`), [`Router::merge!`](crate::Router::merge) finds
    /// it in `cargo check` already.
    fn merge<B: RouteTable>(self, other: B) -> Merged<Self, B> {
        const { assert_disjoint::<Self, B>() }
        Merged::new(self, other)
    }
}

/// One line of a router's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Route {
    /// The URN; `*` for the fallback.
    pub urn: &'static str,
    /// Name of the handler's fn.
    pub handler: &'static str,
}

/// A router whose handlers can all run with the state `S`. Write `impl Routes<App>` where a
/// router must be named.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a router for the state `{S}`",
    label = "not a router",
    note = "make one with `Router::from_handlers![…]`"
)]
pub trait Routes<S>: RouteTable {
    /// Runs the handler that [`RouteTable::find`] gave. A batch handler takes one message, too;
    /// any other one takes no batch.
    fn dispatch<'d>(
        handler: usize,
        input: Input<'d>,
        state: &'d S,
    ) -> impl Future<Output = HandlerResult> + Send + 'd;
}
