//! The text of an error: with its causes, on one line, and never long. For dead letters, logs,
//! spans and health answers. Pure.

use std::error::Error as StdError;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::fields;
use crate::panics::fenced;

/// Longest `dead_letter.error`, in bytes (SPEC §2.15).
pub(crate) const MAX_ERROR_TEXT: usize = 1024;

/// How much of an error and its causes is put together at all.
const MAX_CHAIN_TEXT: usize = 64 * 1024;

/// An error and its causes on one line. Many errors name their cause themselves; it is not
/// repeated then. The text is the user's code, and may panic.
pub(crate) fn chain_text(error: &(dyn StdError + 'static)) -> String {
    fenced(|| chain(error)).unwrap_or_else(|panicked| {
        tracing::error!("the text of an error cannot be had, its Display {panicked}");
        format!("an error without a text: its Display {panicked}")
    })
}

fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        if text.len() > MAX_CHAIN_TEXT {
            break;
        }
        let more = error.to_string();
        if !text.contains(&more) {
            // Writing to a String cannot fail.
            let _ = write!(text, ": {more}");
        }
        cause = error.source();
    }
    text
}

/// An error for a log line or a health answer.
pub(crate) fn error_text(error: &(dyn StdError + 'static)) -> String {
    cut(chain_text(error))
}

/// Takes secrets out of an error's text before it leaves the process.
pub(crate) type Redact = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// The text of an error as it may leave the process: cut, and without the secrets that the hook
/// takes out; `None` when that panicked.
pub(crate) fn redacted(
    error: &(dyn StdError + 'static),
    redact: Option<&Redact>,
    queue: &str,
) -> Option<String> {
    let text = chain_text(error);
    let Some(redact) = redact else {
        return Some(cut(text));
    };
    match fenced(|| redact(&text)) {
        Ok(text) => Some(cut(text)),
        Err(panicked) => {
            tracing::error!({ fields::QUEUE } = queue, "the redaction hook {panicked}");
            None
        }
    }
}

/// Cuts a text to what a dead letter may hold, on a character boundary.
pub(crate) fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_ERROR_TEXT));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_059_error_text_is_cut_on_a_character_boundary() {
        assert_eq!(cut("short".into()), "short");
        let cut_text = cut("é".repeat(1000));
        assert_eq!(cut_text.len(), 1024);
        let odd = cut(format!("x{}", "é".repeat(150_000)));
        assert_eq!(odd.len(), 1023);
    }

    #[derive(Debug, thiserror::Error)]
    #[error("level {level}")]
    struct Deep {
        level: u32,
        source: Option<Box<Deep>>,
    }

    #[test]
    fn c_059_a_long_chain_of_causes_is_one_line() {
        let mut error = Deep {
            level: 0,
            source: None,
        };
        for level in 1..50 {
            error = Deep {
                level,
                source: Some(Box::new(error)),
            };
        }
        let text = chain_text(&error);
        assert!(text.starts_with("level 49: level 48: "), "{text}");
        assert!(cut(text).len() <= 1024);
    }

    #[derive(Debug)]
    struct Unspeakable;

    impl std::fmt::Display for Unspeakable {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("no words")
        }
    }

    impl StdError for Unspeakable {}

    #[test]
    fn an_error_whose_text_panics_has_a_text() {
        let text = chain_text(&Unspeakable);
        assert_eq!(
            text,
            "an error without a text: its Display panicked: no words"
        );
    }
}
