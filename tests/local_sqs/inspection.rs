//! What tests can see of a server and put into it.

use std::time::Duration;

use aws_sdk_sqs::types::MessageSystemAttributeName as System;
use babelqueue::local::{CallOutcome, Operation, RawMessage};
use tokio::time::{Instant, sleep};

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn a_raw_message_may_be_what_sqs_would_refuse() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let raw = RawMessage::new("a\0b")
        .attribute("AWS.odd", "Odd", "")
        .binary_attribute("bytes", "Binary", [0xFF])
        .receive_count(41)
        .group_id("not allowed")
        .trace_header("t")
        .age(Duration::from_secs(100));
    let id = local.inject_raw("q", raw);
    let message = receive_one(&client, &url).await;
    assert_eq!(message.message_id(), Some(id.as_str()));
    assert_eq!(message.body(), Some("a\0b"));
    assert_eq!(
        message.message_attributes().unwrap()["AWS.odd"].data_type(),
        "Odd"
    );
    assert_eq!(
        system(&message, System::ApproximateReceiveCount),
        Some("42")
    );
    assert_eq!(
        system(&message, System::MessageGroupId),
        Some("not allowed")
    );
    assert_eq!(system(&message, System::AwsTraceHeader), Some("t"));
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_shows_where_messages_stand() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    send(&client, &url, "taken").await;
    receive_one(&client, &url).await;
    let send = client.send_message().queue_url(&url).message_body("seen");
    send.message_attributes("k", text("v"))
        .send()
        .await
        .unwrap();
    local.inject_raw(&url, RawMessage::new("later").delay(Duration::from_secs(5)));
    let snapshot = local.snapshot("q");
    assert_eq!(snapshot.visible[0].body, "seen");
    assert_eq!(snapshot.visible[0].attributes["k"].text(), Some("v"));
    assert_eq!(snapshot.visible[0].visible_in, Duration::ZERO);
    assert_eq!(snapshot.in_flight[0].body, "taken");
    assert_eq!(snapshot.in_flight[0].receive_count, 1);
    assert_eq!(snapshot.in_flight[0].visible_in, Duration::from_secs(30));
    assert_eq!(snapshot.delayed[0].visible_in, Duration::from_secs(5));
    assert_eq!(snapshot.len(), 3);
    // Looking changes nothing.
    assert_eq!(local.snapshot("q"), snapshot);
}

#[tokio::test(start_paused = true)]
async fn the_log_of_calls() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    send(&client, &url, "x").await;
    sleep(Duration::from_secs(3)).await;
    let _ = client
        .delete_message()
        .queue_url(&url)
        .receipt_handle("garbage")
        .send()
        .await;
    let calls = local.calls();
    assert_eq!(calls.total(), 2);
    assert_eq!(calls.count(Operation::SendMessage), 1);
    assert_eq!(calls.count(Operation::ReceiveMessage), 0);
    let delete = calls.of(Operation::DeleteMessage).next().unwrap();
    assert_eq!(delete.queue.as_deref(), Some("q"));
    assert_eq!(delete.at, Duration::from_secs(3));
    assert_eq!(
        delete.outcome,
        CallOutcome::Refused("ReceiptHandleIsInvalid".to_owned())
    );
    assert_eq!(delete.request, None);
    local.clear_calls();
    assert_eq!(local.calls().total(), 0);
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_queue_to_be_empty() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    send(&client, &url, "x").await;
    let start = Instant::now();
    let handling = async {
        let message = receive_one(&client, &url).await;
        sleep(Duration::from_secs(4)).await;
        delete(&client, &url, &message).await;
    };
    tokio::join!(handling, local.wait_until_empty(&url));
    assert_eq!(start.elapsed(), Duration::from_secs(4));
}

#[tokio::test(start_paused = true)]
async fn waiting_for_what_only_time_brings() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    send(&client, &url, "x").await;
    receive_one(&client, &url).await;
    let start = Instant::now();
    let seen = local
        .wait_until(&url, |queue| queue.visible.len() == 1)
        .await;
    assert_eq!(seen.visible[0].receive_count, 1);
    assert_eq!(start.elapsed(), Duration::from_secs(30));
}
