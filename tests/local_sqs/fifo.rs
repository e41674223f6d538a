//! Message groups: order, locks, and what an old handle may do.

use std::time::Duration;

use aws_sdk_sqs::types::MessageSystemAttributeName as System;
use tokio::time::advance;

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn check_14_order_in_a_group_and_its_lock() {
    let (local, client) = sqs();
    let url = local.create_queue("q.fifo");
    for n in 0..3 {
        for group in ["A", "B"] {
            send_to_group(&client, &url, group, &format!("{group}{n}")).await;
        }
    }
    let first = receive_one(&client, &url).await;
    assert_eq!(first.body(), Some("A0"));
    assert_eq!(system(&first, System::MessageGroupId), Some("A"));
    assert!(system(&first, System::SequenceNumber).is_some());
    let rest = receive(&client, &url, 10).await;
    assert_eq!(bodies(&rest), ["B0", "B1", "B2"]);
    assert!(receive(&client, &url, 10).await.is_empty());
    delete(&client, &url, &first).await;
    let next = receive(&client, &url, 10).await;
    assert_eq!(bodies(&next), ["A1", "A2"]);
}

#[tokio::test(start_paused = true)]
async fn check_14b_an_expired_message_comes_again_in_its_place() {
    let (local, client) = sqs();
    let url = queue(&local, "q.fifo", &[("VisibilityTimeout", "1")]);
    for body in ["0", "1", "2"] {
        send_to_group(&client, &url, "g", body).await;
    }
    receive_one(&client, &url).await;
    advance(Duration::from_secs(1)).await;
    assert_eq!(bodies(&receive(&client, &url, 10).await), ["0", "1", "2"]);
}

#[tokio::test(start_paused = true)]
async fn check_14c_a_released_message_comes_again_in_its_place() {
    let (local, client) = sqs();
    let url = local.create_queue("q.fifo");
    for body in ["0", "1", "2"] {
        send_to_group(&client, &url, "g", body).await;
    }
    let head = receive_one(&client, &url).await;
    release(&client, &url, &head).await;
    assert_eq!(bodies(&receive(&client, &url, 10).await), ["0", "1", "2"]);
}

#[tokio::test(start_paused = true)]
async fn check_14d_an_expired_handle_deletes_nothing() {
    let (local, client) = sqs();
    let url = queue(&local, "q.fifo", &[("VisibilityTimeout", "1")]);
    send_to_group(&client, &url, "g", "x").await;
    let message = receive_one(&client, &url).await;
    advance(Duration::from_secs(1)).await;
    let delete = client
        .delete_message()
        .queue_url(&url)
        .receipt_handle(handle(&message));
    assert_eq!(code(delete.send().await), "InvalidParameterValue");
    receive_one(&client, &url).await;
}

#[tokio::test(start_paused = true)]
async fn check_16_a_message_of_a_fifo_queue_has_no_delay_of_its_own() {
    let (local, client) = sqs();
    let url = local.create_queue("q.fifo");
    let send = |delay| {
        let send = client
            .send_message()
            .queue_url(&url)
            .message_body("x")
            .message_group_id("g");
        send.message_deduplication_id("1")
            .delay_seconds(delay)
            .send()
    };
    assert_eq!(code(send(5).await), "InvalidParameterValue");
    assert_eq!(code(send(0).await), "InvalidParameterValue");
}

#[tokio::test(start_paused = true)]
async fn a_delay_of_0_is_taken_when_it_is_set_so() {
    let local = babelqueue::local::LocalSqs::builder()
        .fifo_takes_zero_delay(true)
        .build();
    let client = local.client();
    let url = local.create_queue("q.fifo");
    let send = |delay| {
        let send = client
            .send_message()
            .queue_url(&url)
            .message_body("x")
            .message_group_id("g");
        send.message_deduplication_id("1")
            .delay_seconds(delay)
            .send()
    };
    send(0).await.unwrap();
    assert_eq!(code(send(5).await), "InvalidParameterValue");
}

#[tokio::test(start_paused = true)]
async fn the_delay_of_a_fifo_queue_holds_its_groups() {
    let (local, client) = sqs();
    let url = queue(&local, "q.fifo", &[("DelaySeconds", "10")]);
    send_to_group(&client, &url, "g", "0").await;
    advance(Duration::from_secs(4)).await;
    send_to_group(&client, &url, "g", "1").await;
    advance(Duration::from_secs(6)).await;
    assert_eq!(bodies(&receive(&client, &url, 10).await), ["0"]);
}

#[tokio::test(start_paused = true)]
async fn a_new_delay_of_a_fifo_queue_counts_for_what_is_on_it() {
    let (local, client) = sqs();
    let url = queue(&local, "q.fifo", &[("DelaySeconds", "10")]);
    send_to_group(&client, &url, "g", "0").await;
    advance(Duration::from_secs(3)).await;
    let set = client.set_queue_attributes().queue_url(&url);
    let set = set.attributes(aws_sdk_sqs::types::QueueAttributeName::DelaySeconds, "3");
    set.send().await.unwrap();
    receive_one(&client, &url).await;
}

#[tokio::test(start_paused = true)]
async fn a_group_stays_locked_while_any_of_its_messages_is_in_flight() {
    let (local, client) = sqs();
    let url = local.create_queue("q.fifo");
    for body in ["0", "1", "2"] {
        send_to_group(&client, &url, "g", body).await;
    }
    let taken = receive(&client, &url, 2).await;
    release(&client, &url, &taken[0]).await;
    assert!(receive(&client, &url, 10).await.is_empty());
    release(&client, &url, &taken[1]).await;
    assert_eq!(bodies(&receive(&client, &url, 10).await), ["0", "1", "2"]);
}

#[tokio::test(start_paused = true)]
async fn groups_take_turns() {
    let (local, client) = sqs();
    let url = local.create_queue("q.fifo");
    for n in 0..3 {
        for group in ["A", "B", "C"] {
            send_to_group(&client, &url, group, &format!("{group}{n}")).await;
        }
    }
    let mut served = String::new();
    for _ in 0..9 {
        let message = receive_one(&client, &url).await;
        served.push_str(&message.body().unwrap()[..1]);
        delete(&client, &url, &message).await;
    }
    assert_eq!(served, "ABCABCABC");
}
