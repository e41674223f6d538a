//! Typed messaging over Amazon SQS.
pub mod envelope;
#[cfg(feature = "local")]
pub mod local;
