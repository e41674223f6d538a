//! The settings of a buffered publisher.

use std::time::Duration;

use tokio::sync::Semaphore;

use super::BufferedPublisher;
use crate::sqs::consumer::BuildError;
use crate::sqs::publisher::builder::MAX_MESSAGE_BYTES;
use crate::sqs::publisher::outbox::Rules;
use crate::sqs::publisher::send::SqsPublisher;

/// How late tokio's timers are at most: its clock counts milliseconds, and so does the wait of its
/// driver.
const LATE: Duration = Duration::from_millis(2);

/// Makes a [`BufferedPublisher`]; start with [`BufferedPublisher::builder`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct BufferedPublisherBuilder {
    publisher: SqsPublisher,
    linger: Duration,
    capacity: usize,
    capacity_bytes: usize,
    concurrency: usize,
}

impl BufferedPublisherBuilder {
    pub(super) fn new(publisher: SqsPublisher) -> Self {
        Self {
            publisher,
            linger: Duration::from_millis(5),
            capacity: 1_000,
            capacity_bytes: 16 * MAX_MESSAGE_BYTES,
            concurrency: 8,
        }
    }

    /// How long a message waits at most for others to fill its request: 5 ms unless set, up to
    /// one minute. A timer is up to 2 ms late and therefore set so much earlier: with 2 ms or less a
    /// message leaves as soon as a call may be made.
    pub fn linger(mut self, linger: Duration) -> Self {
        self.linger = linger;
        self
    }

    /// The most messages in the buffer, those in a call included: 1,000 unless set, at least 10.
    pub fn capacity(mut self, messages: usize) -> Self {
        self.capacity = messages;
        self
    }

    /// The most bytes in the buffer, attributes and messages in a call included: 16 MiB unless
    /// set, at least the 1 MiB of the largest message.
    pub fn capacity_bytes(mut self, bytes: usize) -> Self {
        self.capacity_bytes = bytes;
        self
    }

    /// The most calls at the same time: 8 unless set, at least 1.
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.concurrency = calls;
        self
    }

    /// Checks the settings and makes the buffered publisher. Does no I/O.
    ///
    /// # Errors
    /// [`BuildError::Range`] for a setting out of the bounds given above.
    pub fn build(self) -> Result<BufferedPublisher, BuildError> {
        if self.linger > Duration::from_secs(60) {
            let linger = format!("{} s", self.linger.as_secs_f64());
            return Err(BuildError::range("linger", linger, "up to 60 s"));
        }
        if !(10..=Semaphore::MAX_PERMITS).contains(&self.capacity) {
            let range = "10 messages or more";
            return Err(BuildError::range("capacity", self.capacity, range));
        }
        if !(MAX_MESSAGE_BYTES..=Semaphore::MAX_PERMITS).contains(&self.capacity_bytes) {
            let range = "1048576 bytes or more";
            return Err(BuildError::range(
                "capacity_bytes",
                self.capacity_bytes,
                range,
            ));
        }
        if self.concurrency == 0 {
            return Err(BuildError::range("concurrency", 0, "1 call or more"));
        }
        Ok(self.assemble())
    }

    pub(super) fn assemble(self) -> BufferedPublisher {
        let settings = self.publisher.settings();
        let rules = Rules {
            fifo: settings.fifo,
            max_bytes: settings.max_message_bytes,
            max_calls: self.concurrency,
            // A timer that fires late must not make a message wait for longer than was said.
            linger: self.linger.saturating_sub(LATE),
            retry: settings.retry,
            time_runs_from_arrival: true,
        };
        BufferedPublisher::from_parts(self.publisher, rules, self.capacity, self.capacity_bytes)
    }
}
