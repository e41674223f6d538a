//! Messages that are larger than SQS takes (SPEC §4.10): the encoded envelope goes to a store, and
//! the body of the message becomes a pointer to it. Here live the stores, the pointers, and what
//! of them may be written and read. Knows bytes and places; no queue.
//!
//! ```no_run
//! # fn both(sqs: aws_sdk_sqs::Client) -> Result<(), babelqueue::Error> {
//! use babelqueue::payload_store::{MemoryPayloadStore, Offload, Retrieval};
//! use babelqueue::prelude::*;
//!
//! # let router = Router::from_handlers![];
//! # let url = "https://sqs.eu-west-1.amazonaws.com/1234/orders";
//! let store = MemoryPayloadStore::new(); // or `S3PayloadStore`, with the feature `s3`
//!
//! let publisher = SqsPublisher::builder(sqs.clone(), url)
//!     .offload(Offload::to(store.clone()).threshold(256 * 1024))
//!     .build()?;
//!
//! let consumer = SqsConsumer::builder(sqs, url, router)
//!     .payload_store(Retrieval::from_store(store).delete_when_handled(true))
//!     .build()?;
//! # Ok(())
//! # }
//! ```
//!
//! | pointer | body | read by |
//! |---|---|---|
//! | [`PointerFormat::ContentLocation`], unless said otherwise | `{"contentS3Location":{"bucketName":…,"region":…,"path":…},…}` | the consumers of that ecosystem, this crate |
//! | [`PointerFormat::ExtendedClient`] | `["software.amazon.payloadoffloading.PayloadS3Pointer",{…}]` | the extended clients of AWS, this crate |
//!
//! The attributes of the contract stay on the message. The other SDKs of the family read neither:
//! offload only to queues whose consumers know how to follow a pointer.
//!
//! A consumer follows pointers only when it was given a store, only in bodies that are no
//! envelopes, and only to the places that it was told of. Length and digest are checked.
//!
//! | what is wrong | what becomes of the message |
//! |---|---|
//! | the pointer is malformed, or points elsewhere | as poison: the strategy for unknown URNs, the dead-letter queue |
//! | there is no such object, it is too large, or not what the pointer says | likewise |
//! | the store refuses, fails, or is too slow | released with the `retry` pause, and never given up by the consumer: the queue's `RedrivePolicy` ends it |
//!
//! A copy in a dead-letter queue keeps the pointer, and its object is never deleted, so that it
//! can still be read and redriven.

// Without a queue only the stores and pointers are of use.
#![cfg_attr(not(feature = "sqs"), allow(dead_code))]

mod erased;
mod memory;
mod offload;
mod pointer;
mod policy;
mod retrieval;
#[cfg(feature = "s3")]
mod s3;
mod store;

#[cfg(test)]
mod tests;

pub use memory::MemoryPayloadStore;
pub use offload::Offload;
#[cfg(feature = "sqs")]
pub(crate) use offload::Offloading;
pub use pointer::{EXTENDED_SIZE_ATTRIBUTES, Pointer, PointerFormat};
pub use retrieval::{PayloadError, Retrieval};
#[cfg(feature = "s3")]
pub use s3::S3PayloadStore;
pub use store::{Home, Location, PayloadStore, StoreError};
