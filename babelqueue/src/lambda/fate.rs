//! What became of each record of an event, and the answer that comes of it (SPEC §4.6). Pure.

use std::collections::{BTreeMap, HashSet};

use aws_lambda_events::sqs::{BatchItemFailure, SqsBatchResponse};

use super::event::EventRecord;
use crate::invocation::RetryOptions;
use crate::policy::WireDelay;

/// What became of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Fate {
    /// Nothing yet: it was not run.
    #[default]
    Unstarted,
    /// Done: Lambda deletes it.
    Done,
    /// Its copy is in the dead-letter queue: done, whatever is reported of it.
    Buried,
    /// Failed, and left to the queue's visibility timeout.
    Left,
    /// Failed by an error, a panic or the deadline; with the pause of the retry policy, if that
    /// has been computed.
    Failed(Option<WireDelay>),
    /// Reported as failed by its id.
    Reported(RetryOptions),
    /// Failed, and to come again after a delay that somebody stated.
    Stated(WireDelay),
}

impl Fate {
    pub(super) fn is_done(self) -> bool {
        matches!(self, Self::Done | Self::Buried)
    }
}

/// The fates of one event.
pub(super) struct Fates<'a> {
    records: &'a [EventRecord],
    fates: Vec<Fate>,
}

impl<'a> Fates<'a> {
    pub(super) fn new(records: &'a [EventRecord]) -> Self {
        Self {
            records,
            fates: vec![Fate::Unstarted; records.len()],
        }
    }

    pub(super) fn set(&mut self, record: usize, fate: Fate) {
        self.fates[record] = fate;
    }

    #[cfg(any(test, feature = "idempotency"))]
    pub(super) fn get(&self, record: usize) -> Fate {
        self.fates[record]
    }

    /// Adds what was reported by message id. Returns the ids that are not of this event.
    pub(super) fn report(&mut self, failed: &BTreeMap<String, RetryOptions>) -> Vec<String> {
        let mut known = HashSet::new();
        for (fate, record) in self.fates.iter_mut().zip(self.records) {
            let Some(options) = failed.get(&record.message_id) else {
                continue;
            };
            known.insert(&record.message_id);
            *fate = match *fate {
                // What an error asked for stands where nothing more was said.
                Fate::Stated(delay) if options.is_none() => Fate::Stated(delay),
                Fate::Unstarted => Fate::Unstarted,
                // It would come again, and its copy be there twice.
                Fate::Buried => Fate::Buried,
                _ => Fate::Reported(*options),
            };
        }
        let unknown = failed.keys().filter(|id| !known.contains(id));
        unknown.cloned().collect()
    }

    /// On FIFO queues whatever follows a failure in its group is to come again with it, also what
    /// ran before the failure was known.
    pub(super) fn close_groups(&mut self) {
        let mut failed = HashSet::new();
        for (fate, record) in self.fates.iter_mut().zip(self.records) {
            let Some(group) = group_of(record) else {
                continue;
            };
            if failed.contains(&group) {
                if *fate == Fate::Done {
                    *fate = Fate::Left;
                }
            } else if !fate.is_done() {
                failed.insert(group);
            }
        }
    }

    /// The answer: every message that is not done, in the order of the event, once.
    pub(super) fn response(&self) -> SqsBatchResponse {
        let mut seen = HashSet::new();
        let mut response = SqsBatchResponse::default();
        for (fate, record) in self.fates.iter().zip(self.records) {
            if !fate.is_done() && seen.insert(&record.message_id) {
                let mut failure = BatchItemFailure::default();
                failure.item_identifier.clone_from(&record.message_id);
                response.batch_item_failures.push(failure);
            }
        }
        response
    }

    /// The records with their fates, each message once.
    pub(super) fn each(&self) -> impl Iterator<Item = (usize, &'a EventRecord, Fate)> {
        let mut seen = HashSet::new();
        let all = self.fates.iter().zip(self.records).enumerate();
        all.map(|(at, (fate, record))| (at, record, *fate))
            .filter(move |(_, record, fate)| !fate.is_done() && seen.insert(&record.message_id))
    }
}

