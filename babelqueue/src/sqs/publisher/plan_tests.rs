//! The two decisions of a batch, by table and by property.

use proptest::prelude::*;

use super::*;

fn loads(sizes: &[usize], bytes: usize) -> Vec<Vec<usize>> {
    let limits = Limits { entries: 10, bytes };
    let mut all = Vec::new();
    let mut from = 0;
    while from < sizes.len() {
        let rest = sizes.iter().copied().enumerate().skip(from);
        let Load { places, .. } = load(rest, limits);
        from += places.len();
        all.push(places);
    }
    all
}

fn counts(sizes: &[usize], bytes: usize) -> Vec<usize> {
    loads(sizes, bytes).iter().map(Vec::len).collect()
}

#[test]
fn c_054_a_batch_is_split_by_bytes_as_well_as_by_count() {
    assert_eq!(counts(&[10; 10], 100), [10], "exactly at the limit");
    let mut one_over = [10; 10];
    one_over[9] = 11;
    assert_eq!(counts(&one_over, 100), [9, 1], "one byte over");
    assert_eq!(counts(&[60, 60], 100), [1, 1], "two of 60 %");
    assert_eq!(counts(&[60, 40, 1], 100), [2, 1]);
}

#[test]
fn c_055_more_than_ten_are_split_by_count() {
    let split = |count| counts(&vec![1; count], 1000);
    assert_eq!(split(0), [0_usize; 0]);
    assert_eq!(split(1), [1]);
    assert_eq!(split(10), [10]);
    assert_eq!(split(11), [10, 1]);
    assert_eq!(split(100), [10; 10]);
}

#[test]
fn a_request_is_full_when_waiting_would_not_help() {
    let limits = Limits {
        entries: 3,
        bytes: 100,
    };
    let is_full = |sizes: &[usize]| load(sizes.iter().copied().enumerate(), limits).full;
    assert!(!is_full(&[]) && !is_full(&[99]) && !is_full(&[1, 1]));
    assert!(is_full(&[1, 1, 1]) && is_full(&[100]) && is_full(&[60, 60]) && is_full(&[101]));
}

proptest! {
    #[test]
    fn c_054_no_request_exceeds_the_limit_and_the_order_is_kept(
        sizes in prop::collection::vec(1_usize..120, 0..60)
    ) {
        let loads = loads(&sizes, 100);
        let order: Vec<usize> = loads.concat();
        prop_assert_eq!(order, (0..sizes.len()).collect::<Vec<_>>());
        for (i, places) in loads.iter().enumerate() {
            let bytes: usize = places.iter().map(|place| sizes[*place]).sum();
            prop_assert!(places.len() <= 10 && (bytes <= 100 || places.len() == 1));
            // Not smaller than it must be.
            if let Some(next) = loads.get(i + 1) {
                prop_assert!(places.len() == 10 || bytes + sizes[next[0]] > 100);
            }
        }
    }
}

/// `G+` sent, `G?` retryable, `G-` lost; the group `.` is none.
fn retried(came: &str) -> String {
    let came: Vec<_> = came
        .split_whitespace()
        .map(|entry| {
            let (group, came) = entry.split_at(1);
            let came = match came {
                "+" => Came::Sent,
                "?" => Came::Retryable,
                _ => Came::Lost,
            };
            ((group != ".").then_some(group), came)
        })
        .collect();
    let again = again(&came);
    again
        .iter()
        .map(|again| if *again { 'r' } else { '.' })
        .collect()
}

#[test]
fn c_058_no_retry_breaks_the_order_of_a_group() {
    let rows = [
        // Without order everything that may be is tried again.
        (".? .+ .- .?", "r..r"),
        ("A? A? A?", "rrr"),
        ("A+ A? A?", ".rr"),
        // Overtaken inside SQS.
        ("A? A+", ".."),
        ("A? A? A+ A?", "...."),
        // Behind one that is given up.
        ("A- A? A?", "..."),
        ("A? A- A?", "r.."),
        // Other groups do not matter.
        ("A? B+ A? B?", "r.rr"),
        ("A- B? A? B-", ".r.."),
        ("A? .+ A?", "r.r"),
    ];
    for (came, expected) in rows {
        assert_eq!(retried(came), expected, "{came}");
    }
}

proptest! {
    #[test]
    fn c_058_what_is_sent_in_the_end_is_in_order(
        came in prop::collection::vec((0_u8..3, 0_u8..3), 0..10)
    ) {
        let names = ["A", "B", "C"];
        let kinds = [Came::Sent, Came::Retryable, Came::Lost];
        let came: Vec<_> = came
            .iter()
            .map(|(group, kind)| (Some(names[usize::from(*group)]), kinds[usize::from(*kind)]))
            .collect();
        let again = again(&came);
        for (i, (group, kind)) in came.iter().enumerate() {
            prop_assert!(!again[i] || *kind == Came::Retryable);
            for (j, (other, later)) in came.iter().enumerate().skip(i + 1) {
                let same = group == other;
                // What is tried again comes after everything that was sent.
                prop_assert!(!(same && again[i] && *later == Came::Sent));
                // Behind a gap nothing is tried again.
                let gap = *kind != Came::Sent && !again[i];
                prop_assert!(!(same && gap && again[j]));
            }
        }
    }
}
