//! Message move tasks and the sources of a dead-letter queue.

use std::time::Duration;

use aws_sdk_sqs::Client;
use babelqueue::local::{LocalSqs, RawMessage};
use tokio::time::advance;

use crate::support::*;

/// A queue, its dead-letter queue, and so many dead letters.
async fn dead(local: &LocalSqs, client: &Client, count: usize) -> (String, String) {
    let (url, dlq) = with_dead_letters(local, "q", 1, &[("VisibilityTimeout", "0")]);
    for n in 0..count {
        send(client, &url, &n.to_string()).await;
    }
    for _ in 0..count {
        receive(client, &url, 10).await;
    }
    receive(client, &url, 10).await;
    assert_eq!(local.snapshot(&dlq).visible.len(), count);
    (url, dlq)
}

#[tokio::test(start_paused = true)]
async fn check_21_a_move_task_brings_dead_letters_back() {
    let (local, client) = sqs();
    let (url, dlq) = with_dead_letters(&local, "q", 1, &[]);
    let send = client.send_message().queue_url(&url).message_body("x");
    send.message_attributes("s", text("v"))
        .send()
        .await
        .unwrap();
    let message = receive_one(&client, &url).await;
    release(&client, &url, &message).await;
    assert!(receive(&client, &url, 1).await.is_empty());
    let source = local.queue_arn("q-dlq");
    let started = client
        .start_message_move_task()
        .source_arn(&source)
        .send()
        .await
        .unwrap();
    assert!(started.task_handle().is_some());
    let back = receive_one(&client, &url).await;
    assert_eq!(back.message_attributes().unwrap()["s"], text("v"));
    // What is redriven is a new message.
    assert_ne!(back.message_id(), message.message_id());
    assert!(local.snapshot(&dlq).is_empty());
    advance(Duration::from_secs(1)).await;
    let listed = client
        .list_message_move_tasks()
        .source_arn(&source)
        .send()
        .await
        .unwrap();
    let task = &listed.results()[0];
    assert_eq!(task.status(), Some("COMPLETED"));
    assert_eq!(task.approximate_number_of_messages_moved(), 1);
    assert_eq!(task.task_handle(), None);
}

