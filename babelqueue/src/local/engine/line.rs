//! The messages of one group that wait, in the order in which they came. Most
//! groups have one message or none, and take no memory of their own then.

use std::collections::VecDeque;

use super::store::Ticket;

#[derive(Debug, Default)]
pub(crate) enum Line {
    #[default]
    Empty,
    One(Ticket),
    /// Boxed, so that the lines of one message or none stay small.
    #[allow(clippy::box_collection)]
    Many(Box<VecDeque<Ticket>>),
}

impl Line {
    pub(crate) fn front(&self) -> Option<Ticket> {
        match self {
            Self::Empty => None,
            Self::One(ticket) => Some(*ticket),
            Self::Many(all) => all.front().copied(),
        }
    }

    pub(crate) fn pop_front(&mut self) {
        match self {
            Self::Empty => {}
            Self::One(_) => *self = Self::Empty,
            Self::Many(all) => drop(all.pop_front()),
        }
    }

    /// Puts a ticket where it belongs: tickets are in the order in which their messages came.
    pub(crate) fn insert(&mut self, ticket: Ticket) {
        match self {
            Self::Empty => *self = Self::One(ticket),
            Self::One(other) => {
                let both = [ticket.min(*other), ticket.max(*other)];
                *self = Self::Many(Box::new(both.into()));
            }
            Self::Many(all) => {
                // Nearly always the very end or the very front: both are cheap.
                let place = all.partition_point(|&other| other < ticket);
                all.insert(place, ticket);
            }
        }
    }

    pub(crate) fn remove(&mut self, ticket: Ticket) {
        match self {
            Self::One(one) if *one == ticket => *self = Self::Empty,
            Self::Many(all) => {
                if let Ok(place) = all.binary_search(&ticket) {
                    all.remove(place);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_sorted_list() {
        for seed in 0..50 {
            let mut random = fastrand::Rng::with_seed(seed);
            let (mut line, mut plain) = (Line::default(), Vec::new());
            for _ in 0..200 {
                let ticket = Ticket::from_parts(random.u64(0..20), 0);
                match random.u32(0..3) {
                    0 if !plain.contains(&ticket) => {
                        line.insert(ticket);
                        plain.push(ticket);
                        plain.sort();
                    }
                    1 => {
                        line.remove(ticket);
                        plain.retain(|&other| other != ticket);
                    }
                    2 => {
                        line.pop_front();
                        plain.drain(..plain.len().min(1));
                    }
                    _ => {}
                }
                assert_eq!(line.front(), plain.first().copied());
            }
        }
    }
}
