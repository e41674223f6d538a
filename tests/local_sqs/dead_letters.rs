//! Redrive policies.

use std::time::Duration;

use aws_sdk_sqs::types::{MessageSystemAttributeName as System, QueueAttributeName};
use tokio::time::advance;

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn check_18_a_dead_letter_keeps_its_id_and_attributes() {
    let (local, client) = sqs();
    let (url, dlq) = with_dead_letters(&local, "q", 2, &[("VisibilityTimeout", "1")]);
    let send = client.send_message().queue_url(&url).message_body("x");
    let sent = send
        .message_attributes("s", text("v"))
        .message_attributes("b", binary(b"\x00"));
    let id = sent.send().await.unwrap().message_id.unwrap();
    for expected in [1, 1, 0] {
        assert_eq!(receive(&client, &url, 10).await.len(), expected);
        advance(Duration::from_secs(1)).await;
    }
    let dead = receive_one(&client, &dlq).await;
    assert_eq!(dead.message_id(), Some(id.as_str()));
    assert_eq!(dead.message_attributes().unwrap()["s"], text("v"));
    assert_eq!(dead.message_attributes().unwrap()["b"], binary(b"\x00"));
    let source = local.queue_arn("q");
    assert_eq!(
        system(&dead, System::DeadLetterQueueSourceArn),
        Some(source.as_str())
    );
    assert_eq!(system(&dead, System::ApproximateReceiveCount), Some("3"));
}

#[tokio::test(start_paused = true)]
async fn check_18b_released_messages_become_dead_letters_too() {
    let (local, client) = sqs();
    let (url, dlq) = with_dead_letters(&local, "q", 1, &[]);
    send(&client, &url, "x").await;
    let message = receive_one(&client, &url).await;
    release(&client, &url, &message).await;
    assert!(receive_with(&client, &url, 10, 1, None).await.is_empty());
    assert_eq!(receive(&client, &dlq, 10).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn check_18c_a_dead_letter_frees_its_group() {
    let (local, client) = sqs();
    let (url, dlq) = with_dead_letters(&local, "q.fifo", 1, &[]);
    for body in ["0", "1"] {
        send_to_group(&client, &url, "g", body).await;
    }
    let head = receive_one(&client, &url).await;
    release(&client, &url, &head).await;
    assert_eq!(bodies(&receive(&client, &url, 1).await), ["1"]);
    let dead = receive_one(&client, &dlq).await;
    assert_eq!(dead.body(), Some("0"));
    assert_eq!(system(&dead, System::MessageGroupId), Some("g"));
    assert_eq!(system(&dead, System::MessageDeduplicationId), Some("0"));
}

#[tokio::test(start_paused = true)]
async fn check_18d_bad_policies_are_refused() {
    let (local, _) = sqs();
    local.create_queue("dlq");
    local.create_queue("dlq.fifo");
    let refused = |policy: String| {
        let made = local.create_queue_with("q", [("RedrivePolicy", policy)]);
        assert_eq!(made.unwrap_err().code(), "InvalidParameterValue");
    };
    refused(redrive(&local, "nope", 2));
    refused(redrive(&local, "dlq", 1001));
    refused(redrive(&local, "dlq", 0));
    refused(redrive(&local, "dlq.fifo", 2));
    refused("not JSON".to_owned());
    refused(r#"{"maxReceiveCount":2}"#.to_owned());
}

#[tokio::test(start_paused = true)]
async fn a_dead_letter_of_a_standard_queue_keeps_its_age() {
    let (local, client) = sqs();
    let hour = [("MessageRetentionPeriod", "3600")];
    let dlq = queue(&local, "dlq", &hour);
    let policy = redrive(&local, "dlq", 1);
    let url = queue(&local, "q", &[("RedrivePolicy", &policy), hour[0]]);
    send(&client, &url, "x").await;
    let message = receive_one(&client, &url).await;
    advance(Duration::from_secs(20)).await;
    release(&client, &url, &message).await;
    assert!(receive(&client, &url, 1).await.is_empty());
    advance(Duration::from_secs(3579)).await;
    assert_eq!(local.snapshot(&dlq).visible.len(), 1);
    advance(Duration::from_secs(1)).await;
    assert!(local.snapshot(&dlq).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_dead_letter_queue_decides_whose_it_is() {
    let (local, client) = sqs();
    let dlq = local.create_queue("dlq");
    let allow = |policy: &str| {
        let set = client.set_queue_attributes().queue_url(&dlq);
        set.attributes(QueueAttributeName::RedriveAllowPolicy, policy)
            .send()
    };
    let policy = redrive(&local, "dlq", 1);
    let make = |name: &str| local.create_queue_with(name, [("RedrivePolicy", policy.as_str())]);
    allow(r#"{"redrivePermission":"denyAll"}"#).await.unwrap();
    assert_eq!(make("one").unwrap_err().code(), "InvalidParameterValue");
    let arn = local.queue_arn("one");
    let by_queue = format!(r#"{{"redrivePermission":"byQueue","sourceQueueArns":["{arn}"]}}"#);
    allow(&by_queue).await.unwrap();
    make("one").unwrap();
    assert_eq!(make("two").unwrap_err().code(), "InvalidParameterValue");
    assert_eq!(
        code(allow(r#"{"redrivePermission":"some"}"#).await),
        "InvalidParameterValue"
    );
}

#[tokio::test(start_paused = true)]
async fn a_waiting_receive_of_the_dead_letter_queue_is_woken() {
    let (local, client) = sqs();
    let (url, dlq) = with_dead_letters(&local, "q", 1, &[("VisibilityTimeout", "3")]);
    send(&client, &url, "x").await;
    receive_one(&client, &url).await;
    let source = receive_with(&client, &url, 1, 10, None);
    let (alive, dead) = tokio::join!(source, receive_with(&client, &dlq, 1, 20, None));
    assert!(alive.is_empty());
    assert_eq!(bodies(&dead), ["x"]);
}

#[tokio::test(start_paused = true)]
async fn dead_letters_start_over_when_they_are_set_to() {
    let local = babelqueue::local::LocalSqs::builder()
        .dead_letters_start_over(true)
        .build();
    let client = local.client();
    let (url, dlq) = with_dead_letters(&local, "q", 1, &[("VisibilityTimeout", "0")]);
    send(&client, &url, "x").await;
    receive_one(&client, &url).await;
    assert!(receive(&client, &url, 1).await.is_empty());
    let dead = receive_one(&client, &dlq).await;
    assert_eq!(system(&dead, System::ApproximateReceiveCount), Some("1"));
}

#[tokio::test(start_paused = true)]
async fn a_queue_is_not_its_own_dead_letter_queue() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let policy = format!(
        r#"{{"deadLetterTargetArn":"{}","maxReceiveCount":1}}"#,
        local.queue_arn("q")
    );
    let set = client.set_queue_attributes().queue_url(&url);
    let refused = set
        .attributes(QueueAttributeName::RedrivePolicy, policy)
        .send()
        .await;
    assert!(refused.is_err());
}