#[tokio::test(start_paused = true)]
async fn check_21b_the_sources_of_a_dead_letter_queue() {
    let (local, client) = sqs();
    let (url, dlq) = with_dead_letters(&local, "q", 1, &[]);
    let list = client.list_dead_letter_source_queues().queue_url(&dlq);
    assert_eq!(list.send().await.unwrap().queue_urls(), [url.as_str()]);
    let none = client.list_dead_letter_source_queues().queue_url(&url);
    assert!(none.send().await.unwrap().queue_urls().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_task_keeps_its_rate_and_can_be_cancelled() {
    let (local, client) = sqs();
    let (url, dlq) = dead(&local, &client, 5).await;
    let start = client
        .start_message_move_task()
        .source_arn(local.queue_arn("q-dlq"));
    let start = start.max_number_of_messages_per_second(1).send();
    let handle = start.await.unwrap().task_handle.unwrap();
    advance(Duration::from_millis(2_500)).await;
    assert_eq!(local.snapshot(&url).visible.len(), 3);
    let again = client
        .start_message_move_task()
        .source_arn(local.queue_arn("q-dlq"))
        .send();
    assert_eq!(code(again.await), "InvalidParameterValue");
    let cancel = client
        .cancel_message_move_task()
        .task_handle(&handle)
        .send()
        .await
        .unwrap();
    assert_eq!(cancel.approximate_number_of_messages_moved(), 3);
    advance(Duration::from_secs(60)).await;
    assert_eq!(local.snapshot(&dlq).visible.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_task_wakes_a_waiting_receive() {
    let (local, client) = sqs();
    let (url, _) = dead(&local, &client, 1).await;
    let start = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        let start = client
            .start_message_move_task()
            .source_arn(local.queue_arn("q-dlq"));
        start.send().await.unwrap();
    };
    let (received, ()) = tokio::join!(receive_with(&client, &url, 1, 20, None), start);
    assert_eq!(received.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn tasks_that_make_no_sense_are_refused() {
    let (local, client) = sqs();
    let (_, _) = dead(&local, &client, 1).await;
    let start = |source: &str| {
        client
            .start_message_move_task()
            .source_arn(local.queue_arn(source))
    };
    assert_eq!(
        code(start("nope").send().await),
        "ResourceNotFoundException"
    );
    assert_eq!(code(start("q").send().await), "InvalidParameterValue");
    let to_nowhere = start("q-dlq")
        .destination_arn(local.queue_arn("nope"))
        .send()
        .await;
    assert_eq!(code(to_nowhere), "ResourceNotFoundException");
    let fast = start("q-dlq")
        .max_number_of_messages_per_second(501)
        .send()
        .await;
    assert_eq!(code(fast), "InvalidParameterValue");
    let slow = start("q-dlq").max_number_of_messages_per_second(0);
    assert_eq!(code(slow.send().await), "InvalidParameterValue");
}

#[tokio::test(start_paused = true)]
async fn only_a_task_that_there_is_can_be_cancelled() {
    let (local, client) = sqs();
    let (_, _) = dead(&local, &client, 1).await;
    let cancel = |handle: String| client.cancel_message_move_task().task_handle(handle).send();
    assert_eq!(
        code(cancel("what".to_owned()).await),
        "InvalidParameterValue"
    );
    let start = client
        .start_message_move_task()
        .source_arn(local.queue_arn("q-dlq"));
    let handle = start.send().await.unwrap().task_handle.unwrap();
    // The handle of another server: its task is not here, and neither is its queue.
    let other = LocalSqs::builder().seed(7).build();
    let (_, _) = dead(&other, &other.client(), 1).await;
    let here = code(
        other
            .client()
            .cancel_message_move_task()
            .task_handle(&handle)
            .send()
            .await,
    );
    assert_eq!(here, "ResourceNotFoundException");
    let empty = LocalSqs::new().client();
    let there = code(
        empty
            .cancel_message_move_task()
            .task_handle(&handle)
            .send()
            .await,
    );
    assert_eq!(there, "ResourceNotFoundException");
}

#[tokio::test(start_paused = true)]
async fn a_hundred_tasks_are_active_at_most() {
    let (local, client) = sqs();
    let mut sources = Vec::new();
    for n in 0..=100 {
        let (_, dlq) = with_dead_letters(&local, &format!("q{n}"), 1, &[]);
        for _ in 0..5 {
            local.inject_raw(&dlq, RawMessage::new("x"));
        }
        let back = local.create_queue(&format!("back{n}"));
        sources.push((format!("q{n}-dlq"), back));
    }
    let start = |(dlq, back): &(String, String)| {
        let back = back.rsplit('/').next().unwrap();
        client
            .start_message_move_task()
            .source_arn(local.queue_arn(dlq))
            .destination_arn(local.queue_arn(back))
            .max_number_of_messages_per_second(1)
            .send()
    };
    for source in &sources[..100] {
        start(source).await.unwrap();
    }
    assert_eq!(
        code(start(&sources[100]).await),
        "AWS.SimpleQueueService.UnsupportedOperation"
    );
    // Room comes when tasks end.
    advance(Duration::from_secs(10)).await;
    start(&sources[100]).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_task_runs_for_36_hours_at_most() {
    const HOURS_36: u64 = 36 * 3600;
    let (local, client) = sqs();
    let (_, dlq) = with_dead_letters(&local, "q", 1, &[]);
    let source = local.queue_arn("q-dlq");
    local.create_queue("back");
    // One message more than a second each takes.
    for _ in 0..=HOURS_36 {
        local.inject_raw(&dlq, RawMessage::new("x"));
    }
    let start = client.start_message_move_task().source_arn(&source);
    let start = start
        .destination_arn(local.queue_arn("back"))
        .max_number_of_messages_per_second(1);
    start.send().await.unwrap();
    let task = || async {
        let list = client.list_message_move_tasks().source_arn(&source);
        list.send().await.unwrap().results.unwrap().remove(0)
    };
    advance(Duration::from_secs(HOURS_36 - 1)).await;
    assert_eq!(task().await.status(), Some("RUNNING"));
    advance(Duration::from_secs(3600)).await;
    let task = task().await;
    assert_eq!(task.status(), Some("FAILED"));
    assert!(task.failure_reason().unwrap().contains("36 hours"));
    assert_eq!(task.approximate_number_of_messages_moved(), HOURS_36 as i64);
    assert_eq!(local.snapshot(&dlq).visible.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_task_whose_destination_is_deleted_fails() {
    let (local, client) = sqs();
    let (_, dlq) = with_dead_letters(&local, "q", 1, &[]);
    let source = local.queue_arn("q-dlq");
    let back = local.create_queue("back");
    for _ in 0..3 {
        send(&client, &dlq, "x").await;
    }
    let start = client.start_message_move_task().source_arn(&source);
    let start = start
        .destination_arn(local.queue_arn("back"))
        .max_number_of_messages_per_second(1);
    start.send().await.unwrap();
    receive_one(&client, &back).await;
    client.delete_queue().queue_url(&back).send().await.unwrap();
    advance(Duration::from_secs(1)).await;
    assert_eq!(local.snapshot(&dlq).visible.len(), 2);
    let list = client.list_message_move_tasks().source_arn(&source);
    let task = list.send().await.unwrap().results.unwrap().remove(0);
    assert_eq!(task.status(), Some("FAILED"));
    assert_eq!(
        task.failure_reason(),
        Some("AWS.SimpleQueueService.NonExistentQueue")
    );
}

#[tokio::test(start_paused = true)]
async fn a_message_of_unknown_origin_fails_the_task_and_stays() {
    let (local, client) = sqs();
    let (_, dlq) = with_dead_letters(&local, "q", 1, &[]);
    local.inject_raw(&dlq, RawMessage::new("stray"));
    let source = local.queue_arn("q-dlq");
    client
        .start_message_move_task()
        .source_arn(&source)
        .send()
        .await
        .unwrap();
    assert_eq!(local.snapshot(&dlq).visible.len(), 1);
    let listed = client
        .list_message_move_tasks()
        .source_arn(&source)
        .send()
        .await
        .unwrap();
    assert_eq!(listed.results()[0].status(), Some("FAILED"));
    assert_eq!(
        listed.results()[0].failure_reason(),
        Some("CouldNotDetermineMessageSource")
    );
}
