//! `ReceiveRequestAttemptId` on FIFO queues: a receive whose answer was lost can be
//! asked for again for five minutes, as long as nothing has happened to its messages since.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use super::store::Ticket;
use crate::local::clock::At;

/// How long an attempt can be repeated.
const WINDOW: Duration = Duration::from_secs(5 * 60);

/// A message of an attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) ticket: Ticket,
    /// Which receive of the message it was.
    pub(crate) receive: u32,
    /// What the receipt handle was written with, so that it can be written again.
    pub(crate) salt: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Attempts {
    /// Only looked up, never walked.
    made: HashMap<String, Vec<Taken>>,
    by_age: VecDeque<(At, String)>,
}

impl Attempts {
    /// What an attempt took, if it was made within the last five minutes.
    pub(crate) fn find(&mut self, id: &str, now: At) -> Option<&[Taken]> {
        while let Some((at, _)) = self.by_age.front() {
            if at.plus(WINDOW) > now {
                break;
            }
            if let Some((_, id)) = self.by_age.pop_front() {
                self.made.remove(&id);
            }
        }
        self.made.get(id).map(Vec::as_slice)
    }

    /// Remembers a new attempt. Its five minutes do not begin anew when it is repeated.
    pub(crate) fn remember(&mut self, id: &str, taken: Vec<Taken>, now: At) {
        self.made.insert(id.to_owned(), taken);
        self.by_age.push_back((now, id.to_owned()));
    }
}
