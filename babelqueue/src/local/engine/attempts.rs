//! `ReceiveRequestAttemptId` on FIFO queues: a receive whose answer was lost can be
//! asked for again, as long as nothing has happened to its messages since.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use super::store::Ticket;
use crate::local::clock::At;

/// How long an attempt can be repeated.
const WINDOW: Duration = Duration::from_secs(5 * 60);

/// A message of an attempt: its ticket, which receive it was, and until when it is hidden.
pub(crate) type Taken = (Ticket, u32, At);

#[derive(Debug, Default)]
pub(crate) struct Attempts {
    /// Only looked up, never walked.
    made: HashMap<String, (At, Vec<Taken>)>,
    by_age: VecDeque<(At, String)>,
}

impl Attempts {
    /// What an attempt took, if it was made within the last five minutes.
    pub(crate) fn find(&mut self, id: &str, now: At) -> Option<&[Taken]> {
        while let Some((at, _)) = self.by_age.front() {
            if at.plus(WINDOW) > now {
                break;
            }
            if let Some((at, id)) = self.by_age.pop_front()
                && self.made.get(&id).is_some_and(|made| made.0 == at)
            {
                self.made.remove(&id);
            }
        }
        self.made.get(id).map(|made| made.1.as_slice())
    }

    pub(crate) fn remember(&mut self, id: &str, taken: Vec<Taken>, now: At) {
        self.made.insert(id.to_owned(), (now, taken));
        self.by_age.push_back((now, id.to_owned()));
    }
}
