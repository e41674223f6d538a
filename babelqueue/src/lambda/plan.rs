//! Which records go together into one call, and which must wait for which (SPEC §4.6). Pure.

use std::collections::HashMap;

/// A record, as far as it matters here.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Station<'a> {
    /// What it shares with others of its batch; `None` when it is handled by itself.
    pub(super) batch: Option<Key<'a>>,
    /// The message group on a FIFO queue, with its queue.
    pub(super) group: Option<(&'a str, &'a str)>,
}

/// What all messages of a batch have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key<'a> {
    pub(super) handler: usize,
    /// ARN of the queue.
    pub(super) queue: &'a str,
    /// The value that batches are divided by.
    pub(super) value: Option<&'a str>,
}

/// One call.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Call {
    /// The batch handler; `None` for a record that is handled by itself.
    pub(super) batch: Option<usize>,
    /// Numbers of its records, in the order of the event.
    pub(super) records: Vec<usize>,
    /// The calls that must have ended before, by their places in the plan.
    pub(super) after: Vec<usize>,
}

/// Plans the calls. On a standard queue each batch handler gets one call for each value that it
/// divides by, and every other record one of its own. On a FIFO queue a record never goes before
/// one of its group, and together with it only into the same batch: so a group is cut where
/// handler or value change, and batches take the same stretch of every group along.
pub(super) fn plan(stations: &[Station<'_>]) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut levels: Vec<usize> = Vec::new();
    let mut last_of_group = HashMap::new();
    let mut open = HashMap::new();
    for (record, station) in stations.iter().enumerate() {
        let before = station
            .group
            .and_then(|group| last_of_group.get(&group).copied());
        let level = before.map_or(0, |before: usize| levels[before] + 1);
        let found = station.batch.and_then(|key| {
            // Behind one of its own batch there is no need to wait for it.
            let same = before.filter(|at| open.get(&(key, levels[*at])) == Some(at));
            same.or_else(|| open.get(&(key, level)).copied())
        });
        let at = found.unwrap_or_else(|| {
            calls.push(Call {
                batch: station.batch.map(|key| key.handler),
                ..Call::default()
            });
            levels.push(level);
            if let Some(key) = station.batch {
                open.insert((key, level), calls.len() - 1);
            }
            calls.len() - 1
        });
        let call = &mut calls[at];
        call.records.push(record);
        if let Some(before) = before.filter(|before| *before != at)
            && !call.after.contains(&before)
        {
            call.after.push(before);
        }
        if let Some(group) = station.group {
            last_of_group.insert(group, at);
        }
    }
    calls
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Row = (Option<(usize, Option<&'static str>)>, Option<&'static str>);

    fn planned(rows: &[Row]) -> Vec<(Option<usize>, Vec<usize>, Vec<usize>)> {
        let stations: Vec<_> = rows
            .iter()
            .map(|(batch, group)| Station {
                batch: batch.map(|(handler, value)| Key {
                    handler,
                    queue: "q",
                    value,
                }),
                group: group.map(|group| ("q", group)),
            })
            .collect();
        plan(&stations)
            .into_iter()
            .map(|call| (call.batch, call.records, call.after))
            .collect()
    }

    #[test]
    fn on_a_standard_queue_a_batch_is_one_call_per_value() {
        let rows = [
            (Some((0, None)), None),
            (None, None),
            (Some((0, Some("a"))), None),
            (Some((0, None)), None),
            (Some((1, None)), None),
            (Some((0, Some("a"))), None),
            (None, None),
        ];
        let expected = [
            (Some(0), vec![0, 3], vec![]),
            (None, vec![1], vec![]),
            (Some(0), vec![2, 5], vec![]),
            (Some(1), vec![4], vec![]),
            (None, vec![6], vec![]),
        ];
        assert_eq!(planned(&rows), expected);
    }

    #[test]
    fn a_fifo_group_is_cut_where_the_handler_or_the_value_changes() {
        let (x, y, xa) = (Some((0, None)), Some((1, None)), Some((0, Some("a"))));
        let rows = [
            (x, Some("A")),
            (x, Some("B")),
            (y, Some("A")),
            (x, Some("A")),
            (x, Some("B")),
            (xa, Some("B")),
            (None, Some("B")),
        ];
        let expected = [
            (Some(0), vec![0, 1, 4], vec![]),
            (Some(1), vec![2], vec![0]),
            (Some(0), vec![3], vec![1]),
            (Some(0), vec![5], vec![0]),
            (None, vec![6], vec![3]),
        ];
        assert_eq!(planned(&rows), expected);
    }

    fn row() -> impl Strategy<Value = Row> {
        let value = prop_oneof![Just(None), Just(Some("a")), Just(Some("b"))];
        let batch = prop_oneof![Just(None), (0..2_usize, value).prop_map(Some),];
        let group = prop_oneof![
            Just(None),
            Just(Some("A")),
            Just(Some("B")),
            Just(Some("C"))
        ];
        (batch, group)
    }

    proptest! {
        #[test]
        fn every_record_is_in_one_call_and_behind_those_of_its_group(
            rows in proptest::collection::vec(row(), 0..30)
        ) {
            let calls = planned(&rows);
            let mut at = HashMap::new();
            for (i, (batch, records, after)) in calls.iter().enumerate() {
                prop_assert!(!records.is_empty() && records.is_sorted());
                prop_assert!(batch.is_some() || records.len() == 1);
                for before in after {
                    prop_assert!(before < &i, "an order without circles");
                }
                for record in records {
                    prop_assert!(at.insert(*record, i).is_none());
                    prop_assert_eq!(rows[*record].0.map(|(handler, _)| handler), *batch);
                    prop_assert_eq!(rows[*record].0, rows[records[0]].0);
                }
            }
            prop_assert_eq!(at.len(), rows.len());
            for second in 0..rows.len() {
                for first in 0..second {
                    if rows[first].1.is_some() && rows[first].1 == rows[second].1 {
                        let (a, b) = (at[&first], at[&second]);
                        prop_assert!(a == b || reaches(&calls, b, a));
                    }
                }
            }
        }
    }

    /// Whether call `from` waits for call `to`, by others perhaps.
    fn reaches(calls: &[(Option<usize>, Vec<usize>, Vec<usize>)], from: usize, to: usize) -> bool {
        calls[from]
            .2
            .iter()
            .any(|before| *before == to || reaches(calls, *before, to))
    }
}
