//! Which queue takes the hopeless messages, and how it is named when nobody says (SPEC §2.15).

use super::queue_name::{NameError, check_name, queue_name, split_fifo};

const DEFAULT_SUFFIX: &str = "-dlq";

/// The dead-letter queue of a consumer. None is used unless one is given.
///
/// It must be of the same type as the queue consumed from, FIFO or standard, and not that queue
/// itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetterQueue {
    target: Target,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    Url(String),
    Name(String),
    Suffix(String),
}

impl DeadLetterQueue {
    /// The queue with this URL.
    pub fn url(url: impl Into<String>) -> Self {
        Self {
            target: Target::Url(url.into()),
        }
    }

    /// The queue of this name, in the account and region of the queue consumed from.
    pub fn name(name: impl Into<String>) -> Self {
        Self {
            target: Target::Name(name.into()),
        }
    }

    /// `<queue>-dlq`, or `<base>-dlq.fifo` for `<base>.fifo`: the family's default.
    pub fn default_name() -> Self {
        Self::with_suffix("")
    }

    /// Like [`default_name`](Self::default_name) with another suffix than `-dlq`; an empty one
    /// means the default.
    pub fn with_suffix(suffix: impl Into<String>) -> Self {
        Self {
            target: Target::Suffix(suffix.into()),
        }
    }

    /// The URL, for a consumer of the queue with the URL `source`.
    ///
    /// # Errors
    /// [`NameError`] when SQS cannot have a queue of that name.
    pub fn resolve(&self, source: &str) -> Result<String, NameError> {
        let name = match &self.target {
            Target::Url(url) => {
                check_name(queue_name(url))?;
                return Ok(url.clone());
            }
            Target::Name(name) => name.clone(),
            Target::Suffix(suffix) => dead_letter_name(queue_name(source), Some(suffix))?,
        };
        check_name(&name)?;
        let own = queue_name(source);
        let base = source.trim_end_matches('/');
        Ok(format!("{}{name}", base.strip_suffix(own).unwrap_or(base)))
    }
}

/// The default name of the dead-letter queue of `queue` (SPEC §2.15): the suffix, `-dlq` unless
/// another is given, goes before `.fifo`.
///
/// ```
/// use babelqueue::policy::dead_letter_name;
///
/// assert_eq!(dead_letter_name("orders", None).unwrap(), "orders-dlq");
/// assert_eq!(dead_letter_name("orders.fifo", Some("-x")).unwrap(), "orders-x.fifo");
/// ```
///
/// # Errors
/// [`NameError`] when SQS cannot have a queue of that name.
pub fn dead_letter_name(queue: &str, suffix: Option<&str>) -> Result<String, NameError> {
    let suffix = suffix
        .filter(|suffix| !suffix.is_empty())
        .unwrap_or(DEFAULT_SUFFIX);
    let (base, fifo) = split_fifo(queue);
    let name = format!("{base}{suffix}{fifo}");
    check_name(&name)?;
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_naming_rule() {
        let rows = [
            ("orders", None, "orders-dlq"),
            ("orders", Some(""), "orders-dlq"),
            ("orders", Some("-dead"), "orders-dead"),
            ("orders.fifo", None, "orders-dlq.fifo"),
            ("orders.fifo", Some("-x"), "orders-x.fifo"),
        ];
        for (queue, suffix, expected) in rows {
            assert_eq!(dead_letter_name(queue, suffix).as_deref(), Ok(expected));
        }
        assert!(dead_letter_name("orders", Some(".dlq")).is_err());
        assert!(dead_letter_name(&"x".repeat(78), None).is_err());
    }

    #[test]
    fn a_name_stays_in_the_account_of_the_source() {
        let source = "https://sqs.eu-west-1.amazonaws.com/1234/orders.fifo";
        let resolve = |queue: DeadLetterQueue| queue.resolve(source);
        assert_eq!(
            resolve(DeadLetterQueue::default_name()).as_deref(),
            Ok("https://sqs.eu-west-1.amazonaws.com/1234/orders-dlq.fifo")
        );
        assert_eq!(
            resolve(DeadLetterQueue::name("dead.fifo")).as_deref(),
            Ok("https://sqs.eu-west-1.amazonaws.com/1234/dead.fifo")
        );
        assert_eq!(
            resolve(DeadLetterQueue::url("http://other/9/dead.fifo")).as_deref(),
            Ok("http://other/9/dead.fifo")
        );
        assert!(resolve(DeadLetterQueue::name("orders.dlq")).is_err());
        assert!(resolve(DeadLetterQueue::url("http://other/9/orders.dlq")).is_err());
        assert!(resolve(DeadLetterQueue::name("")).is_err());
    }
}
