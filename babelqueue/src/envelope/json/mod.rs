//! A small strict reader of RFC 8259 text: one pass, no recursion, no values built. It finds where
//! things are, so that the rest of the envelope can keep pointing into the original bytes. It
//! knows nothing of envelopes.

mod cursor;
mod fragment;
mod members;
mod skip;
mod strings;
mod write;

pub(super) use cursor::{Cursor, Expected, Span, Str};
pub(super) use fragment::{Fault, check_fragment, compact, kind_name};
pub(super) use members::{Member, Members, lookup};
pub(super) use strings::unescape;
pub(super) use write::{escape_noncharacters, write_string};
