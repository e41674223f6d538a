//! The types of `aws_lambda_events` and `lambda_runtime` go in and come out.

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use babelqueue::lambda::{Event, EventRecord, Invocation, attempt_of};
use serde_json::json;

use crate::support::{Lab, consumer, does, record};

#[tokio::test(start_paused = true)]
async fn b32_typed_events_go_in_and_a_typed_answer_comes_out() {
    let records = [
        record("orders", "a", &does("a", "fail")),
        record("orders", "b", &does("b", "ok")),
    ];
    let typed: SqsEvent = serde_json::from_value(json!({ "Records": records })).unwrap();
    let [first, _]: &[SqsMessage] = &typed.records[..] else {
        panic!("two records")
    };
    assert_eq!(attempt_of(first), 1);
    let event = Event::try_from(typed.clone()).unwrap();
    let names = event.records().iter().map(EventRecord::message_id);
    assert_eq!(names.collect::<Vec<_>>(), ["a", "b"]);
    let lab = Lab::default();
    let consumer = consumer(&lab).build().unwrap();
    let answer: SqsBatchResponse = consumer.invoke(event, Invocation::new("r", None)).await;
    assert_eq!(answer.batch_item_failures[0].item_identifier, "a");
    // Clones share what they remember, and may go to another thread.
    fn shared<T: Clone + Send + Sync + 'static>(_: &T) {}
    shared(&consumer);
    // Without an id there is no answer that could name it, whatever the type.
    let mut odd = typed;
    odd.records[1].message_id = None;
    assert!(Event::try_from(odd).is_err());
}
