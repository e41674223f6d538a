//! Edits of a body: members to remove, tokens to replace, text to insert. They are collected
//! against the original bytes and applied in one go.

use std::fmt::Write as _;

use super::super::dead_letter::DeadLetter;
use super::super::json::Span;
use super::super::parts::forbidden_in_meta;
use super::layout::{Layout, Object, Slot};

pub(super) struct Edits<'a> {
    body: &'a str,
    layout: Layout,
    /// Replacements of spans; an empty span inserts.
    replacements: Vec<(Span, String)>,
    /// Members to append before the closing brace, without their commas.
    appended: String,
}

impl<'a> Edits<'a> {
    pub(super) fn new(body: &'a str, layout: Layout) -> Self {
        Self {
            body,
            layout,
            replacements: Vec::new(),
            appended: String::new(),
        }
    }

    /// Removes every top-level member called `name`.
    pub(super) fn remove_top(&mut self, name: &str) {
        let slots = self.layout.top.slots.iter_mut();
        for slot in slots.filter(|slot| slot.name == name) {
            slot.removed = true;
        }
    }

    /// Removes the members that the contract forbids, in every repeated `meta`.
    pub(super) fn remove_forbidden(&mut self) {
        self.remove_top("timestamp");
        let slots = self
            .layout
            .metas
            .iter_mut()
            .flat_map(|meta| &mut meta.slots);
        for slot in slots.filter(|slot| forbidden_in_meta(&slot.name).is_some()) {
            slot.removed = true;
        }
    }

    /// Makes the last `urn` the `job`: under its name when there is no `job`, else in the place of
    /// the last `job` value. Every other `urn` goes.
    pub(super) fn fold_urn(&mut self) {
        let last = |name| {
            self.layout
                .top
                .slots
                .iter()
                .rposition(|slot| slot.name == name)
        };
        let (Some(urn), job) = (last("urn"), last("job")) else {
            return;
        };
        self.remove_top("urn");
        let slots = &mut self.layout.top.slots;
        let (token, value) = (slots[urn].token, slots[urn].value);
        match job {
            Some(job) => {
                let value = value.of(self.body).to_owned();
                self.replacements.push((slots[job].value, value));
            }
            None => {
                slots[urn].removed = false;
                self.replacements.push((token, "\"job\"".to_owned()));
            }
        }
    }

    /// Replaces the value of the last `attempts`; without one it becomes the last member before
    /// `dead_letter`.
    pub(super) fn set_attempts(&mut self, attempts: i64) {
        let kept = |name: &str| {
            let mut slots = self.layout.top.slots.iter().rev();
            slots.find(|slot| slot.name == name && !slot.removed)
        };
        if let Some(slot) = kept("attempts") {
            self.replacements.push((slot.value, attempts.to_string()));
            return;
        }
        let member = format!("\"attempts\":{attempts}");
        if let Some(Slot { token, .. }) = kept("dead_letter") {
            let (start, end) = (token.start, token.start);
            self.replacements.push((Span { start, end }, member + ","));
        } else {
            self.append(&member);
        }
    }

    /// Makes `block` the last member.
    pub(super) fn append_dead_letter(&mut self, block: &DeadLetter, attempts: i64) {
        let mut member = String::with_capacity(block.size_hint());
        member.push_str("\"dead_letter\":");
        block.write(&mut member, attempts);
        self.append(&member);
    }

    fn append(&mut self, member: &str) {
        let kept = self.layout.top.slots.iter().any(|slot| !slot.removed);
        let comma = if kept || !self.appended.is_empty() {
            ","
        } else {
            ""
        };
        // Writing to a String cannot fail.
        let _ = write!(self.appended, "{comma}{member}");
    }

    /// The body with all edits applied.
    pub(super) fn apply(mut self) -> String {
        let Layout { top, metas } = &self.layout;
        let removed = metas.iter().chain([top]).flat_map(removals);
        self.replacements
            .extend(removed.map(|span| (span, String::new())));
        let (start, end) = (top.close, top.close);
        self.replacements.push((Span { start, end }, self.appended));
        self.replacements.sort_by_key(|(span, _)| span.start);

        let inserted: usize = self.replacements.iter().map(|(_, text)| text.len()).sum();
        let mut out = String::with_capacity(self.body.len() + inserted);
        let mut at = 0;
        for (span, text) in &self.replacements {
            // What lies inside a removed member went with it.
            if span.start < at {
                continue;
            }
            out.push_str(&self.body[at..span.start]);
            out.push_str(text);
            at = span.end;
        }
        out.push_str(&self.body[at..]);
        out
    }
}

/// The spans that remove the marked members of one object, each with one comma: the one before,
/// or, as long as nothing before it stays, the one after.
fn removals(object: &Object) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut kept_before = false;
    for (index, slot) in object.slots.iter().enumerate() {
        if !slot.removed {
            kept_before = true;
            continue;
        }
        let following = object.slots.get(index + 1).and_then(|next| next.comma);
        spans.push(match (slot.comma, following) {
            (Some(comma), _) if kept_before => Span {
                start: comma,
                end: slot.value.end,
            },
            (_, Some(comma)) => Span {
                start: slot.token.start,
                end: comma + 1,
            },
            (_, None) => Span {
                start: slot.token.start,
                end: slot.value.end,
            },
        });
    }
    spans
}
