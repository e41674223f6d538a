//! The polling consumer against the embedded SQS, on tokio's paused clock: time passes only
//! when everything waits for it. Tests named `c_…` are the cases of that number.

mod batches;
mod build;
mod chaos;
mod checks;
mod claims;
mod dead_letters;
mod decoders;
mod effects;
mod failures;
mod fifo;
mod flow;
mod groups;
mod heartbeat;
mod kill;
mod leases;
mod middleware;
mod once;
mod outages;
mod schemas;
mod settling;
mod shaky;
mod shutdown;
mod support;
mod unrouted;
