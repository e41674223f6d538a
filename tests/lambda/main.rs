//! Lambda consumers on events made by hand and, where SQS is called, on messages of the embedded
//! SQS, on tokio's paused clock. Tests named `c_…` are the cases of that number, `b…` the rows of
//! the parity table.

mod answers;
mod backoff;
mod batches;
mod build;
mod capture;
mod deadline;
mod docs;
mod examples;
mod fifo;
mod fixtures;
mod foreign;
mod large_payloads;
mod logs;
mod panics;
mod settlements;
mod support;
mod types;
