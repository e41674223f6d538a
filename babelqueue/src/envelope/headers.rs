//! The attributes that came with a message, as a handler sees them.

/// The rider that marks a message as replayed from a dead-letter queue.
pub const REPLAY_BYPASS: &str = "bq-replay-bypass";

/// The delivered attributes that have text, contract ones included, numbers as text (SPEC §3.4).
/// Read-only; sorted by name.
///
/// ```
/// use babelqueue::envelope::Headers;
///
/// let headers: Headers = [("tenant", "7"), ("empty", "")].into_iter().collect();
/// assert_eq!(headers.get("tenant"), Some("7"));
/// assert_eq!(headers.get("empty"), None);
/// assert_eq!(headers.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// The value of an attribute; names are case-sensitive.
    pub fn get(&self, name: &str) -> Option<&str> {
        // Ten entries at most in SQS: a walk beats everything else.
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// All attributes, sorted by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// How many attributes there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the message was replayed with external effects bypassed: the rider
    /// `bq-replay-bypass` is present (SPEC §3.3).
    pub fn is_replay(&self) -> bool {
        self.get(REPLAY_BYPASS).is_some()
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Headers {
    /// Empty values are left out; of a repeated name the last one stays.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(attributes: I) -> Self {
        let mut headers: Vec<(String, String)> = Vec::new();
        for (name, value) in attributes {
            let (name, value) = (name.into(), value.into());
            if value.is_empty() {
                continue;
            }
            match headers.iter_mut().find(|(key, _)| *key == name) {
                Some(entry) => entry.1 = value,
                None => headers.push((name, value)),
            }
        }
        headers.sort();
        Self(headers)
    }
}
