//! The embedded SQS, through the AWS SDK. The tests named `check_…` state what a
//! faithful SQS does, one by one; the others hold what is ours: time, faults,
//! inspection, the server.

mod support;

mod batches;
mod counts;
mod dead_letters;
#[cfg(feature = "differential")]
mod differential;
mod faults;
mod fifo;
mod fifo_attempts;
mod fifo_dedup;
mod inspection;
mod limits;
mod lists;
mod messages;
mod move_tasks;
mod queues;
mod receive;
mod requests;
mod server;
mod settings;
mod tags;
mod time;
mod traces;
mod visibility;
