//! Section `delay`: the delay of a publish, and the visibility change of a release.

use std::time::Duration;

use babelqueue::SqsPublisher;
use babelqueue::local::{Operation, RawMessage};
use serde_json::json;

use crate::case::Case;
use crate::compare::expect;
use crate::ensure;
use crate::run::Verdict;
use crate::world::{Answer, World};

pub async fn run(case: &Case) -> Verdict {
    let seconds = case.value["delay_seconds"]
        .as_u64()
        .ok_or("no delay_seconds")?;
    let delay = Duration::from_secs(seconds);
    if case.part() == "release_visibility" {
        return release(case, delay).await;
    }
    let (name, fifo) = match case.text("queue_type")? {
        "standard" => ("orders", false),
        "fifo" => ("orders.fifo", true),
        other => return Err(format!("unknown queue type {other}")),
    };
    let world = World::with_queue(name);
    let publisher = SqsPublisher::new(world.sqs.client(), &world.queue);
    let mut publish = publisher
        .publish_json("urn:babel:orders:created", &json!({}))
        .delay(delay);
    if fifo {
        publish = publish.group_id("g");
    }
    let sent = publish.await;
    if let Some(word) = case.value["expect"].as_str() {
        ensure!(word == "reject", "unknown expectation {word}");
        ensure!(sent.is_err(), "it was sent");
        ensure!(world.count(Operation::SendMessage) == 0, "a call was made");
        return Ok(());
    }
    sent.map_err(|error| error.to_string())?;
    let requests = world.requests(Operation::SendMessage);
    ensure!(requests.len() == 1, "{} sends", requests.len());
    let expected = &case.value["expect"]["delay_seconds_attribute"];
    expect("DelaySeconds", &requests[0]["DelaySeconds"], expected)
}

/// A handler asks for the pause; exactly one visibility change carries it.
async fn release(case: &Case, delay: Duration) -> Verdict {
    let world = World::new();
    world.log.seen().answer = Answer::RetryAfter(delay);
    let body = case.suite.file("fixtures/order-created.json")?;
    world.put(RawMessage::new(String::from_utf8_lossy(body)));
    let consumer = world
        .consumer()
        .build()
        .map_err(|error| error.to_string())?;
    consumer.poll().await.map_err(|error| error.to_string())?;
    ensure!(world.handled().len() == 1, "{:?}", world.handled());
    let timeouts: Vec<_> = [
        Operation::ChangeMessageVisibility,
        Operation::ChangeMessageVisibilityBatch,
    ]
    .into_iter()
    .flat_map(|operation| world.requests(operation))
    .flat_map(|request| match request["Entries"].as_array() {
        Some(entries) => entries.clone(),
        None => vec![request],
    })
    .map(|change| change["VisibilityTimeout"].clone())
    .collect();
    let expected = json!([case.value["expect"]["visibility_timeout"]]);
    expect("the visibility changes", &json!(timeouts), &expected)
}
