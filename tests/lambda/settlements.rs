//! What becomes of messages by the rules of the contract: the table of SPEC §4.11.

use babelqueue::lambda::Invocation;
use babelqueue::local::{Operation, RawMessage, Refusal};
use babelqueue::prelude::*;
use babelqueue::{LambdaConsumer, ReportKind};
use serde_json::{Value, json};

use crate::support::{
    Bench, Lab, SECOND, Task, body, consumer, does, event, failures, fifo_tasks, many_does, record,
    with_attribute,
};

fn dead(bench: &Bench) -> Vec<Value> {
    let dlq = babelqueue::policy::dead_letter_name(&bench.queue, None).unwrap();
    let snapshot = bench.sqs.snapshot(&dlq);
    let read = |message: &babelqueue::local::MessageSnapshot| {
        serde_json::from_str(&message.body).unwrap_or(Value::Null)
    };
    snapshot.visible.iter().map(read).collect()
}

#[tokio::test(start_paused = true)]
async fn without_a_dead_letter_queue_nothing_hopeless_is_done() {
    let lab = Lab::default();
    let consumer = consumer(&lab).build().unwrap();
    let unknown = body("urn:test:unknown", "u", &json!({}));
    let gated = record("orders", "gated", &does("x", "ok"));
    let records = [
        record("orders", "permanent", &does("a", "permanent")),
        record("orders", "unknown", &unknown),
        with_attribute("bq-schema-version", "2", gated),
        record("orders", "poison", "null"),
    ];
    let failed = failures(&consumer, event(records)).await;
    assert_eq!(failed, ["permanent", "unknown", "gated", "poison"]);
    let mut kinds = lab.kinds();
    kinds.sort_by_key(|kind| kind.as_str());
    let expected = [
        ReportKind::Handler,
        ReportKind::Poison,
        ReportKind::UnknownUrn,
        ReportKind::VersionGate,
    ];
    assert_eq!(kinds, expected);
}

#[tokio::test(start_paused = true)]
async fn with_one_the_copy_is_sent_and_the_message_is_done() {
    let bench = Bench::new();
    let consumer = bench
        .consumer()
        .dead_letter_queue(DeadLetterQueue::default_name())
        .unknown_urn(UnknownUrn::DeadLetter)
        .max_attempts(3)
        .build()
        .unwrap();
    bench.put("permanent", "permanent");
    bench.put_raw(RawMessage::new(does("exhausted", "fail")).receive_count(2));
    bench.put("again", "fail");
    bench.put_raw(RawMessage::new(body("urn:test:unknown", "u", &json!({}))));
    bench.put_raw(RawMessage::new("{broken"));
    bench.put_raw(RawMessage::new(does("gated", "ok")).attribute(
        "bq-schema-version",
        "Number",
        "2",
    ));
    let mut events = bench.receive().await;
    let again = events.records()[2].message_id().to_owned();
    let gated = events.records()[5].message_id().to_owned();
    // The mapping delivers attributes, which the helper leaves out.
    let mut raw = record("orders", &gated, events.records()[5].body());
    raw["eventSourceARN"] = json!(events.records()[5].event_source_arn());
    let raw = with_attribute("bq-schema-version", "2", raw);
    let last = event([raw]);
    assert_eq!(
        failures(&consumer, std::mem::take(&mut events)).await,
        [again]
    );
    assert!(failures(&consumer, last).await.is_empty());
    let dead = dead(&bench);
    let reasons: Vec<_> = dead
        .iter()
        .map(|letter| letter["dead_letter"]["reason"].as_str().unwrap_or("raw"))
        .collect();
    let mut sorted = reasons.clone();
    sorted.sort();
    assert_eq!(sorted, ["failed", "failed", "poison", "raw", "unknown_urn"]);
    let exhausted = dead
        .iter()
        .find(|letter| letter["data"]["name"] == "exhausted")
        .unwrap();
    assert_eq!(exhausted["attempts"], 3);
    assert_eq!(exhausted["dead_letter"]["original_queue"], "orders");
    assert_eq!(bench.sqs.calls().count(Operation::DeleteMessage), 0);
    assert_eq!(bench.sqs.calls().count(Operation::DeleteMessageBatch), 0);
}

