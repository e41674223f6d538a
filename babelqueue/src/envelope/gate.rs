//! The version gate: a look at one attribute, before any look at the body.

use super::blank::is_blank;

/// How many characters of a declared version are shown.
const SHOWN: usize = 64;

/// What the version gate says of a message (SPEC §2.8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Go on and decode the body.
    Pass,
    /// Settle the message without looking at its body.
    Reject {
        /// The declared version, cut to 64 characters and `...` for reports and logs.
        declared: String,
    },
}

/// Judges the text of the attribute `bq-schema-version`, whatever its data type (SPEC §2.8).
///
/// Absent, empty or blank text passes, because the body has a version of its own. Otherwise only
/// exactly `1` passes: the value is never trimmed before the comparison.
///
/// ```
/// use babelqueue::envelope::{Gate, version_gate};
///
/// assert_eq!(version_gate(Some("1")), Gate::Pass);
/// assert_eq!(version_gate(None), Gate::Pass);
/// assert_eq!(version_gate(Some("2")), Gate::Reject { declared: "2".into() });
/// ```
pub fn version_gate(attribute: Option<&str>) -> Gate {
    match attribute {
        None | Some("1") => Gate::Pass,
        Some(text) if is_blank(text) => Gate::Pass,
        Some(text) => Gate::Reject {
            declared: shorten(text),
        },
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text.to_owned(),
    }
}
