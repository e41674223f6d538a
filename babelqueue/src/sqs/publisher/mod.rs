//! Publishing: from a draft, or from bytes that are already encoded, to one `SendMessage`. Batches
//! and the buffered publisher will stand beside it and share its parts: the request is made in
//! full before the first attempt, so that retries are duplicates to SQS and to consumers.

mod builder;
mod limits;
mod relay;
mod request;
mod send;
mod target;

pub use builder::SqsPublisherBuilder;
pub use relay::RelayBuilder;
pub use send::SqsPublisher;
