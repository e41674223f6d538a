//! FIFO queues: after a failure the rest of its group is not run and comes again with it; other
//! groups go on (SPEC §4.6).

use babelqueue::LambdaConsumer;
use babelqueue::idempotency::{Idempotency, MemoryStore};
use serde_json::json;
use tokio::time::sleep;

use crate::support::{
    Lab, SECOND, consumer, does, event, failures, fifo_tasks, in_group, many_does, record,
};

#[tokio::test(start_paused = true)]
async fn c_013_one_failing_group_fails_every_group_of_a_lambda_batch() {
    let lab = Lab::default();
    let consumer = consumer(&lab).build().unwrap();
    let event = fifo_tasks(&[("A1", "fail"), ("B1", "ok"), ("A2", "ok"), ("C1", "ok")]);
    assert_eq!(failures(&consumer, event).await, ["A1", "A2"]);
    assert_eq!(lab.calls(), ["A1", "B1", "C1"]);
}

#[tokio::test(start_paused = true)]
async fn c_014_skipped_records_are_run_as_well_as_reported() {
    let lab = Lab::default();
    let consumer = consumer(&lab).build().unwrap();
    let event = |first| fifo_tasks(&[("A1", first), ("A2", "ok"), ("A3", "ok")]);
    assert_eq!(failures(&consumer, event("fail")).await, ["A1", "A2", "A3"]);
    assert_eq!(lab.take(), ["A1"]);
    assert!(failures(&consumer, event("ok")).await.is_empty());
    assert_eq!(lab.calls(), ["A1", "A2", "A3"]);
}

#[tokio::test(start_paused = true)]
async fn c_015_group_state_survives_into_the_next_warm_invocation() {
    let lab = Lab::default();
    let consumer = consumer(&lab).build().unwrap();
    assert_eq!(
        failures(&consumer, fifo_tasks(&[("A1", "fail")])).await,
        ["A1"]
    );
    assert!(
        failures(&consumer, fifo_tasks(&[("A1", "ok")]))
            .await
            .is_empty()
    );
    assert_eq!(lab.calls(), ["A1", "A1"]);
    // Two that overlap: the failure of one is not seen by the other.
    let first = fifo_tasks(&[("A1", "sleep=5 fail"), ("A2", "ok")]);
    let second = fifo_tasks(&[("A3", "sleep=9 ok"), ("A4", "ok")]);
    let both = tokio::join!(failures(&consumer, first), failures(&consumer, second));
    assert_eq!(both.0, ["A1", "A2"]);
    assert!(both.1.is_empty());
}

#[tokio::test(start_paused = true)]
async fn c_016_any_failure_taken_for_a_failure_in_this_group() {
    let lab = Lab::default();
    let consumer = consumer(&lab).build().unwrap();
    let event = fifo_tasks(&[
        ("A1", "fail"),
        ("B1", "ok"),
        ("B2", "fail"),
        ("B3", "ok"),
        ("C1", "ok"),
        ("A2", "ok"),
    ]);
    assert_eq!(failures(&consumer, event).await, ["A1", "B2", "B3", "A2"]);
    let mut handled = lab.calls();
    handled.sort();
    assert_eq!(handled, ["A1", "B1", "B2", "C1"]);
}

