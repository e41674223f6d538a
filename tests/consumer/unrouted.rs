//! Messages that no handler gets: gate, poison, acceptance, unknown URNs, end to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use babelqueue::ReportKind;
use babelqueue::local::{Operation, RawMessage};
use babelqueue::prelude::*;
use serde_json::json;

use crate::support::{Bench, SECOND, attributes, body, envelope};

fn strategies() -> [Option<UnknownUrn>; 5] {
    [
        None,
        Some(UnknownUrn::Fail),
        Some(UnknownUrn::Delete),
        Some(UnknownUrn::Release {
            delay: Duration::ZERO,
        }),
        Some(UnknownUrn::DeadLetter),
    ]
}

/// Runs one message through every strategy, with and without a dead-letter queue. Returns, for
/// each, what is on the dead-letter queue, and whether the original is gone.
async fn under_each(message: &RawMessage, check: impl Fn(&Bench, Option<UnknownUrn>, bool)) {
    for strategy in strategies() {
        for queue in [false, true] {
            let bench = Bench::new();
            bench.put_raw(message.clone());
            let mut consumer = bench.consumer().heartbeat(false);
            if let Some(strategy) = strategy {
                consumer = consumer.unknown_urn(strategy);
            }
            if queue {
                consumer = consumer.dead_letter_queue(DeadLetterQueue::default_name());
            } else if strategy == Some(UnknownUrn::DeadLetter) {
                assert!(consumer.build().is_err());
                continue;
            }
            consumer.build().unwrap().poll().await.unwrap();
            assert!(bench.lab.calls().is_empty(), "no handler may have it");
            let releases = bench
                .sqs
                .calls()
                .count(Operation::ChangeMessageVisibilityBatch);
            assert_eq!(releases, 0, "it is never released");
            check(&bench, strategy, queue);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_version_gate() {
    for raw in [
        envelope("t", &["ok"]),
        "  {\"odd\" : 1.50}\n".to_owned(),
        "not json".to_owned(),
    ] {
        let message = RawMessage::new(raw.clone())
            .attribute("bq-schema-version", "Number", "2")
            .attribute("bq-attempts", "Number", "7")
            .attribute("x", "String.label", "y")
            .receive_count(7);
        under_each(&message, |bench, strategy, queue| {
            assert_eq!(bench.lab.kinds(), [ReportKind::VersionGate]);
            if strategy == Some(UnknownUrn::Delete) {
                assert!(bench.left().is_empty() && bench.dead().is_empty());
            } else if queue {
                assert!(bench.left().is_empty());
                let dead = bench.dead();
                assert_eq!((dead.len(), &dead[0].body), (1, &raw), "byte for byte");
                assert_eq!(attributes(&dead[0])["bq-attempts"], "7");
                assert_eq!(dead[0].attributes["x"].data_type, "String.label");
            } else {
                assert_eq!((bench.left().len(), bench.dead().len()), (1, 0));
            }
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn poison() {
    let raw = r#" {"job":5,"n":1e400} "#;
    under_each(
        &RawMessage::new(raw).receive_count(2),
        |bench, strategy, queue| {
            assert_eq!(bench.lab.kinds(), [ReportKind::Poison]);
            if strategy == Some(UnknownUrn::Delete) {
                assert!(bench.left().is_empty() && bench.dead().is_empty());
            } else if queue {
                assert!(bench.left().is_empty());
                let record = &bench.dead()[0].body;
                let block = record
                    .strip_prefix(r#"{"job":5,"n":1e400,"dead_letter":"#)
                    .unwrap();
                let block: serde_json::Value =
                    serde_json::from_str(block.strip_suffix('}').unwrap()).unwrap();
                assert_eq!(block["reason"], "poison");
                assert_eq!(block["exception"], "DecodeError");
                assert_eq!(block["original_queue"], "orders");
                assert_eq!(block["attempts"], 2);
                assert_eq!(block["lang"], "rust");
                assert!(block["failed_at"].as_i64().unwrap() > 1_700_000_000_000);
            } else {
                assert_eq!((bench.left().len(), bench.dead().len()), (1, 0));
            }
        },
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_envelope_that_is_not_accepted_is_settled_like_poison() {
    let raw = r#"{"job":"urn:test:task","trace_id":"\t","data":{},"meta":{"schema_version":1},"attempts":0}"#;
    under_each(&RawMessage::new(raw), |bench, strategy, queue| {
        assert_eq!(bench.lab.kinds(), [ReportKind::NotAccepted]);
        if strategy != Some(UnknownUrn::Delete) && queue {
            let dead = bench.dead_json();
            assert_eq!(dead[0]["dead_letter"]["reason"], "poison");
            let error = dead[0]["dead_letter"]["error"].as_str().unwrap();
            assert!(error.contains("trace_id"), "{error}");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn another_body_version_goes_raw() {
    let raw = envelope("t", &["ok"]).replace("\"schema_version\":1", "\"schema_version\":2");
    under_each(&RawMessage::new(raw.clone()), |bench, strategy, queue| {
        assert_eq!(bench.lab.kinds(), [ReportKind::UnsupportedVersion]);
        if strategy != Some(UnknownUrn::Delete) && queue {
            assert_eq!(bench.dead()[0].body, raw);
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn lenient_acceptance_lets_the_handler_have_it() {
    let bench = Bench::new();
    let data = json!({ "name": "t", "attempts": ["ok"] });
    bench.put_raw(RawMessage::new(
        json!({ "job": "urn:test:task", "data": data }).to_string(),
    ));
    bench.run(bench.consumer().lenient(), SECOND).await;
    assert_eq!(bench.lab.calls(), ["t/0"]);
    assert!(bench.left().is_empty());
}

fn nobody() -> RawMessage {
    RawMessage::new(body("urn:babel:nobody:listens", &json!({})))
}

#[tokio::test(start_paused = true)]
async fn c_051_an_unknown_urn_goes_by_its_strategy() {
    let dlq = DeadLetterQueue::default_name;
    // Left: reported, hidden until its visibility timeout ends.
    for strategy in [None, Some(UnknownUrn::Fail)] {
        let bench = Bench::new();
        bench.put_raw(nobody());
        let mut consumer = bench.consumer().dead_letter_queue(dlq());
        if let Some(strategy) = strategy {
            consumer = consumer.unknown_urn(strategy);
        }
        bench.run(consumer, 20 * SECOND).await;
        assert_eq!((bench.left().len(), bench.dead().len()), (1, 0));
        assert_eq!(bench.left()[0].receive_count, 1, "it does not circle");
        let errors = bench.lab.errors();
        assert_eq!(errors.len(), 1);
        assert!(
            errors[0].2.contains("urn:babel:nobody:listens"),
            "{errors:?}"
        );
    }
    let bench = Bench::new();
    bench.put_raw(nobody());
    bench
        .run(bench.consumer().unknown_urn(UnknownUrn::Delete), SECOND)
        .await;
    assert!(bench.left().is_empty() && bench.lab.errors().is_empty());

    let bench = Bench::new();
    bench.put_raw(nobody());
    let delay = Duration::from_millis(9500);
    bench
        .run(
            bench.consumer().unknown_urn(UnknownUrn::Release { delay }),
            25 * SECOND,
        )
        .await;
    assert_eq!(bench.left()[0].receive_count, 3, "at 0, 10 and 20 s");

    let bench = Bench::new();
    bench.put_raw(nobody().receive_count(4));
    let consumer = bench
        .consumer()
        .unknown_urn(UnknownUrn::DeadLetter)
        .max_attempts(1);
    bench.run(consumer.dead_letter_queue(dlq()), SECOND).await;
    assert!(bench.left().is_empty());
    let dead = bench.dead_json();
    assert_eq!(dead[0]["dead_letter"]["reason"], "unknown_urn");
    assert_eq!(dead[0]["dead_letter"]["error"], serde_json::Value::Null);
    assert_eq!(
        (&dead[0]["attempts"], &dead[0]["dead_letter"]["attempts"]),
        (&json!(4), &json!(4))
    );
}

#[tokio::test(start_paused = true)]
async fn the_hook_stands_in_only_where_no_strategy_is_set() {
    // strategy, what the hook does, deleted?, reports
    let rows = [
        (None, "ok", true, vec![]),
        (None, "err", false, vec![ReportKind::Hook]),
        (None, "panic", false, vec![ReportKind::Hook]),
        (
            Some(UnknownUrn::Fail),
            "ok",
            false,
            vec![ReportKind::UnknownUrn],
        ),
        (
            Some(UnknownUrn::Fail),
            "err",
            false,
            vec![ReportKind::Hook, ReportKind::UnknownUrn],
        ),
        (
            Some(UnknownUrn::Delete),
            "err",
            true,
            vec![ReportKind::Hook],
        ),
    ];
    for (strategy, does, deleted, reports) in rows {
        let bench = Bench::new();
        bench.put_raw(nobody());
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let mut consumer = bench.consumer().on_unknown_urn(move |delivery| {
            assert_eq!(delivery.context().urn(), "urn:babel:nobody:listens");
            counted.fetch_add(1, Ordering::Relaxed);
            async move {
                match does {
                    "ok" => Ok(()),
                    "err" => Err("no"),
                    _ => panic!("hook"),
                }
            }
        });
        if let Some(strategy) = strategy {
            consumer = consumer.unknown_urn(strategy);
        }
        bench.run(consumer, 5 * SECOND).await;
        assert_eq!(bench.left().is_empty(), deleted, "{strategy:?} {does}");
        assert_eq!(bench.lab.kinds(), reports, "{strategy:?} {does}");
        assert_eq!(calls.load(Ordering::Relaxed), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn the_hook_never_stands_in_for_gated_or_poisoned_messages() {
    for message in [
        RawMessage::new("junk"),
        nobody().attribute("bq-schema-version", "String", "x"),
    ] {
        let bench = Bench::new();
        bench.put_raw(message);
        let consumer = bench
            .consumer()
            .on_unknown_urn(async |_| -> Result<(), String> {
                panic!("the hook must not be asked")
            });
        bench.run(consumer, SECOND).await;
        assert_eq!(bench.left().len(), 1, "left, not deleted");
        assert_eq!(bench.lab.errors().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn c_064_unreadable_bodies_beside_good_ones() {
    let good = envelope("x", &["ok"]);
    let nested = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let bad = [
        "hello",
        "",
        "null",
        "[]",
        "{",
        r#"{"job":1}"#,
        &nested,
        &format!("{good}}}"),
    ];
    let bench = Bench::new();
    let mut poisoned = Vec::new();
    for (i, body) in bad.iter().enumerate() {
        if i % 3 == 0 {
            bench.put(&format!("good{}", i / 3), &["ok"]);
        }
        poisoned.push(bench.put_raw(RawMessage::new(*body)));
    }
    let consumer = bench
        .consumer()
        .dead_letter_queue(DeadLetterQueue::default_name());
    bench.run(consumer, 5 * SECOND).await;
    let mut calls = bench.lab.calls();
    calls.sort();
    assert_eq!(calls, ["good0/0", "good1/0", "good2/0"]);
    assert!(bench.left().is_empty());
    assert_eq!(bench.dead().len(), bad.len());
    for record in bench.dead_json() {
        assert_eq!(record["dead_letter"]["reason"], "poison");
    }
    let mut reported: Vec<_> = bench
        .lab
        .errors()
        .into_iter()
        .map(|(_, id, _)| id)
        .collect();
    reported.sort();
    poisoned.sort();
    assert_eq!(reported, poisoned, "each by its message id");
    assert!(
        bench
            .lab
            .errors()
            .iter()
            .all(|(_, _, text)| text.len() < 200)
    );
}
