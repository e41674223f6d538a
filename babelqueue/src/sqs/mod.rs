//! SQS itself: the publisher and the polling consumer, over `aws-sdk-sqs`. They perform what the
//! pipeline decided, and decide nothing about a message themselves. May import everything of this
//! crate but `local` and the other drivers.

mod consumer;
mod publisher;

pub use crate::aws::endpoint::EndpointError;
use crate::aws::{client, convert, endpoint};
pub use consumer::{
    BuildError, ConsumerGroup, GroupHandle, Handle, Health, HealthState, PollSummary, RunError,
    SettleError, ShutdownSignal, SqsConsumer, SqsConsumerBuilder, Stats, shutdown_signal,
};
pub use publisher::{
    BatchError, BufferedPublisher, BufferedPublisherBuilder, FlushError, PublishBatch,
    RelayBuilder, SqsPublisher, SqsPublisherBuilder,
};
