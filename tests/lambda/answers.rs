//! Event in, failures out: what is listed, what is refused, and what no invocation leaves behind.

use babelqueue::idempotency::{Idempotency, MemoryStore};
use babelqueue::lambda::{Event, EventError, Invocation};
use babelqueue::{LambdaConsumer, prelude::*};
use serde_json::{Value, json};

use crate::support::{Lab, SECOND, consumer, does, event, failures, many_does, record, tasks};

#[tokio::test(start_paused = true)]
async fn b6_the_answer_is_what_lambda_expects() {
    let lab = Lab::default();
    let consumer = consumer(&lab).build().unwrap();
    let none = consumer
        .invoke(tasks(&[("a", "ok")]), Invocation::new("", None))
        .await;
    assert_eq!(
        serde_json::to_string(&none).unwrap(),
        r#"{"batchItemFailures":[]}"#
    );
    let some = tasks(&[
        ("a", "fail"),
        ("b", "ok"),
        ("c", "panic"),
        ("d", "permanent"),
    ]);
    let some = consumer.invoke(some, Invocation::new("", None)).await;
    assert_eq!(
        serde_json::to_string(&some).unwrap(),
        r#"{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":"c"},{"itemIdentifier":"d"}]}"#
    );
}

#[tokio::test(start_paused = true)]
async fn c_104_a_whole_batch_fails_over_one_unreadable_record() {
    let lab = Lab::default();
    let consumer = consumer(&lab).build().unwrap();
    let records = [
        record("orders", "1", &does("a", "ok")),
        record("orders", "2", r#"{"job":"urn:babel:orders:created""#),
        record("orders", "3", &does("b", "ok")),
    ];
    assert_eq!(failures(&consumer, event(records)).await, ["2"]);
    assert_eq!(lab.calls(), ["a", "b"]);
    // The same in a batch.
    lab.take();
    let records = [
        record("orders", "1", &many_does("a", "ok")),
        record("orders", "2", "no json"),
        record(
            "orders",
            "3",
            &many_does("b", "ok").replace("\"does\"", "\"did\""),
        ),
        record("orders", "4", &many_does("c", "ok")),
    ];
    assert_eq!(failures(&consumer, event(records)).await, ["2", "3"]);
    assert_eq!(lab.calls(), ["[a c]"]);
}

#[tokio::test(start_paused = true)]
async fn c_104_a_record_with_any_other_defect_fails_alone() {
    let lab = Lab::default();
    let consumer = consumer(&lab).build().unwrap();
    let spoiled = |name: &str, member: &str, value: Value| {
        let mut record = record("orders", name, &does(name, "ok"));
        match value {
            Value::Object(_) => drop(record.as_object_mut().unwrap().remove(member)),
            value => record[member] = value,
        }
        record
    };
    let gone = || json!({});
    let records = [
        spoiled("body-gone", "body", gone()),
        spoiled("body-null", "body", Value::Null),
        spoiled("body-number", "body", json!(7)),
        spoiled("handle-gone", "receiptHandle", gone()),
        spoiled("arn-null", "eventSourceARN", Value::Null),
        spoiled("attributes-list", "messageAttributes", json!([])),
        // None of these is a defect.
        spoiled("attributes-null", "messageAttributes", Value::Null),
        spoiled("attributes-gone", "messageAttributes", gone()),
        spoiled("system-null", "attributes", Value::Null),
        spoiled("md5-gone", "md5OfBody", gone()),
    ];
    let failed = failures(&consumer, event(records)).await;
    let bad = [
        "body-gone",
        "body-null",
        "body-number",
        "handle-gone",
        "arn-null",
        "attributes-list",
    ];
    assert_eq!(failed, bad);
    assert_eq!(
        lab.calls(),
        [
            "attributes-null",
            "attributes-gone",
            "system-null",
            "md5-gone"
        ]
    );
    assert_eq!(lab.errors().len(), bad.len());
    assert!(
        lab.errors()[0].contains("`body` is missing"),
        "{:?}",
        lab.errors()
    );
}

#[test]
fn c_105_a_response_with_ids_that_mean_nothing() {
    for id in [None, Some(json!("")), Some(Value::Null), Some(json!(5))] {
        let mut odd = record("orders", "x", "{}");
        match &id {
            None => drop(odd.as_object_mut().unwrap().remove("messageId")),
            Some(id) => odd["messageId"] = id.clone(),
        }
        let event = json!({ "Records": [record("orders", "a", "{}"), odd] });
        let error = Event::try_from(event).unwrap_err();
        assert_eq!(error, EventError::NoMessageId { at: 1 }, "{id:?}");
    }
}

#[test]
fn c_108_records_in_the_shape_of_receive_message() {
    let odd = [
        json!({ "Messages": [{ "MessageId": "a", "Body": "{}" }] }),
        json!([record("orders", "a", "{}")]),
        json!({ "Records": null }),
        json!({ "Records": {} }),
        json!({ "records": [] }),
        json!({}),
        json!(null),
        json!("x"),
    ];
    for event in odd {
        let error = Event::try_from(event.clone()).unwrap_err();
        assert_eq!(error, EventError::NoRecords, "{event}");
        assert!(error.to_string().contains("no SQS event"));
        // As the runtime reads it.
        assert!(serde_json::from_value::<Event>(event).is_err());
    }
    // An event of another service has records, and none with an id.
    let s3 = json!({ "Records": [{ "eventSource": "aws:s3", "s3": {} }] });
    assert!(matches!(
        Event::try_from(s3),
        Err(EventError::NoMessageId { at: 0 })
    ));
}

#[tokio::test(start_paused = true)]
async fn c_109_a_batch_in_which_all_failed_cold_and_warm() {
    let lab = Lab::default();
    let consumer = consumer(&lab).build().unwrap();
    let failing = || tasks(&[("a", "fail")]);
    assert_eq!(failures(&consumer, failing()).await, ["a"]);
    assert_eq!(failures(&consumer, failing()).await, ["a"]);
    assert!(failures(&consumer, tasks(&[("a", "ok")])).await.is_empty());
    assert_eq!(
        failures(&consumer, failing()).await,
        ["a"],
        "all of them are listed"
    );
}

#[tokio::test(start_paused = true)]
async fn b2_each_record_has_a_call_and_they_run_at_the_same_time_up_to_the_bound() {
    let lab = Lab::default();
    let consumer = consumer(&lab).concurrency(3).build().unwrap();
    let names: Vec<_> = (0..10).map(|i| i.to_string()).collect();
    let all: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), "sleep=10 ok"))
        .collect();
    let begun = tokio::time::Instant::now();
    assert!(failures(&consumer, tasks(&all)).await.is_empty());
    assert_eq!((lab.calls().len(), lab.most_at_once()), (10, 3));
    assert_eq!(begun.elapsed().as_secs(), 40, "four rounds of ten seconds");
}

