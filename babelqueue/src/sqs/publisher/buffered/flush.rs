//! Who waits for the buffer to be empty, and what they are told. Pure.

use tokio::sync::oneshot;

/// Messages that were in the buffer and were not sent, or may not have been.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "of the messages in the buffer for `{queue}`, {refused} were not sent, and {unknown} may or \
     may not have been"
)]
#[non_exhaustive]
pub struct FlushError {
    /// Name of the queue.
    pub queue: String,
    /// How many surely were not sent.
    pub refused: usize,
    /// How many may have been sent, or not.
    pub unknown: usize,
}

/// How the buffered publisher ended, once it has.
#[derive(Clone, Debug, Default)]
pub(super) struct Ending(Option<Result<(), FlushError>>);

impl Ending {
    pub(super) fn new(result: Result<(), FlushError>) -> Self {
        Self(Some(result))
    }

    pub(super) fn is_known(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn result(&self) -> Result<(), FlushError> {
        self.0.clone().unwrap_or(Ok(()))
    }
}

/// One who waits.
#[derive(Debug)]
struct Waiting {
    /// The last message that counts.
    upto: u64,
    left: usize,
    refused: usize,
    unknown: usize,
    waiter: oneshot::Sender<Result<(), FlushError>>,
}

/// All who wait.
#[derive(Debug, Default)]
pub(super) struct Flushes {
    waiting: Vec<Waiting>,
}

impl Flushes {
    /// Somebody waits for all of the `left` open messages up to a ticket.
    pub(super) fn add(
        &mut self,
        upto: u64,
        left: usize,
        queue: &str,
        waiter: oneshot::Sender<Result<(), FlushError>>,
    ) {
        self.waiting.push(Waiting {
            upto,
            left,
            refused: 0,
            unknown: 0,
            waiter,
        });
        self.answer(queue);
    }

    /// A message is settled; unless it was sent, `refused` says whether it surely was not.
    pub(super) fn settled(&mut self, ticket: u64, unsent: Option<bool>, queue: &str) {
        if self.waiting.is_empty() {
            return;
        }
        for waiting in &mut self.waiting {
            if ticket <= waiting.upto {
                waiting.left -= 1;
                waiting.refused += usize::from(unsent == Some(true));
                waiting.unknown += usize::from(unsent == Some(false));
            }
        }
        self.answer(queue);
    }

    /// So many messages up to the last ticket are dropped without a last word.
    pub(super) fn lost(&mut self, messages: usize, queue: &str) {
        for waiting in &mut self.waiting {
            // They are the oldest that are left, so everybody waits for them.
            let messages = messages.min(waiting.left);
            waiting.left -= messages;
            waiting.unknown += messages;
        }
        self.answer(queue);
    }

    fn answer(&mut self, queue: &str) {
        for waiting in self.waiting.extract_if(.., |waiting| waiting.left == 0) {
            let Waiting {
                refused, unknown, ..
            } = waiting;
            let result = match refused + unknown {
                0 => Ok(()),
                _ => Err(FlushError {
                    queue: queue.to_owned(),
                    refused,
                    unknown,
                }),
            };
            // Somebody who waits no longer needs no answer.
            let _ = waiting.waiter.send(result);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_waits_for_what_was_there_and_for_nothing_else() {
        let mut flushes = Flushes::default();
        let (early, mut early_answer) = oneshot::channel();
        flushes.add(2, 2, "q", early);
        let (late, mut late_answer) = oneshot::channel();
        flushes.add(3, 3, "q", late);
        flushes.settled(3, Some(true), "q");
        flushes.settled(1, None, "q");
        assert!(early_answer.try_recv().is_err());
        flushes.settled(2, None, "q");
        assert_eq!(early_answer.try_recv(), Ok(Ok(())));
        let result = late_answer.try_recv().expect("answered").expect_err("one");
        assert_eq!((result.refused, result.unknown), (1, 0));

        let (empty, mut empty_answer) = oneshot::channel();
        flushes.add(3, 0, "q", empty);
        assert_eq!(empty_answer.try_recv(), Ok(Ok(())));
        let (lost, mut lost_answer) = oneshot::channel();
        flushes.add(5, 2, "q", lost);
        flushes.lost(2, "q");
        let result = lost_answer.try_recv().expect("answered").expect_err("two");
        assert_eq!((result.refused, result.unknown), (0, 2));
    }
}
