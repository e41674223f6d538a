//! The counts of a queue, and the limit of what may be in flight.

use aws_sdk_sqs::types::QueueAttributeName as Name;
use babelqueue::local::LocalSqs;

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn check_23_counts() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    for _ in 0..3 {
        send(&client, &url, "x").await;
    }
    let delayed = client
        .send_message()
        .queue_url(&url)
        .message_body("x")
        .delay_seconds(60);
    delayed.send().await.unwrap();
    receive_one(&client, &url).await;
    for (name, count) in [
        (Name::ApproximateNumberOfMessages, "2"),
        (Name::ApproximateNumberOfMessagesNotVisible, "1"),
        (Name::ApproximateNumberOfMessagesDelayed, "1"),
    ] {
        assert_eq!(
            attribute(&client, &url, name.clone()).await,
            count,
            "{name}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_short_receive_is_told_of_too_much_in_flight() {
    let local = LocalSqs::builder().in_flight_limit(3).build();
    let client = local.client();
    let url = local.create_queue("q");
    for _ in 0..5 {
        send(&client, &url, "x").await;
    }
    let taken = receive(&client, &url, 10).await;
    assert_eq!(taken.len(), 3);
    let short = client
        .receive_message()
        .queue_url(&url)
        .wait_time_seconds(0)
        .send()
        .await;
    assert!(short.unwrap_err().into_service_error().is_over_limit());
    // A waiting receive is told nothing.
    assert!(receive_with(&client, &url, 10, 5, None).await.is_empty());
    delete(&client, &url, &taken[0]).await;
    assert_eq!(receive(&client, &url, 10).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_waiting_receive_takes_the_place_that_a_delete_frees() {
    let local = LocalSqs::builder().in_flight_limit(1).build();
    let client = local.client();
    let url = local.create_queue("q");
    for _ in 0..2 {
        send(&client, &url, "x").await;
    }
    let taken = receive_one(&client, &url).await;
    let start = tokio::time::Instant::now();
    let waiting = receive_with(&client, &url, 1, 20, None);
    let (got, ()) = tokio::join!(waiting, delete(&client, &url, &taken));
    assert_eq!(got.len(), 1);
    assert!(start.elapsed().is_zero());
}
