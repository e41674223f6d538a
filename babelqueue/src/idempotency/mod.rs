//! Handling a message once, though SQS may deliver it several times (SPEC §3.1): stores that
//! remember what was handled, and the guard around a handler's run. Knows envelopes' ids and
//! futures; no queue.
//!
//! The key is `meta.id` verbatim, never the trace id. Two kinds of store:
//!
//! * [`IdempotencyStore`] remembers ids after their handler succeeded. It is neither exactly-once
//!   delivery nor a lock: two deliveries at the same time both run.
//! * [`ClaimStore`] also hands out claims, so that of two deliveries at the same time one waits.
//!   Effects then happen exactly once, but for crashes, lost leases and failures of the store:
//!   they exceed that by at most the number of those. For effects outside, fence with the
//!   [claim's token](crate::Context::claim_token).
//!
//! ```no_run
//! # fn builder(sqs: aws_sdk_sqs::Client) {
//! use babelqueue::idempotency::{Idempotency, MemoryStore};
//! use babelqueue::prelude::*;
//!
//! # let router = Router::from_handlers![];
//! let url = "https://sqs.eu-west-1.amazonaws.com/1234/orders";
//! SqsConsumer::builder(sqs, url, router).idempotency(Idempotency::claims(MemoryStore::new()));
//! # }
//! ```

mod erased;
mod guard;
mod memory;
mod store;

#[cfg(test)]
mod tests;

#[cfg(any(test, feature = "sqs"))]
pub(crate) use guard::Request;
pub use guard::{ClaimLost, Guarded, Idempotency};
pub use memory::MemoryStore;
pub use store::{Claim, ClaimStore, IdempotencyStore};
