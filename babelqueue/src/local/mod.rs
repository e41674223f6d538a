//! An SQS inside the process, for tests, examples and load tests.
//!
//! [`LocalSqs`] behaves as Amazon SQS is documented to, down to its refusals, and where the
//! documentation leaves a choice it is least kind to a careless client. Its client is the real
//! AWS SDK, so that what is tested is what runs; [`LocalSqs::serve`] opens it to other languages.
//! All time is tokio's: under a paused clock twelve hours pass in a millisecond, and every run of
//! a test is the same.
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
