//! Errors of the macros: all that one macro finds are collected and reported together, and an
//! unknown option is answered with the near one.

use proc_macro2::TokenStream;
use syn::Error;

/// Collects errors; what is left at the end becomes `compile_error!`s.
#[derive(Default)]
pub(crate) struct Errors(Option<Error>);

impl Errors {
    pub(crate) fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Keeps the value, or the error.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0
            .map(|error| error.to_compile_error())
            .unwrap_or_default()
    }
}

/// Says that an option is unknown, and which one was likely meant.
pub(crate) fn unknown_option(place: &str, given: &str, known: &[&str]) -> String {
    let near = known
        .iter()
        .map(|known| (distance(given, known), known))
        .min();
    match near {
        Some((distance, near)) if distance <= near.len().max(given.len()) / 2 => {
            format!("unknown option `{given}` {place}: did you mean `{near}`?")
        }
        _ => {
            let known: Vec<_> = known.iter().map(|known| format!("`{known}`")).collect();
            format!(
                "unknown option `{given}` {place}: there is {}",
                known.join(", ")
            )
        }
    }
}

/// Levenshtein distance, in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, unknown_option};

    #[test]
    fn measures_edits() {
        for (a, b, edits) in [
            ("", "", 0),
            ("abc", "", 3),
            ("alias", "alais", 2),
            ("group", "group_id", 3),
        ] {
            assert_eq!(distance(a, b), edits, "{a} and {b}");
        }
    }

    #[test]
    fn suggests_the_near_option_only() {
        let known = ["group_id", "dedup_id"];
        assert_eq!(
            unknown_option("here", "groupid", &known),
            "unknown option `groupid` here: did you mean `group_id`?"
        );
        assert_eq!(
            unknown_option("here", "colour", &known),
            "unknown option `colour` here: there is `group_id`, `dedup_id`"
        );
    }
}
