//! Visibility timeouts and receipt handles.

use std::time::Duration;

use aws_sdk_sqs::types::MessageSystemAttributeName as System;
use tokio::time::{Instant, advance, sleep};

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn check_04_the_receive_count_grows() {
    let (local, client) = sqs();
    let url = queue(&local, "q", &[("VisibilityTimeout", "0")]);
    send(&client, &url, "x").await;
    for count in ["1", "2", "3"] {
        let message = receive_one(&client, &url).await;
        assert_eq!(
            system(&message, System::ApproximateReceiveCount),
            Some(count)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn check_05_an_expired_timeout_delivers_again() {
    let (local, client) = sqs();
    let url = queue(&local, "q", &[("VisibilityTimeout", "2")]);
    send(&client, &url, "x").await;
    let start = Instant::now();
    receive_one(&client, &url).await;
    assert!(receive(&client, &url, 10).await.is_empty());
    assert_eq!(receive_with(&client, &url, 10, 5, None).await.len(), 1);
    assert_eq!(start.elapsed(), Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn check_06_visibility_0_delivers_at_once() {
    let (local, client) = sqs();
    let url = queue(&local, "q", &[("VisibilityTimeout", "60")]);
    send(&client, &url, "x").await;
    let message = receive_one(&client, &url).await;
    release(&client, &url, &message).await;
    receive_one(&client, &url).await;
}

#[tokio::test(start_paused = true)]
async fn check_06b_visibility_0_wakes_a_waiting_receive() {
    let (local, client) = sqs();
    let url = queue(&local, "q", &[("VisibilityTimeout", "60")]);
    send(&client, &url, "x").await;
    let message = receive_one(&client, &url).await;
    let start = Instant::now();
    let waiting = receive_with(&client, &url, 1, 6, None);
    let releasing = async {
        sleep(Duration::from_secs(1)).await;
        release(&client, &url, &message).await;
    };
    let (messages, ()) = tokio::join!(waiting, releasing);
    assert_eq!(messages.len(), 1);
    assert_eq!(start.elapsed(), Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn check_07_no_timeout_beyond_12_hours() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    send(&client, &url, "x").await;
    let message = receive_one(&client, &url).await;
    for seconds in [43_201, -1] {
        assert_eq!(
            code(change(&client, &url, &message, seconds).await),
            "InvalidParameterValue"
        );
    }
    change(&client, &url, &message, 43_200).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn check_07b_no_more_than_12_hours_since_the_receive() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    send(&client, &url, "x").await;
    let message = receive_one(&client, &url).await;
    advance(Duration::from_secs(2)).await;
    assert_eq!(
        code(change(&client, &url, &message, 43_200).await),
        "InvalidParameterValue"
    );
    assert_eq!(
        code(change(&client, &url, &message, 43_199).await),
        "InvalidParameterValue"
    );
    change(&client, &url, &message, 43_198).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn check_07c_a_visible_message_is_not_in_flight() {
    let (local, client) = sqs();
    let url = queue(&local, "q", &[("VisibilityTimeout", "1")]);
    send(&client, &url, "x").await;
    let message = receive_one(&client, &url).await;
    advance(Duration::from_secs(1)).await;
    let error = change(&client, &url, &message, 10).await.unwrap_err();
    assert!(error.into_service_error().is_message_not_inflight());
}

#[tokio::test(start_paused = true)]
async fn check_08_a_delete_with_an_old_handle_succeeds_and_keeps_the_message() {
    let (local, client) = sqs();
    let url = queue(&local, "q", &[("VisibilityTimeout", "1")]);
    send(&client, &url, "x").await;
    let first = receive_one(&client, &url).await;
    advance(Duration::from_secs(1)).await;
    let second = receive_one(&client, &url).await;
    assert_ne!(handle(&first), handle(&second));
    delete(&client, &url, &first).await;
    advance(Duration::from_secs(1)).await;
    receive_one(&client, &url).await;
}

#[tokio::test(start_paused = true)]
async fn check_08b_a_handle_that_never_was() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let garbage = client
        .delete_message()
        .queue_url(&url)
        .receipt_handle("garbage");
    let error = garbage.send().await.unwrap_err().into_service_error();
    assert!(error.is_receipt_handle_is_invalid());
    let garbage = client
        .change_message_visibility()
        .queue_url(&url)
        .receipt_handle("garbage");
    let error = garbage
        .visibility_timeout(1)
        .send()
        .await
        .unwrap_err()
        .into_service_error();
    assert!(error.is_receipt_handle_is_invalid());
}

#[tokio::test(start_paused = true)]
async fn check_08c_deleting_twice_is_fine() {
    let (local, client) = sqs();
    for name in ["q", "q.fifo"] {
        let url = local.create_queue(name);
        let send = client.send_message().queue_url(&url).message_body("x");
        let fifo = name.ends_with(".fifo").then(|| "g".to_owned());
        send.set_message_group_id(fifo.clone())
            .set_message_deduplication_id(fifo)
            .send()
            .await
            .unwrap();
        let message = receive_one(&client, &url).await;
        delete(&client, &url, &message).await;
        delete(&client, &url, &message).await;
        assert!(local.snapshot(&url).is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn an_expired_handle_still_deletes_from_a_standard_queue() {
    let (local, client) = sqs();
    let url = queue(&local, "q", &[("VisibilityTimeout", "1")]);
    send(&client, &url, "x").await;
    let message = receive_one(&client, &url).await;
    advance(Duration::from_secs(5)).await;
    delete(&client, &url, &message).await;
    assert!(local.snapshot(&url).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_handle_of_another_queue_is_invalid() {
    let (local, client) = sqs();
    let (one, two) = (local.create_queue("one"), local.create_queue("two"));
    send(&client, &one, "x").await;
    let message = receive_one(&client, &one).await;
    let delete = client
        .delete_message()
        .queue_url(&two)
        .receipt_handle(handle(&message));
    assert_eq!(code(delete.send().await), "ReceiptHandleIsInvalid");
}

#[tokio::test(start_paused = true)]
async fn an_old_handle_does_not_change_visibility() {
    let (local, client) = sqs();
    let url = queue(&local, "q", &[("VisibilityTimeout", "1")]);
    send(&client, &url, "x").await;
    let first = receive_one(&client, &url).await;
    advance(Duration::from_secs(1)).await;
    receive_one(&client, &url).await;
    assert_eq!(
        code(change(&client, &url, &first, 10).await),
        "InvalidParameterValue"
    );
}

#[tokio::test(start_paused = true)]
async fn old_handles_act_when_they_are_set_to() {
    let local = babelqueue::local::LocalSqs::builder()
        .old_handles_act(true)
        .build();
    let client = local.client();
    let url = queue(&local, "q", &[("VisibilityTimeout", "1")]);
    send(&client, &url, "x").await;
    let first = receive_one(&client, &url).await;
    advance(Duration::from_secs(1)).await;
    receive_one(&client, &url).await;
    change(&client, &url, &first, 10).await.unwrap();
    delete(&client, &url, &first).await;
    assert!(local.snapshot(&url).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_changed_timeout_counts_from_the_change() {
    let (local, client) = sqs();
    let url = queue(&local, "q", &[("VisibilityTimeout", "10")]);
    send(&client, &url, "x").await;
    let message = receive_one(&client, &url).await;
    advance(Duration::from_secs(9)).await;
    change(&client, &url, &message, 10).await.unwrap();
    advance(Duration::from_millis(9_999)).await;
    assert!(receive(&client, &url, 1).await.is_empty());
    advance(Duration::from_millis(1)).await;
    receive_one(&client, &url).await;
}

#[tokio::test(start_paused = true)]
async fn an_expired_handle_hides_the_message_again_when_it_is_set_to() {
    let local = babelqueue::local::LocalSqs::builder()
        .expired_handles_hide(true)
        .build();
    let client = local.client();
    let url = queue(&local, "q", &[("VisibilityTimeout", "1")]);
    send(&client, &url, "x").await;
    let message = receive_one(&client, &url).await;
    advance(Duration::from_secs(1)).await;
    change(&client, &url, &message, 0).await.unwrap();
    assert_eq!(local.snapshot(&url).visible.len(), 1);
    change(&client, &url, &message, 10).await.unwrap();
    assert!(receive(&client, &url, 10).await.is_empty());
    advance(Duration::from_secs(10)).await;
    let again = receive(&client, &url, 10).await;
    assert_eq!(again.len(), 1);
    assert_eq!(
        system(&again[0], System::ApproximateReceiveCount),
        Some("2")
    );
    // FIFO queues and handles of earlier receives are as they were.
    assert_eq!(
        code(change(&client, &url, &message, 10).await),
        "InvalidParameterValue"
    );
    let fifo = queue(&local, "q.fifo", &[("VisibilityTimeout", "1")]);
    send_to_group(&client, &fifo, "g", "x").await;
    let message = receive_one(&client, &fifo).await;
    advance(Duration::from_secs(1)).await;
    assert!(change(&client, &fifo, &message, 10).await.is_err());
}
