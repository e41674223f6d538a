//! Messages larger than SQS takes: a store in memory with whims and the embedded SQS, on tokio's
//! paused clock; and a real S3 in place of the store. Tests named `c_…` are the cases of that
//! number.

mod consuming;
mod dead_letters;
mod hostile;
mod publishing;
mod s3;
mod support;
