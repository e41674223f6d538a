//! Receives that are repeated by their `ReceiveRequestAttemptId`.

use std::time::Duration;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::Message;
use babelqueue::local::Operation;
use tokio::time::advance;

use crate::support::*;

async fn attempt(client: &Client, url: &str) -> Vec<Message> {
    attempt_named(client, url, "attempt").await.unwrap()
}

async fn attempt_named(client: &Client, url: &str, id: &str) -> Result<Vec<Message>, String> {
    let receive = client.receive_message().queue_url(url);
    let receive = receive
        .max_number_of_messages(10)
        .receive_request_attempt_id(id);
    match receive.send().await {
        Ok(answer) => Ok(answer.messages.unwrap_or_default()),
        Err(error) => Err(code(Err::<(), _>(error))),
    }
}

fn ids_and_handles(messages: &[Message]) -> Vec<(&str, &str)> {
    messages
        .iter()
        .map(|it| (it.message_id().unwrap(), handle(it)))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_repeated_attempt_brings_the_same_messages_and_handles() {
    let (local, client) = sqs();
    let url = local.create_queue("q.fifo");
    for body in ["0", "1", "2"] {
        send_to_group(&client, &url, "g", body).await;
    }
    let first = attempt(&client, &url).await;
    assert_eq!(bodies(&first), ["0", "1", "2"]);
    for _ in 0..3 {
        let again = attempt(&client, &url).await;
        assert_eq!(ids_and_handles(&again), ids_and_handles(&first));
    }
    assert_eq!(local.snapshot(&url).in_flight[0].receive_count, 1);
    // Another attempt is another receive.
    assert_eq!(attempt_named(&client, &url, "other").await, Ok(vec![]));
    for message in &first {
        delete(&client, &url, message).await;
    }
    assert!(local.snapshot(&url).is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_sdk_brings_back_what_a_lost_answer_held() {
    let (local, client) = sqs();
    let url = local.create_queue("q.fifo");
    send_to_group(&client, &url, "g", "x").await;
    let lost = local.faults().on(Operation::ReceiveMessage).once();
    let lost = lost.lose_response();
    // The SDK repeats the request, attempt id and all.
    let received = attempt(&client, &url).await;
    assert_eq!(lost.hits(), 1);
    assert_eq!(bodies(&received), ["x"]);
    delete(&client, &url, &received[0]).await;
    assert!(local.snapshot(&url).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_repetition_hides_its_messages_anew() {
    let (local, client) = sqs();
    let url = queue(&local, "q.fifo", &[("VisibilityTimeout", "30")]);
    send_to_group(&client, &url, "g", "x").await;
    let first = attempt(&client, &url).await;
    advance(Duration::from_secs(20)).await;
    let again = attempt(&client, &url).await;
    assert_eq!(ids_and_handles(&again), ids_and_handles(&first));
    advance(Duration::from_secs(20)).await;
    let hidden = &local.snapshot(&url).in_flight[0];
    assert_eq!(hidden.visible_in, Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn an_attempt_cannot_be_repeated_when_a_message_of_it_was_touched() {
    for touch in ["delete", "change", "same", "release", "expire"] {
        let (local, client) = sqs();
        let url = queue(&local, "q.fifo", &[("VisibilityTimeout", "30")]);
        for body in ["0", "1"] {
            send_to_group(&client, &url, "g", body).await;
        }
        let first = attempt(&client, &url).await;
        match touch {
            "delete" => delete(&client, &url, &first[1]).await,
            "change" => drop(change(&client, &url, &first[1], 60).await.unwrap()),
            "same" => drop(change(&client, &url, &first[1], 30).await.unwrap()),
            "release" => release(&client, &url, &first[1]).await,
            _ => advance(Duration::from_secs(30)).await,
        }
        assert_eq!(
            attempt_named(&client, &url, "attempt").await,
            Err("InvalidParameterValue".to_owned()),
            "{touch}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_can_be_repeated_for_five_minutes_from_the_first() {
    let (local, client) = sqs();
    let url = queue(&local, "q.fifo", &[("VisibilityTimeout", "3600")]);
    send_to_group(&client, &url, "g", "x").await;
    let first = attempt(&client, &url).await;
    for _ in 0..2 {
        advance(Duration::from_millis(149_999)).await;
        let again = attempt(&client, &url).await;
        assert_eq!(ids_and_handles(&again), ids_and_handles(&first));
    }
    advance(Duration::from_millis(2)).await;
    // It is a new receive now, and the message is in flight.
    assert!(attempt(&client, &url).await.is_empty());
    // The handle is as good as before.
    delete(&client, &url, &first[0]).await;
    assert!(local.snapshot(&url).is_empty());
}
