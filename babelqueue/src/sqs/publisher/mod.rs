//! Publishing: from a draft, or from bytes that are already encoded, to a `SendMessage`, or with
//! others to a `SendMessageBatch`. The request is made in full before the first attempt, so that
//! retries are duplicates to SQS and to consumers. The decisions are pure: [`request`] and
//! [`limits`] (what is sent), [`plan`] and [`outbox`] (what goes out when), [`failure`] and
//! [`retry`] (what an answer means); [`send`], [`batch`] and [`buffered`] perform.

mod attempt;
mod batch;
mod batch_error;
mod buffered;
mod builder;
mod causation;
mod content;
mod failure;
mod limits;
mod offload;
mod outbox;
mod plan;
mod queue_limit;
mod relay;
mod request;
mod retry;
mod send;
mod target;

pub use batch::PublishBatch;
pub use batch_error::BatchError;
pub use buffered::{BufferedPublisher, BufferedPublisherBuilder, FlushError};
pub use builder::SqsPublisherBuilder;
pub use relay::RelayBuilder;
pub use send::SqsPublisher;