#[tokio::test(start_paused = true)]
async fn groups_run_at_the_same_time_and_each_in_its_order() {
    let lab = Lab::default();
    let consumer = consumer(&lab).build().unwrap();
    let event = fifo_tasks(&[
        ("A1", "sleep=10 ok"),
        ("B1", "sleep=1 ok"),
        ("A2", "ok"),
        ("B2", "sleep=1 ok"),
        ("B3", "ok"),
    ]);
    let begun = tokio::time::Instant::now();
    assert!(failures(&consumer, event).await.is_empty());
    assert_eq!(lab.calls(), ["A1", "B1", "B2", "B3", "A2"]);
    assert_eq!(begun.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_group_on_a_standard_queue_holds_nothing_back() {
    let lab = Lab::default();
    let consumer = consumer(&lab).build().unwrap();
    let records = [("A1", "fail"), ("A2", "ok")]
        .map(|(name, what)| in_group("A", record("orders", name, &does(name, what))));
    assert_eq!(failures(&consumer, event(records)).await, ["A1"]);
    assert_eq!(lab.calls(), ["A1", "A2"]);
}

#[tokio::test(start_paused = true)]
async fn a_record_that_cannot_be_read_holds_its_group_back() {
    let lab = Lab::default();
    let consumer = consumer(&lab).build().unwrap();
    let of = |name: &str, body: &str| in_group(&name[..1], record("orders.fifo", name, body));
    let mut no_body = of("B2", "");
    no_body["body"] = json!(null);
    let mut no_arn = of("D1", &does("D1", "ok"));
    no_arn["eventSourceARN"] = json!(null);
    let records = [
        of("A1", "not json"),
        of("A2", &does("A2", "ok")),
        of("B1", &does("B1", "ok")),
        no_body,
        of("B3", &many_does("B3", "ok")),
        of("C1", &many_does("C1", "ok")),
        no_arn,
        of("D2", &does("D2", "ok")),
    ];
    let failed = failures(&consumer, event(records)).await;
    assert_eq!(failed, ["A1", "A2", "B2", "B3", "D1", "D2"]);
    assert_eq!(lab.calls(), ["B1", "[C1]"]);
}

#[tokio::test(start_paused = true)]
async fn a_batch_takes_consecutive_runs_and_a_failure_in_it_fails_those_behind() {
    let lab = Lab::default();
    let consumer = consumer(&lab).build().unwrap();
    let one = |name: &str, what: &str| {
        in_group(&name[..1], record("orders.fifo", name, &does(name, what)))
    };
    let many = |name: &str, what: &str| {
        in_group(
            &name[..1],
            record("orders.fifo", name, &many_does(name, what)),
        )
    };
    // A is cut by a message of another URN; B and C go along with its first run.
    let records = [
        many("A1", "ok"),
        many("B1", "fail"),
        many("A2", "ok"),
        one("A3", "ok"),
        many("B2", "ok"),
        many("C1", "ok"),
        many("A4", "ok"),
        one("B3", "ok"),
    ];
    let failed = failures(&consumer, event(records)).await;
    assert_eq!(failed, ["B1", "B2", "B3"]);
    assert_eq!(lab.calls(), ["[A1 B1 A2 B2 C1]", "A3", "[A4]"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_reported_by_its_id_fails_those_behind_it_too() {
    let lab = Lab::default();
    let consumer: LambdaConsumer = consumer(&lab).build().unwrap();
    let event = fifo_tasks(&[("A1", "report"), ("A2", "ok"), ("B1", "ok")]);
    assert_eq!(failures(&consumer, event).await, ["A1", "A2"]);
    assert_eq!(lab.calls(), ["A1", "B1"], "its handler has failed by then");
}

/// Messages of the batch handler; the first letter of the name is the group.
fn fifo_many(all: &[(&str, &str)]) -> babelqueue::lambda::Event {
    event(all.iter().map(|(name, what)| {
        let body = match *what {
            "unreadable" => many_does(name, what).replace("\"does\"", "\"did\""),
            what => many_does(name, what),
        };
        in_group(&name[..1], record("orders.fifo", name, &body))
    }))
}

#[tokio::test(start_paused = true)]
async fn a_message_that_drops_out_of_a_batch_holds_its_group_back() {
    let all = [
        ("A1", "ok"),
        ("A2x", "unreadable"),
        ("B1", "ok"),
        ("A3", "ok"),
    ];
    let lab = Lab::default();
    let plain = consumer(&lab).max_attempts(1).build().unwrap();
    assert_eq!(failures(&plain, fifo_many(&all)).await, ["A2x", "A3"]);
    assert_eq!(lab.take(), ["[A1 B1]"]);
    assert_eq!(lab.kinds().len(), 1, "what is held back is no failure");

    let schema = r#"{"type":"object","properties":{"name":{"minLength":2}},"required":["name"]}"#;
    let schemas = [("urn:test:many", schema)];
    let schemas = babelqueue::schema::SchemaMap::from_json(schemas).unwrap();
    let validating = consumer(&lab).validate_payloads(schemas).build().unwrap();
    let all = [("A1", "ok"), ("A", "ok"), ("B1", "ok"), ("A3", "ok")];
    assert_eq!(failures(&validating, fifo_many(&all)).await, ["A", "A3"]);
    assert_eq!(lab.take(), ["[A1 B1]"]);

    // One that another invocation is at.
    let guard = Idempotency::claims(MemoryStore::new());
    let guarded = consumer(&lab).idempotency(guard).build().unwrap();
    let first = fifo_many(&[("A2", "sleep=9")]);
    let second = async {
        sleep(SECOND).await;
        let all = fifo_many(&[("A1", "ok"), ("A2", "ok"), ("B1", "ok"), ("A3", "ok")]);
        failures(&guarded, all).await
    };
    let both = tokio::join!(failures(&guarded, first), second);
    assert_eq!((both.0.len(), both.1), (0, vec!["A2".into(), "A3".into()]));
    assert_eq!(lab.take(), ["[A2]", "[A1 B1]"]);
    // A duplicate holds nobody back.
    let all = fifo_many(&[("A2", "ok"), ("A3", "ok")]);
    assert!(failures(&guarded, all).await.is_empty());
    assert_eq!(lab.take(), ["[A3]"]);
}
