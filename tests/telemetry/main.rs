//! Telemetry as its users see it: spans, metrics and log lines of publishers and consumers over
//! the embedded SQS, read from memory. Tests named `c_…` are the cases of that number, those named
//! `a…` the rows of the reference table.

mod cases;
mod context;
mod docs;
mod lambda;
mod logs;
mod metrics;
mod spans;
mod support;
mod tracing_bridge;
