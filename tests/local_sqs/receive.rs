//! Waiting receives and delays.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn check_17b_a_delay_is_kept() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let send = client
        .send_message()
        .queue_url(&url)
        .message_body("x")
        .delay_seconds(2);
    send.send().await.unwrap();
    assert!(receive(&client, &url, 10).await.is_empty());
    let start = Instant::now();
    assert_eq!(receive_with(&client, &url, 10, 6, None).await.len(), 1);
    assert_eq!(start.elapsed(), Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn a_message_can_refuse_the_delay_of_its_queue() {
    let (local, client) = sqs();
    let url = queue(&local, "q", &[("DelaySeconds", "60")]);
    let send = client
        .send_message()
        .queue_url(&url)
        .message_body("now")
        .delay_seconds(0);
    send.send().await.unwrap();
    let _later = client
        .send_message()
        .queue_url(&url)
        .message_body("later")
        .send()
        .await
        .unwrap();
    assert_eq!(bodies(&receive(&client, &url, 10).await), ["now"]);
    assert_eq!(local.snapshot(&url).delayed.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn check_19_a_waiting_receive_takes_a_message_at_once() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let start = Instant::now();
    let sending = async {
        sleep(Duration::from_millis(1500)).await;
        send(&client, &url, "x").await;
    };
    let (messages, ()) = tokio::join!(receive_with(&client, &url, 1, 10, None), sending);
    assert_eq!(messages.len(), 1);
    assert_eq!(start.elapsed(), Duration::from_millis(1500));
}

#[tokio::test(start_paused = true)]
async fn check_19b_an_empty_receive_waits_its_time_and_no_more_than_20_s() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let start = Instant::now();
    assert!(receive_with(&client, &url, 1, 20, None).await.is_empty());
    assert_eq!(start.elapsed(), Duration::from_secs(20));
    let long = client
        .receive_message()
        .queue_url(&url)
        .wait_time_seconds(21)
        .send()
        .await;
    assert_eq!(code(long), "InvalidParameterValue");
    for many in [0, 11] {
        let receive = client
            .receive_message()
            .queue_url(&url)
            .max_number_of_messages(many);
        assert_eq!(code(receive.send().await), "InvalidParameterValue");
    }
}

#[tokio::test(start_paused = true)]
async fn the_wait_of_the_queue_is_the_default() {
    let (local, client) = sqs();
    let url = queue(&local, "q", &[("ReceiveMessageWaitTimeSeconds", "7")]);
    let start = Instant::now();
    client
        .receive_message()
        .queue_url(&url)
        .send()
        .await
        .unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(7));
    receive(&client, &url, 1).await;
    assert_eq!(start.elapsed(), Duration::from_secs(7));
}

#[tokio::test(start_paused = true)]
async fn every_waiting_receive_gets_its_message() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let waiting: Vec<_> = (0..5)
        .map(|_| {
            let (client, url) = (client.clone(), url.clone());
            tokio::spawn(async move { receive_with(&client, &url, 1, 20, None).await })
        })
        .collect();
    let start = Instant::now();
    sleep(Duration::from_secs(1)).await;
    for n in 0..5 {
        send(&client, &url, &n.to_string()).await;
    }
    let mut got = Vec::new();
    for task in waiting {
        got.extend(
            task.await
                .unwrap()
                .into_iter()
                .map(|message| message.body.unwrap()),
        );
    }
    got.sort();
    assert_eq!(got, ["0", "1", "2", "3", "4"]);
    assert_eq!(start.elapsed(), Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_waiting_receive_that_is_given_up_takes_nothing() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let wait = receive_with(&client, &url, 1, 20, None);
    tokio::time::timeout(Duration::from_secs(1), wait)
        .await
        .unwrap_err();
    send(&client, &url, "x").await;
    assert_eq!(local.snapshot(&url).visible.len(), 1);
    receive_one(&client, &url).await;
}

#[tokio::test(start_paused = true)]
async fn deleting_a_queue_ends_its_waiting_receives() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let deleting = async {
        sleep(Duration::from_secs(1)).await;
        client.delete_queue().queue_url(&url).send().await.unwrap();
    };
    let waiting = client
        .receive_message()
        .queue_url(&url)
        .wait_time_seconds(20)
        .send();
    let (received, ()) = tokio::join!(waiting, deleting);
    assert!(
        received
            .unwrap_err()
            .into_service_error()
            .is_queue_does_not_exist()
    );
}

#[tokio::test(start_paused = true)]
async fn a_receive_with_visibility_0_gives_a_message_once() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    send(&client, &url, "x").await;
    assert_eq!(receive_with(&client, &url, 10, 0, Some(0)).await.len(), 1);
    assert_eq!(local.snapshot(&url).visible.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_threads_lose_and_double_nothing() {
    const SENDERS: usize = 4;
    const EACH: usize = 250;
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let consumers: Vec<_> = (0..8)
        .map(|_| {
            let (client, url) = (client.clone(), url.clone());
            tokio::spawn(async move {
                let mut got = Vec::new();
                loop {
                    // The wait is long enough to be ended by a message alone, but for the last one.
                    let messages = receive_with(&client, &url, 3, 2, None).await;
                    if messages.is_empty() {
                        return got;
                    }
                    for message in messages {
                        delete(&client, &url, &message).await;
                        got.push(message.body.unwrap());
                    }
                }
            })
        })
        .collect();
    let senders = (0..SENDERS).map(|sender| {
        let (client, url) = (client.clone(), url.clone());
        tokio::spawn(async move {
            for n in 0..EACH {
                send(&client, &url, &format!("{sender}-{n}")).await;
            }
        })
    });
    for sender in senders.collect::<Vec<_>>() {
        sender.await.unwrap();
    }
    let mut got = Vec::new();
    for consumer in consumers {
        got.extend(consumer.await.unwrap());
    }
    assert_eq!(got.len(), SENDERS * EACH);
    got.sort();
    got.dedup();
    assert_eq!(got.len(), SENDERS * EACH);
    assert!(local.snapshot(&url).is_empty());
}
