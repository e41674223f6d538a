//! The publisher against the embedded SQS, on tokio's paused clock. Tests named `c_…` are the
//! cases of that number.

mod limits;
mod sending;
mod support;
mod targets;
