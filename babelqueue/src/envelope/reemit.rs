//! Writing a decoded envelope again: the original bytes, patched. What this crate does not know
//! stays as it was spelled.

use super::dead_letter::DeadLetter;
use super::decoded::Envelope;
use super::error::EncodeError;
use super::identity::Source;

mod edits;
mod layout;

use edits::Edits;
use layout::Layout;

/// What to change when an envelope is written again (SPEC §1.11).
///
/// ```
/// use babelqueue::envelope::{Envelope, Patch};
///
/// let envelope = Envelope::decode(r#"{ "job": "urn:x", "attempts": 1, "price": 1.50 }"#)?;
/// let text = envelope.reemit(&Patch::new().attempts(2))?;
/// assert_eq!(text, r#"{ "job": "urn:x", "attempts": 2, "price": 1.50 }"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[must_use]
pub struct Patch<'a> {
    attempts: Option<i64>,
    dead_letter: BlockPatch<'a>,
}

#[derive(Clone, Copy, Debug, Default)]
enum BlockPatch<'a> {
    #[default]
    Keep,
    Remove,
    Add(&'a DeadLetter),
}

impl<'a> Patch<'a> {
    /// Changes nothing.
    pub const fn new() -> Self {
        Self {
            attempts: None,
            dead_letter: BlockPatch::Keep,
        }
    }

    /// Sets the top-level `attempts`.
    pub const fn attempts(mut self, attempts: i64) -> Self {
        self.attempts = Some(attempts);
        self
    }

    /// Puts `block` in place of every `dead_letter`, as the last member. Its `attempts` are
    /// written as the copy's top-level ones, where there are any (SPEC §1.10).
    pub const fn dead_letter(mut self, block: &'a DeadLetter) -> Self {
        self.dead_letter = BlockPatch::Add(block);
        self
    }

    /// Removes every `dead_letter`.
    pub const fn without_dead_letter(mut self) -> Self {
        self.dead_letter = BlockPatch::Remove;
        self
    }
}

impl Envelope {
    /// The envelope as it goes on the wire: the original bytes, with `urn` folded into `job` and
    /// forbidden members removed (SPEC §1.4, §1.11). Equal to [`body`](Self::body) when there is
    /// nothing to fold.
    ///
    /// # Errors
    /// When the envelope holds something that must not be emitted. A decoded or built one never
    /// does today.
    pub fn encode(&self) -> Result<String, EncodeError> {
        self.reemit(&Patch::new())
    }

    /// Writes the envelope again with `patch` applied on top of what [`encode`](Self::encode)
    /// does. Every other byte stays: whitespace, order, escapes, the spelling of numbers, repeated
    /// and unknown members.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn reemit(&self, patch: &Patch<'_>) -> Result<String, EncodeError> {
        let unpatched = patch.attempts.is_none() && matches!(patch.dead_letter, BlockPatch::Keep);
        if unpatched && !self.fields().unfolded {
            return Ok(self.body().to_owned());
        }
        let Some(layout) = Layout::read(self.body()) else {
            // Not reached: the body has been scanned before.
            return Ok(self.body().to_owned());
        };
        let mut edits = Edits::new(self.body(), layout);
        match self.fields().source {
            Source::Job => edits.remove_top("urn"),
            Source::Urn => edits.fold_urn(),
            Source::None => {}
        }
        edits.remove_forbidden();
        if !matches!(patch.dead_letter, BlockPatch::Keep) {
            edits.remove_top("dead_letter");
        }
        if let Some(attempts) = patch.attempts {
            edits.set_attempts(attempts);
        }
        if let BlockPatch::Add(block) = patch.dead_letter {
            let attempts = patch.attempts.or(self.fields().attempts);
            edits.append_dead_letter(block, attempts.unwrap_or(block.attempts));
        }
        Ok(edits.apply())
    }

    /// The annotated copy for a dead-letter queue: `attempts` at the top and in the block, and
    /// `block` as the last member (SPEC §1.10). The block's own `attempts` are not looked at.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn dead_letter_copy(
        &self,
        block: &DeadLetter,
        attempts: i64,
    ) -> Result<String, EncodeError> {
        self.reemit(&Patch::new().attempts(attempts).dead_letter(block))
    }

    /// The message as it goes back from a dead-letter queue: `dead_letter` removed, `attempts` 0
    /// (SPEC §3.3).
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn redriven(&self) -> Result<String, EncodeError> {
        self.reemit(&Patch::new().attempts(0).without_dead_letter())
    }
}
