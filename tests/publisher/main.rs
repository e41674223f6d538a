//! The publisher against the embedded SQS, on tokio's paused clock. Tests named `c_…` are the
//! cases of that number.

mod batches;
mod buffered;
mod fifo_batches;
mod limits;
mod received;
mod runtimes;
mod sending;
mod simulation;
mod support;
mod targets;
