//! AWS Lambda: the same handlers, called for the events of an event source mapping, and the
//! answer that says which messages are to come again (SPEC part 4).
//!
//! A function is a [`LambdaConsumer`] that is built once; `run` takes events until Lambda ends the
//! process. Iterative handlers (`#[babel_handler]`) are called for each record, at the same time
//! up to the bound; batch handlers (`#[babel_handler(batch)]`) for all records of their URN
//! together. A record that cannot be read, parsed or handled fails alone. On a FIFO queue the
//! records of a group are handled in order, and after a failure the rest of the group is not run
//! and comes again with it.
//!
//! What is done with a message, and what it takes:
//!
//! | the message | listed as failed | SQS call |
//! |---|---|---|
//! | handled, discarded, deleted unhandled by policy | no | none: the mapping deletes it |
//! | failed | yes | `ChangeMessageVisibility`, if there is a backoff |
//! | failed, with a delay of its own | yes | `ChangeMessageVisibility` |
//! | left to the queue | yes | none |
//! | dead-lettered | no, or yes if the send failed | `SendMessage` to the dead-letter queue |
//!
//! # The event source mapping
//!
//! | setting | value | why |
//! |---|---|---|
//! | `FunctionResponseTypes` | `["ReportBatchItemFailures"]` | without it Lambda ignores the answer and deletes every message |
//! | the queue's `VisibilityTimeout` | at least 6 × the function's timeout | handlers are covered by it, there is no heartbeat |
//! | the queue's `RedrivePolicy` | `maxReceiveCount` of 3 to 5, to `<queue>-dlq` | catches what kills the process |
//! | the queue's `MessageRetentionPeriod` | over the sum of the delays of `maxReceiveCount` receives: at the defaults 33 min for 5 | a message that waits must not expire |
//!
//! The function's role needs `sqs:ReceiveMessage`, `sqs:DeleteMessage` and
//! `sqs:GetQueueAttributes` for the mapping, `sqs:ChangeMessageVisibility` for delays,
//! `sqs:SendMessage` on the dead-letter queue, and `s3:GetObject` where large messages are kept:
//!
//! ```json
//! {
//!   "Version": "2012-10-17",
//!   "Statement": [
//!     {
//!       "Effect": "Allow",
//!       "Action": [
//!         "sqs:ReceiveMessage",
//!         "sqs:DeleteMessage",
//!         "sqs:GetQueueAttributes",
//!         "sqs:ChangeMessageVisibility"
//!       ],
//!       "Resource": "arn:aws:sqs:eu-west-1:123456789012:orders"
//!     },
//!     {
//!       "Effect": "Allow",
//!       "Action": "sqs:SendMessage",
//!       "Resource": "arn:aws:sqs:eu-west-1:123456789012:orders-dlq"
//!     },
//!     {
//!       "Effect": "Allow",
//!       "Action": "s3:GetObject",
//!       "Resource": "arn:aws:s3:::orders-payloads/*"
//!     }
//!   ]
//! }
//! ```
//!
//! # Logs
//!
//! Every record has a `tracing` span `process` with `urn`, `handler`, `queue`, `message_id`,
//! `trace_id`, `attempts` and `request_id`: whatever a handler logs carries them. In a batch each
//! item has its own, [`item.span()`](crate::handler::Item::span). A formatter that puts the
//! message's id in front, as `[<messageId>] …`, takes it from there.
//!
//! # Delays
//!
//! SQS counts its 12 h from the receive and may refuse a change after throttling; such a message
//! comes again after the queue's visibility timeout. `ApproximateReceiveCount` keeps growing, so
//! that the queue's own redrive policy ends a message that never succeeds.

mod backoff;
mod builder;
mod consumer;
mod event;
mod fate;
mod plan;
mod prepare;
mod queues;
mod retries;
mod run;
mod visibility;
mod watch;

pub use backoff::{RetryBackoff, RetryBackoffError, RetrySetting, retry_delay_seconds};
pub use builder::LambdaConsumerBuilder;
pub use consumer::LambdaConsumer;
pub use event::{Event, EventError, EventRecord, RecordError, attempt_of};

pub use crate::invocation::{Invocation, NoInvocation, RetryOptions};
