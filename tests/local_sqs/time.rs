//! Time is tokio's, and what is due is due exactly.

use std::time::{Duration, SystemTime};

use babelqueue::local::LocalSqs;
use tokio::time::{Instant, advance};

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn twelve_hours_of_visibility_pass_in_no_time() {
    let (local, client) = sqs();
    let url = queue(&local, "q", &[("VisibilityTimeout", "43200")]);
    send(&client, &url, "x").await;
    receive_one(&client, &url).await;
    let start = Instant::now();
    advance(Duration::from_secs(43_190)).await;
    assert_eq!(receive_with(&client, &url, 1, 20, None).await.len(), 1);
    assert_eq!(start.elapsed(), Duration::from_secs(43_200));
}

#[tokio::test(start_paused = true)]
async fn messages_expire_with_the_retention_period_wherever_they_stand() {
    let (local, client) = sqs();
    let url = queue(
        &local,
        "q",
        &[
            ("MessageRetentionPeriod", "60"),
            ("VisibilityTimeout", "600"),
        ],
    );
    send(&client, &url, "taken").await;
    receive_one(&client, &url).await;
    send(&client, &url, "waiting").await;
    let delayed = client
        .send_message()
        .queue_url(&url)
        .message_body("later")
        .delay_seconds(900);
    delayed.send().await.unwrap();
    advance(Duration::from_millis(59_999)).await;
    assert_eq!(local.snapshot(&url).len(), 3);
    advance(Duration::from_millis(1)).await;
    assert!(local.snapshot(&url).is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_expired_message_frees_its_group() {
    let (local, client) = sqs();
    let attributes = [
        ("MessageRetentionPeriod", "60"),
        ("VisibilityTimeout", "600"),
    ];
    let url = queue(&local, "q.fifo", &attributes);
    send_to_group(&client, &url, "g", "old").await;
    receive_one(&client, &url).await;
    advance(Duration::from_secs(50)).await;
    send_to_group(&client, &url, "g", "new").await;
    let start = Instant::now();
    assert_eq!(
        bodies(&receive_with(&client, &url, 1, 20, None).await),
        ["new"]
    );
    assert_eq!(start.elapsed(), Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn a_shorter_retention_counts_for_what_is_there() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    send(&client, &url, "x").await;
    advance(Duration::from_secs(61)).await;
    let set = client.set_queue_attributes().queue_url(&url);
    let set = set.attributes(
        aws_sdk_sqs::types::QueueAttributeName::MessageRetentionPeriod,
        "60",
    );
    set.send().await.unwrap();
    assert!(local.snapshot(&url).is_empty());
}

/// Everything that a client can see of a run.
async fn run(seed: u64) -> Vec<String> {
    let epoch = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let local = LocalSqs::builder().seed(seed).created_at(epoch).build();
    let client = local.client();
    let url = queue(&local, "q", &[("VisibilityTimeout", "1")]);
    let mut seen = Vec::new();
    for n in 0..5 {
        seen.push(send(&client, &url, &n.to_string()).await);
        for message in receive(&client, &url, 3).await {
            seen.push(format!("{message:?}").replace('\n', ""));
        }
        advance(Duration::from_millis(700)).await;
    }
    seen
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_gives_the_same_run() {
    let ids = |seen: &[String]| {
        seen.iter()
            .filter(|line| !line.starts_with("Message"))
            .cloned()
            .collect::<Vec<_>>()
    };
    let (one, two, other) = (run(7).await, run(7).await, run(8).await);
    assert_eq!(ids(&one), ids(&two));
    assert_ne!(ids(&one), ids(&other));
    assert_eq!(one.len(), two.len());
}

/// What becomes due while a receive waits, and was not known when it began to wait.
#[tokio::test(start_paused = true)]
async fn a_waiting_receive_notices_what_becomes_due_later() {
    let sqs = babelqueue::local::LocalSqs::new();
    let url = sqs.create_queue("q");
    let (client, start) = (sqs.client(), tokio::time::Instant::now());
    let wait = client
        .receive_message()
        .queue_url(&url)
        .wait_time_seconds(20)
        .send();
    let wait = tokio::spawn(wait);
    tokio::task::yield_now().await;
    let send = client
        .send_message()
        .queue_url(&url)
        .message_body("late")
        .delay_seconds(3);
    send.send().await.expect("sent");
    let received = wait.await.expect("no panic").expect("received");
    assert_eq!(received.messages().len(), 1);
    assert_eq!(start.elapsed().as_secs(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_server_can_be_created_near_the_epoch() {
    let day = Duration::from_secs(24 * 3600);
    for created in [Duration::ZERO, Duration::from_secs(5), day * 59] {
        let local = LocalSqs::builder().created_at(SystemTime::UNIX_EPOCH + created);
        let local = local.build();
        let url = local.create_queue("q");
        send(&local.client(), &url, "x").await;
        let sent = local.snapshot(&url).visible[0].sent;
        assert_eq!(sent, SystemTime::UNIX_EPOCH + created);
    }
}
