//! What the drivers, polling consumer and Lambda, have in common: what a consumer can be told and
//! the pipeline that comes of it, and the AWS SDK's side of calls, attributes and endpoints. May
//! import the pipeline and what is below it, and none of the drivers.

#[cfg(feature = "lambda")]
mod arn;
mod build_error;
pub(crate) mod calls;
pub(crate) mod client;
pub(crate) mod convert;
pub(crate) mod endpoint;
mod methods;
mod settings;
#[cfg(feature = "otel")]
mod watch;

#[cfg(feature = "lambda")]
pub(crate) use arn::QueueArn;
pub use build_error::BuildError;
pub(crate) use methods::settings_methods;
pub(crate) use settings::Settings;
