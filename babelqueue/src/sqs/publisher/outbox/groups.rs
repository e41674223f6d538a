//! What the message groups of a FIFO queue have under way. On a standard queue a group says
//! nothing about order, and nothing is kept here.

use std::collections::HashMap;

use crate::sqs::publisher::request::Request;

#[derive(Debug)]
pub(super) struct Groups {
    fifo: bool,
    /// Looked up and never walked through, so that its random order cannot show.
    busy: HashMap<String, Busy>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    in_flight: usize,
    resting: usize,
}

impl Groups {
    pub(super) fn new(fifo: bool) -> Self {
        Self {
            fifo,
            busy: HashMap::new(),
        }
    }

    /// The group of a message, where order counts.
    pub(super) fn key<'r>(&self, request: &'r Request) -> Option<&'r str> {
        request.group_id.as_deref().filter(|_| self.fifo)
    }

    fn of(&self, request: &Request) -> Busy {
        let busy = self.key(request).and_then(|group| self.busy.get(group));
        busy.copied().unwrap_or_default()
    }

    /// Whether a call holds a message of the same group.
    pub(super) fn in_flight(&self, request: &Request) -> bool {
        self.of(request).in_flight > 0
    }

    /// Whether a message of the same group is in a call, or waits for its next attempt.
    pub(super) fn is_busy(&self, request: &Request) -> bool {
        let Busy { in_flight, resting } = self.of(request);
        in_flight + resting > 0
    }

    /// The message goes into a call.
    pub(super) fn departs(&mut self, request: &Request) {
        self.change(request, |busy| busy.in_flight += 1);
    }

    /// Its call has ended.
    pub(super) fn returns(&mut self, request: &Request) {
        self.change(request, |busy| busy.in_flight -= 1);
    }

    /// The message begins to wait for its next attempt.
    pub(super) fn rests(&mut self, request: &Request) {
        self.change(request, |busy| busy.resting += 1);
    }

    /// It waits no longer.
    pub(super) fn wakes(&mut self, request: &Request) {
        self.change(request, |busy| busy.resting -= 1);
    }

    fn change(&mut self, request: &Request, change: impl FnOnce(&mut Busy)) {
        let Some(group) = self.key(request) else {
            return;
        };
        match self.busy.get_mut(group) {
            Some(busy) => {
                change(busy);
                if busy.in_flight + busy.resting == 0 {
                    self.busy.remove(group);
                }
            }
            None => change(self.busy.entry(group.to_owned()).or_default()),
        }
    }
}
