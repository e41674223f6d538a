//! The URN index: an open-addressing table that is built when the user's crate compiles. Pure,
//! and `const` throughout.

use super::Route;
use crate::handler::{BatchRule, HandlerInfo};

/// One entry of a list of handlers.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Entry {
    pub name: &'static str,
    /// The path that it is listed by.
    pub listed: &'static str,
    pub urn: Option<&'static str>,
    pub aliases: &'static [&'static str],
    pub fallback: bool,
    pub present: bool,
    pub batch: Option<BatchRule>,
}

impl Entry {
    pub const fn of<H: HandlerInfo>(listed: &'static str) -> Self {
        Self {
            name: H::NAME,
            listed,
            urn: H::URN,
            aliases: H::ALIASES,
            fallback: H::FALLBACK,
            present: H::PRESENT,
            batch: H::BATCH,
        }
    }

    /// How many URNs lead here.
    const fn len(&self) -> usize {
        if !self.present || self.urn.is_none() {
            0
        } else {
            1 + self.aliases.len()
        }
    }

    /// The `i`-th of them: its own first, then the older ones.
    pub(super) const fn urn(&self, i: usize) -> Option<&'static str> {
        if i >= self.len() {
            None
        } else if i == 0 {
            self.urn
        } else {
            Some(self.aliases[i - 1])
        }
    }
}

/// One place of the index; `handler` counts from 1, 0 is an empty place.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Slot {
    hash: u64,
    urn: &'static str,
    handler: u32,
}

const EMPTY: Slot = Slot {
    hash: 0,
    urn: "",
    handler: 0,
};

/// How many places the index of these entries needs: a power of two, at most half of it used.
#[doc(hidden)]
pub const fn slots_for(entries: &[Entry]) -> usize {
    let mut urns = 0;
    let mut i = 0;
    while i < entries.len() {
        urns += entries[i].len();
        i += 1;
    }
    if urns == 0 {
        1
    } else {
        (urns * 2).next_power_of_two()
    }
}

/// The entries of one list with their index.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Table {
    pub entries: &'static [Entry],
    pub slots: &'static [Slot],
    pub fallback: Option<usize>,
}

impl Table {
    /// Enters every URN once; a second handler of it is left out here and refused by
    /// [`check_entry`](super::check_entry), so that one mistake gives one error.
    pub const fn index<const N: usize>(entries: &[Entry]) -> [Slot; N] {
        let mut slots = [EMPTY; N];
        let mut handler = 0;
        while handler < entries.len() {
            let mut i = 0;
            while let Some(urn) = entries[handler].urn(i) {
                let hash = hash(urn);
                let mut at = hash as usize & (N - 1);
                while slots[at].handler != 0 && !same(slots[at].urn, urn) {
                    at = (at + 1) & (N - 1);
                }
                if slots[at].handler == 0 {
                    slots[at] = Slot {
                        hash,
                        urn,
                        handler: handler as u32 + 1,
                    };
                }
                i += 1;
            }
            handler += 1;
        }
        slots
    }

    pub const fn new(entries: &'static [Entry], slots: &'static [Slot]) -> Self {
        let mut fallback = None;
        let mut i = 0;
        while i < entries.len() {
            if entries[i].present && entries[i].fallback && fallback.is_none() {
                fallback = Some(i);
            }
            i += 1;
        }
        Self {
            entries,
            slots,
            fallback,
        }
    }

    /// The handler of a URN, while compiling.
    pub(super) const fn const_find(&self, urn: &str) -> Option<usize> {
        let hash = hash(urn);
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = &self.slots[at];
            if slot.handler == 0 {
                return None;
            }
            if slot.hash == hash && same(slot.urn, urn) {
                return Some(slot.handler as usize - 1);
            }
            at = (at + 1) & mask;
        }
    }

    /// The handler of a URN. The same walk as [`Self::const_find`], with the slice comparison
    /// that `const` code lacks.
    #[inline]
    pub(super) fn find(&self, urn: &str) -> Option<usize> {
        let hash = hash(urn);
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = &self.slots[at];
            if slot.handler == 0 {
                return None;
            }
            if slot.hash == hash && slot.urn == urn {
                return Some(slot.handler as usize - 1);
            }
            at = (at + 1) & mask;
        }
    }
}

/// One list, or two routers joined: the second one's handlers are numbered after the first's.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub enum Parts {
    List(&'static Table),
    Pair(&'static Parts, &'static Parts),
}

impl Parts {
    pub(super) const fn len(&self) -> usize {
        match self {
            Self::List(table) => table.entries.len(),
            Self::Pair(a, b) => a.len() + b.len(),
        }
    }

    pub(super) fn find(&self, urn: &str) -> Option<usize> {
        match self {
            Self::List(table) => table.find(urn),
            Self::Pair(a, b) => a.find(urn).or_else(|| b.find(urn).map(|at| a.len() + at)),
        }
    }

    pub(super) const fn const_find(&self, urn: &str) -> Option<usize> {
        match self {
            Self::List(table) => table.const_find(urn),
            Self::Pair(a, b) => match (a.const_find(urn), b.const_find(urn)) {
                (Some(at), _) => Some(at),
                (None, Some(at)) => Some(a.len() + at),
                (None, None) => None,
            },
        }
    }

    pub(crate) const fn fallback(&self) -> Option<usize> {
        match self {
            Self::List(table) => table.fallback,
            Self::Pair(a, b) => match (a.fallback(), b.fallback()) {
                (Some(at), _) => Some(at),
                (None, Some(at)) => Some(a.len() + at),
                (None, None) => None,
            },
        }
    }

    pub(super) const fn entry(&self, at: usize) -> Option<&'static Entry> {
        match self {
            Self::List(table) if at < table.entries.len() => Some(&table.entries[at]),
            Self::List(_) => None,
            Self::Pair(a, b) if at >= a.len() => b.entry(at - a.len()),
            Self::Pair(a, _) => a.entry(at),
        }
    }

    pub(crate) fn routes(&self) -> Vec<Route> {
        let mut routes = Vec::new();
        for entry in (0..self.len())
            .filter_map(|at| self.entry(at))
            .filter(|entry| entry.present)
        {
            if entry.fallback {
                routes.push(Route {
                    urn: "*",
                    handler: entry.name,
                });
            }
            let urns = (0..).map_while(|i| entry.urn(i));
            routes.extend(urns.map(|urn| Route {
                urn,
                handler: entry.name,
            }));
        }
        routes
    }
}

/// Hashes a URN by its eight-byte words; the same while compiling and at run time.
const fn hash(urn: &str) -> u64 {
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut bytes = urn.as_bytes();
    let mut hash = (bytes.len() as u64).wrapping_mul(K);
    while let Some((word, rest)) = bytes.split_first_chunk::<8>() {
        hash = mix(hash ^ u64::from_le_bytes(*word));
        bytes = rest;
    }
    let mut tail = 0;
    while let Some((byte, rest)) = bytes.split_first() {
        tail = tail << 8 | *byte as u64;
        bytes = rest;
    }
    mix(hash ^ tail)
}

const fn mix(word: u64) -> u64 {
    let product = word.wrapping_mul(0xa076_1d64_78bd_642f);
    product ^ product >> 32
}

/// `a == b`, in `const`.
pub(super) const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}
