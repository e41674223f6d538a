//! The seam with the feature.

mod attributes;
mod calls;
#[cfg(feature = "lambda")]
mod invocation;
mod measured;
mod metrics;
mod observer;
mod parent;
mod processing;
mod publishing;
mod scope;
mod settings;
mod tallies;
mod urns;

use super::{Counted, Ended, Failure};

pub(crate) use calls::{Call, Handled, Settled};
pub(crate) use measured::{Held, Metric};
pub(crate) use observer::Observer;
pub(crate) use processing::Processing;
pub(crate) use publishing::Publishing;

pub use settings::{Conventions, Telemetry, TelemetryBuilder};
