//! Recorded shapes of events, as Lambda sends them; the values are made up.

use babelqueue::lambda::{Event, attempt_of};
use babelqueue::prelude::*;
use babelqueue::{LambdaConsumer, Source};
use serde::{Deserialize, Serialize};

use crate::support::{Lab, failures};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    order_id: u64,
}

#[babel_handler]
async fn order_created(
    order: OrderCreated,
    headers: &Headers,
    source: &Source,
    State(lab): State<Lab>,
) {
    let names: Vec<_> = headers.iter().map(|(name, _)| name.to_owned()).collect();
    lab.note(format!(
        "{} of {}, receive {:?}, group {:?}, {}",
        order.order_id,
        source.queue,
        source.receive_count.unwrap_or_default(),
        source.group_id.as_deref().unwrap_or_default(),
        names.join(" "),
    ));
}

fn read(name: &str) -> Event {
    let path = format!(
        "{}/tests/lambda/events/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let json = std::fs::read_to_string(path).unwrap();
    // The types of `aws_lambda_events` read the same.
    let typed: aws_lambda_events::sqs::SqsEvent = serde_json::from_str(&json).unwrap();
    let event: Event = serde_json::from_str(&json).unwrap();
    let attempts: Vec<_> = typed.records.iter().map(attempt_of).collect();
    let ours: Vec<_> = event
        .records()
        .iter()
        .map(|record| record.attempt())
        .collect();
    assert_eq!(attempts, ours);
    let again = Event::try_from(typed).unwrap();
    for (record, again) in event.records().iter().zip(again.records()) {
        assert_eq!(record.body(), again.body());
        assert_eq!(record.group_id(), again.group_id());
        assert_eq!(record.attribute("bq-job"), again.attribute("bq-job"));
    }
    event
}

async fn handled(name: &str) -> (Vec<String>, Vec<String>) {
    let lab = Lab::default();
    let consumer = LambdaConsumer::builder(Router::from_handlers![order_created]);
    let consumer = consumer.state(lab.clone()).build().unwrap();
    let failed = failures(&consumer, read(name)).await;
    (lab.calls(), failed)
}

#[tokio::test(start_paused = true)]
async fn recorded_events_of_real_shapes() {
    let contract =
        "bq-created-at bq-job bq-message-id bq-schema-version bq-source-lang bq-trace-id";
    let (calls, failed) = handled("standard").await;
    assert_eq!(
        calls,
        [
            format!("1042 of orders, receive 1, group \"\", {contract} tenant"),
            "1043 of orders, receive 4, group \"\", ".to_owned(),
        ]
    );
    assert_eq!(
        failed,
        ["2e1424d4-f796-459a-8184-9c92662be6da"],
        "a cut-off body"
    );

    let (calls, failed) = handled("fifo").await;
    assert_eq!(
        calls,
        [
            format!("7 of orders.fifo, receive 1, group \"customer-7\", {contract}"),
            format!("8 of orders.fifo, receive 1, group \"customer-7\", {contract}"),
        ]
    );
    assert!(failed.is_empty());

    // A binary attribute is no header, and one that is named as the gate's closes nothing.
    let (calls, failed) = handled("binary_attributes").await;
    assert_eq!(
        calls,
        ["9 of orders, receive 1, group \"tenant-a\", tenant"]
    );
    assert!(failed.is_empty());
}
