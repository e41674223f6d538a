//! Who waits for the buffer to be empty, and what they are told. Pure.

use tokio::sync::{oneshot, watch};

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

/// Who waits.
#[derive(Debug)]
pub(super) enum Waiter {
    Flush(oneshot::Sender<Result<(), FlushError>>),
    /// All who want to know how it ended.
    End,
}

/// What a waiter is told.
#[derive(Debug)]
pub(super) struct Answer {
    waiter: Waiter,
    refused: usize,
    unknown: usize,
}

impl Answer {
    /// Whether it is the last one.
    pub(super) fn is_end(&self) -> bool {
        matches!(self.waiter, Waiter::End)
    }

    pub(super) fn send(self, queue: &str, ending: &watch::Sender<Ending>) {
        let (refused, unknown) = (self.refused, self.unknown);
        let result = match refused + unknown {
            0 => Ok(()),
            _ => Err(FlushError {
                queue: queue.to_owned(),
                refused,
                unknown,
            }),
        };
        match self.waiter {
            Waiter::Flush(waiter) => {
                // Somebody who waits no longer needs no answer.
                let _ = waiter.send(result);
            }
            Waiter::End => {
                ending.send_replace(Ending::new(result));
            }
        }
    }
}

/// One who waits, and for what.
#[derive(Debug)]
struct Waiting {
    /// The last message that counts.
    upto: u64,
    left: usize,
    refused: usize,
    unknown: usize,
    waiter: Waiter,
}

/// All who wait.
#[derive(Debug, Default)]
pub(super) struct Flushes {
    waiting: Vec<Waiting>,
}

impl Flushes {
    /// Somebody waits for all of the `left` open messages up to a ticket.
    pub(super) fn add(&mut self, upto: u64, left: usize, waiter: Waiter) {
        self.waiting.push(Waiting {
            upto,
            left,
            refused: 0,
            unknown: 0,
            waiter,
        });
    }

    /// A message is settled; unless it was sent, `refused` says whether it surely was not.
    pub(super) fn settled(&mut self, ticket: u64, unsent: Option<bool>) {
        for waiting in &mut self.waiting {
            if ticket <= waiting.upto {
                waiting.left -= 1;
                waiting.refused += usize::from(unsent == Some(true));
                waiting.unknown += usize::from(unsent == Some(false));
            }
        }
    }

    /// So many messages up to the last ticket are dropped without a last word.
    pub(super) fn lost(&mut self, messages: usize) {
        for waiting in &mut self.waiting {
            // They are the oldest that are left, so everybody waits for them.
            let messages = messages.min(waiting.left);
            waiting.left -= messages;
            waiting.unknown += messages;
        }
    }

    /// Those who wait for nothing any more, and what they are to be told.
    pub(super) fn answered(&mut self) -> impl Iterator<Item = Answer> + '_ {
        let done = self.waiting.extract_if(.., |waiting| waiting.left == 0);
        done.map(|waiting| Answer {
            waiter: waiting.waiter,
            refused: waiting.refused,
            unknown: waiting.unknown,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_waits_for_what_was_there_and_for_nothing_else() {
        let mut flushes = Flushes::default();
        let answered = |flushes: &mut Flushes| {
            let answers = flushes.answered();
            let numbers = answers.map(|answer| (answer.is_end(), answer.refused, answer.unknown));
            numbers.collect::<Vec<_>>()
        };
        let (early, _answer) = oneshot::channel();
        flushes.add(2, 2, Waiter::Flush(early));
        flushes.add(3, 3, Waiter::End);
        flushes.settled(3, Some(true));
        flushes.settled(1, None);
        assert_eq!(answered(&mut flushes), []);
        flushes.settled(2, None);
        let both = [(false, 0, 0), (true, 1, 0)];
        assert_eq!(answered(&mut flushes), both);

        flushes.add(3, 0, Waiter::End);
        assert_eq!(answered(&mut flushes), [(true, 0, 0)]);
        flushes.add(5, 2, Waiter::End);
        flushes.lost(2);
        assert_eq!(answered(&mut flushes), [(true, 0, 2)]);
    }

    #[test]
    fn a_waiter_is_told_what_was_not_sent() {
        let (ending, ended) = watch::channel(Ending::default());
        let (caller, mut answer) = oneshot::channel();
        for (waiter, unknown) in [(Waiter::Flush(caller), 0), (Waiter::End, 2)] {
            let answer = Answer {
                waiter,
                refused: 0,
                unknown,
            };
            answer.send("q", &ending);
        }
        assert_eq!(answer.try_recv(), Ok(Ok(())));
        let error = ended.borrow().result().expect_err("two");
        assert_eq!((error.refused, error.unknown), (0, 2));
    }
}