/// The message group of a record, with its queue; only FIFO queues have groups in this sense.
pub(super) fn group_of(record: &EventRecord) -> Option<(&str, &str)> {
    record
        .is_fifo()
        .then(|| (record.arn.as_str(), record.group_id().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::lambda::Event;

    fn event(queue: &str, ids: &[(&str, &str)]) -> Event {
        let arn = format!("arn:aws:sqs:eu-west-1:1:{queue}");
        let record = |(id, group): &(&str, &str)| {
            json!({
                "messageId": id, "body": "{}", "receiptHandle": "r", "eventSourceARN": arn,
                "attributes": { "MessageGroupId": group },
            })
        };
        let records: Vec<_> = ids.iter().map(record).collect();
        Event::try_from(json!({ "Records": records })).expect("an event")
    }

    fn listed(fates: &Fates<'_>) -> Vec<String> {
        let failures = fates.response().batch_item_failures;
        failures.into_iter().map(|f| f.item_identifier).collect()
    }

    #[test]
    fn c_105_the_answer_names_known_messages_once_and_in_order() {
        let event = event("q", &[("c", ""), ("a", ""), ("b", ""), ("a", "")]);
        let mut fates = Fates::new(event.records());
        for record in 0..4 {
            fates.set(record, Fate::Done);
        }
        assert!(listed(&fates).is_empty());
        fates.set(1, Fate::Left);
        fates.set(3, Fate::Left);
        let said = ["", "x", "c"].map(|id| (id.to_owned(), RetryOptions::new()));
        assert_eq!(fates.report(&said.into()), ["", "x"]);
        assert_eq!(listed(&fates), ["c", "a"]);
        let json = serde_json::to_value(fates.response()).expect("json");
        let expected = json!({ "batchItemFailures": [
            { "itemIdentifier": "c" }, { "itemIdentifier": "a" },
        ]});
        assert_eq!(json, expected);
        assert_eq!(fates.each().count(), 2, "each message once");
    }

    #[test]
    fn what_was_never_run_is_listed() {
        let event = event("q", &[("a", ""), ("b", "")]);
        let mut fates = Fates::new(event.records());
        fates.set(0, Fate::Done);
        assert_eq!(listed(&fates), ["b"]);
        fates.report(&[("b".to_owned(), RetryOptions::new())].into());
        assert_eq!(fates.get(1), Fate::Unstarted, "a report starts nothing");
    }

    #[test]
    fn c_016_only_what_follows_in_the_group_fails_along() {
        let ids = [
            ("A1", "a"),
            ("B1", "b"),
            ("B2", "b"),
            ("B3", "b"),
            ("C1", "c"),
            ("A2", "a"),
        ];
        for (queue, expected) in [
            ("q.fifo", &["A1", "B2", "B3", "A2"][..]),
            // Groups of a standard queue hold nothing back.
            ("q", &["A1", "B2"][..]),
        ] {
            let event = event(queue, &ids);
            let mut fates = Fates::new(event.records());
            (0..6).for_each(|record| fates.set(record, Fate::Done));
            fates.report(
                &["A1", "B2"]
                    .map(|id| (id.to_owned(), RetryOptions::new()))
                    .into(),
            );
            fates.close_groups();
            assert_eq!(listed(&fates), expected);
        }
    }

    #[test]
    fn b12_what_was_said_last_of_a_message_counts() {
        let event = event("q", &[("a", ""), ("b", "")]);
        let invocation = crate::invocation::Invocation::new("", None);
        let (first, last) = (
            RetryOptions::new().min_delay_seconds(300.0),
            RetryOptions::new().delay_seconds(70.0),
        );
        invocation.add_failed_message_with("a", first);
        invocation.add_failed_message_with("a", last);
        let mut fates = Fates::new(event.records());
        fates.set(0, Fate::Done);
        fates.set(1, Fate::Stated(WireDelay::ZERO));
        invocation.add_failed_message("b");
        fates.report(&invocation.take_failed());
        let all: Vec<_> = fates.each().map(|(_, _, fate)| fate).collect();
        assert_eq!(all, [Fate::Reported(last), Fate::Stated(WireDelay::ZERO)]);
    }
}
