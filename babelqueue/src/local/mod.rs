//! An SQS inside the process, for tests, examples and load tests.
//!
//! [`LocalSqs`] behaves as Amazon SQS is documented to, down to its refusals, and where the
//! documentation leaves a choice it is least kind to a careless client. Its client is the real
//! AWS SDK, so that what is tested is what runs; [`LocalSqs::serve`] opens it to other languages.
//! All time is tokio's: under a paused clock twelve hours pass in a millisecond, and every run of
//! a test is the same (wall timestamps too, with [`LocalSqsBuilder::created_at`]).
//!
//! # A test with a paused clock and a fault
//!
//! ```
//! use std::time::Duration;
//! use babelqueue::local::{LocalSqs, Operation, Refusal};
//! use tokio::time::Instant;
//!
//! // In a test: #[tokio::test(start_paused = true)]
//! async fn an_order_comes_again_when_its_delete_fails() {
//!     let local = LocalSqs::new();
//!     let url = local.create_queue_with("orders", [("VisibilityTimeout", "3600")]).unwrap();
//!     let sqs = local.client();
//!     sqs.send_message().queue_url(&url).message_body("1042").send().await.unwrap();
//!
//!     local.faults().on(Operation::DeleteMessage).times(3).refuse(Refusal::InternalError);
//!
//!     let start = Instant::now();
//!     let received = sqs.receive_message().queue_url(&url).send().await.unwrap();
//!     let handle = received.messages()[0].receipt_handle().unwrap();
//!     let deleted = sqs.delete_message().queue_url(&url).receipt_handle(handle).send().await;
//!     assert!(deleted.is_err()); // after three attempts of the SDK
//!
//!     let queue = local.wait_until(&url, |queue| queue.visible.len() == 1).await;
//!     assert_eq!(queue.visible[0].receive_count, 1);
//!     assert_eq!(start.elapsed(), Duration::from_secs(3600)); // and no time has passed outside
//! }
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() { an_order_comes_again_when_its_delete_fails().await }
//! ```
//!
//! # Where it differs from SQS
//!
//! - Everything happens at once: attributes, purges and deletes of queues take effect with the call.
//! - Signatures are not checked, every client is the owner, and keys of encryption and the
//!   statements of a `Policy` are stored without being judged.
//! - A queue that is to be its own dead-letter queue is refused: its dead letters would come to
//!   life again at once.
//! - A number in a queue attribute is written in digits alone, without a leading zero.
//! - More than 50 tags are refused; SQS advises against them.
//! - A trace header among the message system attributes must have a well-formed `Root`. One in
//!   the HTTP header `X-Amzn-Trace-Id` that has not is passed over.
//! - A receive that asks for message attributes by what cannot be a name (no name, more than 256
//!   bytes, other characters) is refused. Names that only the rules for sending forbid, such as
//!   `AWS.x`, are names of nothing, as SQS was seen to do it.
//! - A list's token has no end of life.
//! - A move task that has run for 36 hours fails; how SQS ends it is not documented.
//! - A standard queue delivers in order and once unless a [fault](LocalSqs::faults) says otherwise.
//! - Throughput is not limited, and a FIFO receive looks at all groups.
//! - `AddPermission` and `RemovePermission` are refused; the attribute `Policy` is stored.
//! - The older query protocol is refused, and so is every request that is not of the content type
//!   `application/x-amz-json-1.0`.
//!
//! This module uses nothing else of the crate, and nothing else of the crate uses it.

mod calls;
mod clock;
mod connector;
mod engine;
mod faults;
mod faulty;
mod inspect;
mod protocol;
mod server;
mod service;
mod sqs;

pub use self::calls::{Call, CallOutcome, Calls};
pub use self::faults::{FaultBuilder, Faults, PlannedFault, Refusal};
pub use self::inspect::{AttributeSnapshot, MessageSnapshot, QueueSnapshot, RawMessage};
pub use self::protocol::operation::Operation;
pub use self::server::LocalServer;
pub use self::sqs::{LocalSqs, LocalSqsBuilder, LocalSqsError};

/// Lower-case hexadecimal.
fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    let digits = |byte: &u8| {
        [
            DIGITS[usize::from(byte >> 4)],
            DIGITS[usize::from(byte & 15)],
        ]
    };
    bytes.iter().flat_map(digits).collect()
}
