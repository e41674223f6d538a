//! What a consumer counts by queue alone: the counters that its handle shows, as metrics.

/// One of these counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    Received,
    Retried,
    DeadLettered,
    Deleted,
    Released,
    Left,
    Errors,
    Heartbeats,
    LostLeases,
}

#[cfg(feature = "otel")]
impl Counted {
    /// In the order of their declaration.
    pub(crate) const ALL: [Self; 9] = [
        Self::Received,
        Self::Retried,
        Self::DeadLettered,
        Self::Deleted,
        Self::Released,
        Self::Left,
        Self::Errors,
        Self::Heartbeats,
        Self::LostLeases,
    ];

    /// Name, unit and description of the metric.
    pub(crate) const fn described(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Received => (
                "messaging.client.consumed.messages",
                "{message}",
                "Messages received, redeliveries included.",
            ),
            Self::Retried => (
                "babelqueue.consumer.retries",
                "{message}",
                "Failed messages released for another try.",
            ),
            Self::DeadLettered => (
                "babelqueue.consumer.dead_letters",
                "{message}",
                "Messages copied to the dead-letter queue.",
            ),
            Self::Deleted => (
                "babelqueue.consumer.deletes",
                "{message}",
                "Messages deleted.",
            ),
            Self::Released => (
                "babelqueue.consumer.releases",
                "{message}",
                "Messages made visible again, whatever the reason.",
            ),
            Self::Left => (
                "babelqueue.consumer.left",
                "{message}",
                "Messages left to their visibility timeout.",
            ),
            Self::Errors => ("babelqueue.consumer.errors", "{error}", "Errors reported."),
            Self::Heartbeats => (
                "babelqueue.consumer.heartbeats",
                "{message}",
                "Messages whose visibility was renewed while they were in hand.",
            ),
            Self::LostLeases => (
                "babelqueue.consumer.lost_leases",
                "{message}",
                "Messages that SQS may have given to somebody else while they were in hand.",
            ),
        }
    }
}

#[cfg(all(test, feature = "otel"))]
mod tests {
    use super::*;

    #[test]
    fn each_stands_at_its_own_place() {
        for (place, counted) in Counted::ALL.into_iter().enumerate() {
            assert_eq!(counted as usize, place);
        }
    }
}
