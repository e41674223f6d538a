//! The checks that run while the user's crate compiles, and their messages.

use super::RouteTable;
use super::index::{Entry, Parts, Table, same};

/// Refuses the entry `at` when an earlier one has one of its URNs, or is a fallback too.
///
/// Called once for each entry, with the entry's span, so that the error stands there.
#[doc(hidden)]
#[track_caller]
pub const fn check_entry(table: &Table, at: usize) {
    let entry = &table.entries[at];
    let mut i = 0;
    while let Some(urn) = entry.urn(i) {
        if let Some(first) = table.const_find(urn)
            && first != at
        {
            if same(table.entries[first].listed, entry.listed) {
                refuse_repetition(entry);
            }
            refuse_urn(urn, &table.entries[first], entry);
        }
        i += 1;
    }
    if let Some(first) = table.fallback
        && first != at
        && entry.present
        && entry.fallback
    {
        refuse_fallback(&table.entries[first], entry);
    }
}

/// Refuses two routers that have a URN, or a fallback, in common.
#[doc(hidden)]
#[track_caller]
pub const fn assert_disjoint<A: RouteTable, B: RouteTable>() {
    let (a, b) = (&A::PARTS, &B::PARTS);
    let mut at = 0;
    while at < b.len() {
        if let Some(entry) = b.entry(at) {
            let mut i = 0;
            while let Some(urn) = entry.urn(i) {
                if let Some(first) = lookup(a, urn) {
                    refuse_urn(urn, first, entry);
                }
                i += 1;
            }
        }
        at += 1;
    }
    if let (Some(first), Some(second)) = (fallback(a), fallback(b)) {
        refuse_fallback(first, second);
    }
}

const fn lookup(parts: &Parts, urn: &str) -> Option<&'static Entry> {
    match parts.const_find(urn) {
        Some(at) => parts.entry(at),
        None => None,
    }
}

const fn fallback(parts: &Parts) -> Option<&'static Entry> {
    match parts.fallback() {
        Some(at) => parts.entry(at),
        None => None,
    }
}

#[track_caller]
const fn refuse_urn(urn: &str, first: &Entry, second: &Entry) -> ! {
    let text = Text::new()
        .push("the URN `")
        .push(urn)
        .push("` has two handlers: `")
        .push(first.listed)
        .push("` and `")
        .push(second.listed)
        .push("`; remove one of them");
    panic!("{}", text.as_str())
}

#[track_caller]
const fn refuse_repetition(entry: &Entry) -> ! {
    let text = Text::new()
        .push("the handler `")
        .push(entry.listed)
        .push("` is listed twice; remove it once");
    panic!("{}", text.as_str())
}

#[track_caller]
const fn refuse_fallback(first: &Entry, second: &Entry) -> ! {
    let text = Text::new()
        .push("the router has two fallback handlers: `")
        .push(first.listed)
        .push("` and `")
        .push(second.listed)
        .push("`; remove one of them");
    panic!("{}", text.as_str())
}

/// Text put together in `const`; what does not fit is cut.
struct Text {
    bytes: [u8; 640],
    len: usize,
}

impl Text {
    const fn new() -> Self {
        Self {
            bytes: [0; 640],
            len: 0,
        }
    }

    const fn push(mut self, text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() && self.len < self.bytes.len() {
            self.bytes[self.len] = bytes[i];
            self.len += 1;
            i += 1;
        }
        self
    }

    const fn as_str(&self) -> &str {
        let (text, _) = self.bytes.split_at(self.len);
        match std::str::from_utf8(text) {
            Ok(text) => text,
            // Cut within a character.
            Err(error) => match std::str::from_utf8(text.split_at(error.valid_up_to()).0) {
                Ok(text) => text,
                Err(_) => "two handlers",
            },
        }
    }
}