#[tokio::test(start_paused = true)]
async fn b6_failures_are_reported_by_id_from_any_task_once_and_known() {
    #[babel_handler]
    async fn reports(_: crate::support::Task, invocation: &Invocation) {
        let invocation = invocation.clone();
        let other = tokio::spawn(async move {
            for id in ["c", "a", "c", "", "foreign"] {
                invocation.add_failed_message(id);
            }
        });
        other.await.unwrap();
    }
    let consumer = LambdaConsumer::builder(Router::from_handlers![reports])
        .build()
        .unwrap();
    let records = ["a", "b", "c"].map(|name| record("orders", name, &does(name, "ok")));
    assert_eq!(failures(&consumer, event(records)).await, ["a", "c"]);
}

#[tokio::test(start_paused = true)]
async fn b26_one_line_runs_under_lambda() {
    let lab = Lab::default();
    let consumer = consumer(&lab).build().unwrap();
    let service = lambda_runtime::service_fn(|event| consumer.handle(event));
    let mut context = lambda_runtime::Context::default();
    context.request_id = "req-7".to_owned();
    let event = lambda_runtime::LambdaEvent::new(tasks(&[("a", "fail")]), context);
    let answer = lambda_runtime::tower::Service::call(&mut { service }, event)
        .await
        .unwrap();
    assert_eq!(answer.batch_item_failures[0].item_identifier, "a");
}

#[tokio::test(start_paused = true)]
async fn b27_the_kind_of_handling_is_chosen_by_the_event() {
    #[babel_handler(batch)]
    async fn together(all: Batch<crate::support::Task>, State(lab): State<Lab>) {
        lab.note(format!("{} together", all.len()));
    }
    let lab = Lab::default();
    let single = consumer(&lab).build().unwrap();
    let batch = LambdaConsumer::builder(Router::from_handlers![together]);
    let batch = batch.state(lab.clone()).build().unwrap();
    let handles_batch = |event: &Event| event.len() > 1;
    for event in [tasks(&[("a", "ok")]), tasks(&[("b", "ok"), ("c", "ok")])] {
        let consumer = if handles_batch(&event) {
            &batch
        } else {
            &single
        };
        assert!(failures(consumer, event).await.is_empty());
    }
    assert_eq!(lab.calls(), ["a", "2 together"]);
}

