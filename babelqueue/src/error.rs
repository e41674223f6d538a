//! One error for everything that can go wrong in a service's `main`.

use std::error::Error as StdError;
use std::fmt;

use crate::message::PublishError;
#[cfg(feature = "sqs")]
use crate::sqs::{BatchError, BuildError, FlushError, RunError};

/// What building, publishing or running can fail with: what `main` may return.
///
/// ```no_run
/// # use babelqueue::prelude::*;
/// # async fn start(sqs: aws_sdk_sqs::Client) -> Result<(), babelqueue::Error> {
/// let url = "https://sqs.eu-west-1.amazonaws.com/1234/orders";
/// let publisher = SqsPublisher::builder(sqs.clone(), url).build()?;
/// publisher.publish_json("urn:babel:orders:created", &serde_json::json!({})).await?;
/// SqsConsumer::builder(sqs, url, Router::from_handlers![]).build()?.run().await?;
/// # Ok(())
/// # }
/// ```
///
/// Its `Debug` form, which the runtime prints when `main` returns it, is its text with the causes.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A configuration that cannot work.
    #[cfg(feature = "sqs")]
    #[error(transparent)]
    Build(#[from] BuildError),

    /// A publish that did not succeed.
    #[error(transparent)]
    Publish(#[from] PublishError),

    /// A batch of which not every message was sent.
    #[cfg(feature = "sqs")]
    #[error(transparent)]
    Batch(#[from] BatchError),

    /// A buffered publisher that could not send everything it had.
    #[cfg(feature = "sqs")]
    #[error(transparent)]
    Flush(#[from] FlushError),

    /// A run that ended by itself.
    #[cfg(feature = "sqs")]
    #[error(transparent)]
    Run(#[from] RunError),
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        let mut cause = self.source();
        while let Some(error) = cause {
            write!(f, "\n  caused by: {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
