//! The polling consumer: builder and checks, the loop that receives and settles (`driver`), and
//! what a service sees of it from outside (`handle`).

mod builder;
mod config;
mod driver;
mod error;
mod facts;
mod group;
mod handle;
mod options;
mod shared;
mod signal;
mod worker;

pub use builder::SqsConsumerBuilder;
pub use error::{BuildError, RunError, SettleError};
pub use group::{ConsumerGroup, GroupHandle};
pub use handle::{Handle, Health, HealthState, Stats};
pub use signal::{ShutdownSignal, shutdown_signal};
pub use worker::{PollSummary, SqsConsumer};