#[tokio::test(start_paused = true)]
async fn a_copy_that_cannot_be_sent_leaves_its_message() {
    let bench = Bench::new();
    let consumer = bench
        .consumer()
        .dead_letter_queue(DeadLetterQueue::default_name())
        .build()
        .unwrap();
    bench.put("a", "permanent");
    bench.put("b", "ok");
    let event = bench.receive().await;
    let a = event.records()[0].message_id().to_owned();
    bench
        .sqs
        .faults()
        .on(Operation::SendMessage)
        .refuse(Refusal::AccessDenied);
    assert_eq!(failures(&consumer, event.clone()).await, [a]);
    assert_eq!(
        bench.lab.kinds(),
        [ReportKind::Handler, ReportKind::DeadLetter]
    );
    assert!(dead(&bench).is_empty());
    bench.sqs.faults().clear();
    assert!(failures(&consumer, event).await.is_empty());
    assert_eq!(dead(&bench).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn on_fifo_a_dead_lettered_record_counts_as_done_after_its_copy_was_sent() {
    let bench = Bench::fifo();
    let consumer = bench
        .consumer()
        .dead_letter_queue(DeadLetterQueue::default_name())
        .build()
        .unwrap();
    bench.put("a", "permanent");
    bench.put_raw(RawMessage::new("broken"));
    bench.put("b", "ok");
    let event = bench.receive().await;
    assert_eq!(event.len(), 3);
    let ids: Vec<_> = event
        .records()
        .iter()
        .map(|r| r.message_id().to_owned())
        .collect();
    bench
        .sqs
        .faults()
        .on(Operation::SendMessage)
        .once()
        .refuse(Refusal::AccessDenied);
    assert_eq!(
        failures(&consumer, event.clone()).await,
        ids,
        "the copy failed: all stop"
    );
    assert_eq!(bench.lab.take(), ["a"]);
    assert!(failures(&consumer, event).await.is_empty());
    assert_eq!(bench.lab.take(), ["a", "b"]);
    assert_eq!(dead(&bench).len(), 2);
    assert_eq!(
        bench.changes(),
        [] as [i64; 0],
        "no visibility is changed on FIFO"
    );
}

#[tokio::test(start_paused = true)]
async fn a_message_behind_a_failure_is_not_dead_lettered_before_its_turn() {
    let bench = Bench::fifo();
    let consumer = bench
        .consumer()
        .dead_letter_queue(DeadLetterQueue::default_name())
        .build()
        .unwrap();
    bench.put("a", "fail");
    bench.put_raw(RawMessage::new("broken"));
    assert_eq!(failures(&consumer, bench.receive().await).await.len(), 2);
    assert!(dead(&bench).is_empty());
    assert_eq!(bench.lab.kinds(), [ReportKind::Handler], "nor reported");
    // Nor when one batch has both.
    let bench = Bench::fifo();
    let consumer = bench
        .consumer()
        .dead_letter_queue(DeadLetterQueue::default_name())
        .build()
        .unwrap();
    for (name, what) in [("a", "fail"), ("b", "permanent")] {
        bench.put_raw(RawMessage::new(many_does(name, what)));
    }
    assert_eq!(failures(&consumer, bench.receive().await).await.len(), 2);
    assert!(dead(&bench).is_empty());
}

#[tokio::test(start_paused = true)]
async fn unknown_urns_by_strategy() {
    let unknown = || RawMessage::new(body("urn:test:unknown", "u", &json!({})));
    let delay = std::time::Duration::from_secs(17);
    let rows = [
        (Some(UnknownUrn::Fail), 1, vec![]),
        (Some(UnknownUrn::Delete), 0, vec![]),
        (Some(UnknownUrn::Release { delay }), 1, vec![17]),
        (None, 1, vec![]),
    ];
    for (strategy, listed, changes) in rows {
        let bench = Bench::new();
        let mut consumer = bench.consumer();
        if let Some(strategy) = strategy {
            consumer = consumer.unknown_urn(strategy);
        }
        let consumer = consumer.build().unwrap();
        bench.put_raw(unknown());
        assert_eq!(
            failures(&consumer, bench.receive().await).await.len(),
            listed
        );
        assert_eq!(bench.changes(), changes, "{strategy:?}");
    }
    // The hook stands in for a strategy.
    let bench = Bench::new();
    let hook = |_| async { Ok::<_, babelqueue::BoxError>(()) };
    let consumer = bench.consumer().on_unknown_urn(hook).build().unwrap();
    bench.put_raw(unknown());
    assert!(failures(&consumer, bench.receive().await).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_dead_letter_queue_of_the_wrong_kind_is_none() {
    let bench = Bench::new();
    let fifo = DeadLetterQueue::name("dead.fifo");
    let consumer = bench.consumer().dead_letter_queue(fifo).build().unwrap();
    bench.put("a", "permanent");
    assert_eq!(failures(&consumer, bench.receive().await).await.len(), 1);
    assert_eq!(bench.sqs.calls().count(Operation::SendMessage), 0);
}

#[tokio::test(start_paused = true)]
async fn a_queue_is_not_its_own_dead_letter_queue() {
    let bench = Bench::new();
    let by_url = DeadLetterQueue::url(bench.sqs.queue_url("orders"));
    for own in [DeadLetterQueue::name("orders"), by_url] {
        let consumer = bench.consumer().dead_letter_queue(own).build().unwrap();
        bench.put("a", "permanent");
        assert_eq!(failures(&consumer, bench.receive().await).await.len(), 1);
        assert_eq!(bench.sqs.calls().count(Operation::SendMessage), 0);
    }
    let errors = bench.lab.errors();
    let told = |error: &String| error.contains("its own dead-letter queue");
    assert!(errors.iter().any(told), "{errors:?}");
}

#[tokio::test(start_paused = true)]
async fn attempts_are_reconciled_with_the_records_receive_count() {
    #[babelqueue::babel_handler]
    async fn counted(
        _: crate::support::Task,
        babelqueue::Attempts(attempts): babelqueue::Attempts,
        babelqueue::State(lab): babelqueue::State<Lab>,
    ) {
        lab.note(attempts.to_string());
    }
    let lab = Lab::default();
    let router = babelqueue::Router::from_handlers![counted];
    let consumer = babelqueue::LambdaConsumer::builder(router)
        .state(lab.clone())
        .build()
        .unwrap();
    let mut third = record("orders", "a", &does("a", "ok"));
    third["attributes"]["ApproximateReceiveCount"] = json!("3");
    assert!(failures(&consumer, event([third])).await.is_empty());
    assert!(
        failures(&consumer, fifo_tasks(&[("A1", "ok")]))
            .await
            .is_empty()
    );
    assert_eq!(lab.calls(), ["2", "0"]);
}

#[tokio::test(start_paused = true)]
async fn what_a_handler_answers_stands_beside_its_report() {
    #[babel_handler]
    async fn says(task: Task, ctx: &Context, invocation: &Invocation) -> Outcome {
        invocation.add_failed_message(&ctx.source().message_id);
        assert_eq!(task.does, "later");
        Outcome::retry_after(77 * SECOND)
    }
    let bench = Bench::new();
    let consumer = LambdaConsumer::builder(Router::from_handlers![says])
        .client(bench.sqs.client())
        .build()
        .unwrap();
    bench.put("a", "later");
    assert_eq!(failures(&consumer, bench.receive().await).await.len(), 1);
    assert_eq!(bench.changes(), [77]);
}

#[tokio::test(start_paused = true)]
async fn what_is_in_the_dead_letter_queue_does_not_come_again_for_being_reported() {
    for what in ["report", "report fail", "report permanent"] {
        let bench = Bench::new();
        let consumer = bench
            .consumer()
            .max_attempts(1)
            .dead_letter_queue(DeadLetterQueue::default_name())
            .build()
            .unwrap();
        bench.put("a", what);
        let failed = failures(&consumer, bench.receive().await).await;
        assert_eq!((failed.len(), dead(&bench).len()), (0, 1), "{what}");
    }
}
