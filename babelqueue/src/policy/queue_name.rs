//! What the name of a queue tells: its type, and whether SQS can have such a queue at all.

const FIFO: &str = ".fifo";

/// The name of a queue: the last segment of its URL's path. A name is returned as it is.
///
/// ```
/// use babelqueue::policy::queue_name;
///
/// assert_eq!(queue_name("https://sqs.eu-west-1.amazonaws.com/1234/orders"), "orders");
/// ```
pub fn queue_name(url: &str) -> &str {
    let path = url
        .split(['?', '#'])
        .next()
        .unwrap_or_default()
        .trim_end_matches('/');
    path.rsplit('/').next().unwrap_or_default()
}

/// Whether the name or URL is that of a FIFO queue (SPEC §2.3).
pub fn is_fifo(name_or_url: &str) -> bool {
    queue_name(name_or_url).ends_with(FIFO)
}

/// The name without `.fifo`, and the `.fifo` if it had it.
pub(super) fn split_fifo(name: &str) -> (&str, &'static str) {
    match name.strip_suffix(FIFO) {
        Some(base) => (base, FIFO),
        None => (name, ""),
    }
}

/// A name that no SQS queue can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// No name at all.
    #[error("the queue name is empty: give a queue URL or the name of a queue")]
    Empty,
    /// Over 80 characters, the `.fifo` included.
    #[error("the queue name `{name}` has {length} characters: SQS takes 80, `.fifo` included")]
    TooLong {
        /// The name.
        name: String,
        /// Its length in characters.
        length: usize,
    },
    /// A character that SQS refuses; a dot may only stand in a final `.fifo`.
    #[error(
        "the queue name `{name}` holds {character:?}: SQS takes letters, digits, `-` and `_`, \
         and a dot only in a final `.fifo`"
    )]
    Character {
        /// The name.
        name: String,
        /// The first such character.
        character: char,
    },
}

/// Refuses a name that SQS cannot have.
pub(crate) fn check_name(name: &str) -> Result<(), NameError> {
    let (base, _) = split_fifo(name);
    if base.is_empty() {
        return Err(NameError::Empty);
    }
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if let Some(character) = base.chars().find(|c| !legal(*c)) {
        return Err(NameError::Character {
            name: name.to_owned(),
            character,
        });
    }
    if name.len() > 80 {
        return Err(NameError::TooLong {
            name: name.to_owned(),
            length: name.len(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_the_last_segment() {
        assert_eq!(
            queue_name("http://localhost:9324/000000000000/orders.fifo/"),
            "orders.fifo"
        );
        assert_eq!(queue_name("orders"), "orders");
        assert_eq!(queue_name(""), "");
        assert!(is_fifo("http://x/1/orders.fifo"));
        assert!(!is_fifo("http://x.fifo/1/orders"));
    }

    #[test]
    fn dotted_names_are_refused() {
        assert_eq!(check_name("orders-dlq_1.fifo"), Ok(()));
        assert!(matches!(
            check_name("orders.dlq"),
            Err(NameError::Character { character: '.', .. })
        ));
        assert!(matches!(
            check_name("a.b.fifo"),
            Err(NameError::Character { .. })
        ));
        assert_eq!(check_name(".fifo"), Err(NameError::Empty));
        assert!(matches!(
            check_name(&"x".repeat(81)),
            Err(NameError::TooLong { length: 81, .. })
        ));
    }
}