#[tokio::test(start_paused = true)]
async fn hooks_are_called_around_an_invocation_and_a_panic_in_one_is_only_logged() {
    let lab = Lab::default();
    let (start, end) = (lab.clone(), lab.clone());
    let consumer = consumer(&lab)
        .on_start(move |invocation| {
            start.note(format!("start {}", invocation.request_id()));
            async { panic!("in on_start") }
        })
        .on_end(move |_| {
            let lab = end.clone();
            async move {
                tokio::time::sleep(SECOND).await;
                lab.note("end");
            }
        })
        .build()
        .unwrap();
    assert_eq!(failures(&consumer, tasks(&[("a", "fail")])).await, ["a"]);
    assert_eq!(lab.calls(), ["start req-1", "a", "end"]);
}

#[tokio::test(start_paused = true)]
async fn what_was_discarded_is_done() {
    let lab = Lab::default();
    let consumer = consumer(&lab).build().unwrap();
    assert!(
        failures(&consumer, tasks(&[("a", "discard")]))
            .await
            .is_empty()
    );
}

#[tokio::test(start_paused = true)]
async fn an_event_of_the_largest_size_is_handled_to_the_end() {
    let lab = Lab::default();
    let consumer = consumer(&lab).concurrency(1000).build().unwrap();
    let names: Vec<_> = (0..10_000).map(|i| i.to_string()).collect();
    let all: Vec<_> = names
        .iter()
        .map(|name| {
            (
                name.as_str(),
                if name.ends_with("77") { "fail" } else { "ok" },
            )
        })
        .collect();
    let failed = failures(&consumer, tasks(&all)).await;
    let expected = names.iter().filter(|name| name.ends_with("77"));
    assert_eq!(failed, expected.cloned().collect::<Vec<_>>());
    assert_eq!(lab.calls().len(), 10_000);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_came_twice_is_listed_once_if_either_delivery_failed() {
    let lab = Lab::default();
    let consumer = consumer(&lab).build().unwrap();
    let records = [
        ("a", "ok"),
        ("b", "fail"),
        ("b", "ok"),
        ("c", "ok"),
        ("a", "fail"),
    ]
    .map(|(id, what)| record("orders", id, &does(id, what)));
    assert_eq!(failures(&consumer, event(records)).await, ["b", "a"]);
    assert_eq!(lab.calls().len(), 5);
    let both = ["fail", "panic"].map(|what| record("orders", "a", &does("a", what)));
    assert_eq!(failures(&consumer, event(both)).await, ["a"]);
}

#[tokio::test(start_paused = true)]
async fn an_empty_event_is_answered_without_failures() {
    let consumer = consumer(&Lab::default()).build().unwrap();
    assert!(failures(&consumer, event([])).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_is_reported_after_its_handler_succeeded_is_not_a_duplicate_next_time() {
    #[babel_handler]
    async fn tells(task: crate::support::Task, invocation: &Invocation, State(lab): State<Lab>) {
        lab.note(task.name);
        if task.does == "tells" {
            tokio::time::sleep(SECOND).await;
            invocation.add_failed_message("a");
        }
    }
    let lab = Lab::default();
    let claims = Idempotency::claims(MemoryStore::new());
    for guard in [claims, Idempotency::new(MemoryStore::new())] {
        let consumer = LambdaConsumer::builder(Router::from_handlers![tells])
            .state(lab.clone())
            .idempotency(guard)
            .on_end(|invocation| async move { invocation.add_failed_message("c") })
            .build()
            .unwrap();
        let all = tasks(&[("a", "ok"), ("b", "tells"), ("c", "ok")]);
        assert_eq!(failures(&consumer, all).await, ["a", "c"]);
        lab.take();
        let again = tasks(&[("a", "ok"), ("b", "ok"), ("c", "ok")]);
        assert_eq!(failures(&consumer, again).await, ["c"]);
        assert_eq!(lab.take(), ["a", "c"], "and `b` is one");
    }
}
