//! What became of a message, in one word for metrics and spans.

/// One of these words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "otel"), allow(dead_code))]
pub(crate) enum Ended {
    Done,
    Discarded,
    Duplicate,
    Retry,
    DeadLetter,
    Released,
    Deleted,
    Left,
    /// Its handler was dropped before its end.
    Cancelled,
}

#[cfg(feature = "otel")]
impl Ended {
    /// In the order of their declaration.
    pub(crate) const ALL: [Self; 9] = [
        Self::Done,
        Self::Discarded,
        Self::Duplicate,
        Self::Retry,
        Self::DeadLetter,
        Self::Released,
        Self::Deleted,
        Self::Left,
        Self::Cancelled,
    ];

    /// The word.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Discarded => "discarded",
            Self::Duplicate => "duplicate",
            Self::Retry => "retry",
            Self::DeadLetter => "dead_letter",
            Self::Released => "released",
            Self::Deleted => "deleted",
            Self::Left => "left",
            Self::Cancelled => "cancelled",
        }
    }
}

#[cfg(all(test, feature = "otel"))]
mod tests {
    use super::*;

    #[test]
    fn each_stands_at_its_own_place() {
        for (place, ended) in Ended::ALL.into_iter().enumerate() {
            assert_eq!(ended as usize, place);
        }
    }
}
