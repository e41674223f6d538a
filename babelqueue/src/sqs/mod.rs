//! SQS itself: the publisher and the polling consumer, over `aws-sdk-sqs`. They perform what the
//! pipeline decided, and decide nothing about a message themselves. May import everything of this
//! crate but `local` and the other drivers.

mod client;
mod consumer;
mod convert;
mod endpoint;
mod publisher;
#[cfg(feature = "otel")]
mod watch;

pub use consumer::{
    BuildError, ConsumerGroup, GroupHandle, Handle, Health, HealthState, PollSummary, RunError,
    SettleError, ShutdownSignal, SqsConsumer, SqsConsumerBuilder, Stats, shutdown_signal,
};
pub use endpoint::EndpointError;
pub use publisher::{
    BatchError, BufferedPublisher, BufferedPublisherBuilder, FlushError, PublishBatch,
    RelayBuilder, SqsPublisher, SqsPublisherBuilder,
};
