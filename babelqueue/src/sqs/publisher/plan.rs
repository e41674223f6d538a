//! How many messages go into one request, and which of them may be tried again: the two decisions
//! of a batch (SPEC §2.5). Pure.

/// The most entries of a request.
pub(super) const MAX_ENTRIES: usize = 10;

/// What a request may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) entries: usize,
    /// Bodies and attributes together.
    pub(super) bytes: usize,
}

/// What goes into one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Load {
    /// The places of its messages, in order.
    pub(super) places: Vec<usize>,
    /// Waiting for more would not make it larger.
    pub(super) full: bool,
}

/// Fills one request from messages in their order, given by place and size in bytes. It ends
/// before the first one that does not fit, so that nothing overtakes; a message that is larger
/// than the limit by itself goes alone.
pub(super) fn load(messages: impl Iterator<Item = (usize, usize)>, limits: Limits) -> Load {
    let mut places = Vec::new();
    let mut bytes = 0;
    for (place, size) in messages {
        if !places.is_empty() && bytes + size > limits.bytes {
            return Load { places, full: true };
        }
        places.push(place);
        bytes += size;
        if places.len() >= limits.entries || bytes >= limits.bytes {
            return Load { places, full: true };
        }
    }
    Load {
        places,
        full: false,
    }
}

/// What an attempt came to, as far as the order of its group goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    Sent,
    /// It may be tried again.
    Retryable,
    /// It must not, or there is no time left.
    Lost,
}

/// Which messages of a request are tried again, given the group of each where order counts. Not
/// one that a later message of its group has overtaken inside SQS, nor one behind a message of
/// its group that is given up: the retry would break the order.
pub(super) fn again(came: &[(Option<&str>, Came)]) -> Vec<bool> {
    let mut again: Vec<bool> = Vec::with_capacity(came.len());
    for (place, (group, what)) in came.iter().enumerate() {
        let same = |other: &Option<&str>| group.is_some() && other == group;
        let given_up = |earlier: usize| came[earlier].1 != Came::Sent && !again[earlier];
        let behind = (0..place).any(|earlier| same(&came[earlier].0) && given_up(earlier));
        let overtaken = came[place + 1..]
            .iter()
            .any(|(other, what)| same(other) && *what == Came::Sent);
        again.push(*what == Came::Retryable && !behind && !overtaken);
    }
    again
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
