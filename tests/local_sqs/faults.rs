//! Every planned fault, as a client meets it.

use std::time::Duration;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::config::retry::RetryConfig;
use aws_sdk_sqs::config::timeout::TimeoutConfig;
use aws_sdk_sqs::error::ProvideErrorMetadata;
use aws_sdk_sqs::types::DeleteMessageBatchRequestEntry;
use babelqueue::local::{CallOutcome, LocalSqs, Operation, Refusal};
use tokio::time::{Instant, advance, timeout};

use crate::support::*;

/// A server, a client that does not retry, and a queue.
pub(crate) fn plain() -> (LocalSqs, Client, String) {
    let local = LocalSqs::new();
    let config = local.client_config().retry_config(RetryConfig::disabled());
    let client = Client::from_conf(config.build());
    let url = local.create_queue("q");
    (local, client, url)
}

pub(crate) async fn try_send(
    client: &Client,
    url: &str,
) -> Result<(), aws_sdk_sqs::error::SdkError<aws_sdk_sqs::operation::send_message::SendMessageError>>
{
    client
        .send_message()
        .queue_url(url)
        .message_body("x")
        .send()
        .await
        .map(drop)
}

#[tokio::test(start_paused = true)]
async fn a_lost_request_has_no_effect() {
    let (local, client, url) = plain();
    let fault = local
        .faults()
        .on(Operation::SendMessage)
        .once()
        .lose_request();
    assert!(try_send(&client, &url).await.is_err());
    assert!(local.snapshot(&url).is_empty());
    assert_eq!(fault.hits(), 1);
    assert_eq!(
        local.calls().iter().next().unwrap().outcome,
        CallOutcome::Faulted
    );
    try_send(&client, &url).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_lost_response_has_its_effect_and_a_retry_doubles_it() {
    let (local, _, url) = plain();
    local
        .faults()
        .on(Operation::SendMessage)
        .once()
        .lose_response();
    try_send(&local.client(), &url).await.unwrap();
    assert_eq!(local.snapshot(&url).visible.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_reset_connection_has_no_effect() {
    let (local, client, url) = plain();
    local.faults().on_any().once().reset();
    let error = try_send(&client, &url).await.unwrap_err();
    assert!(
        format!("{error:?}").contains("ConnectionReset"),
        "{error:?}"
    );
    assert!(local.snapshot(&url).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_request_that_hangs_ends_with_the_timeout_of_the_client() {
    let (local, _, url) = plain();
    let timeouts = TimeoutConfig::builder().operation_attempt_timeout(Duration::from_secs(7));
    let config = local.client_config().timeout_config(timeouts.build());
    let client = Client::from_conf(config.retry_config(RetryConfig::disabled()).build());
    let start = Instant::now();
    local.faults().on(Operation::SendMessage).once().hang();
    assert!(try_send(&client, &url).await.is_err());
    assert_eq!(start.elapsed(), Duration::from_secs(7));
    assert!(local.snapshot(&url).is_empty());
    local
        .faults()
        .on(Operation::SendMessage)
        .once()
        .hang_after_effect();
    assert!(try_send(&client, &url).await.is_err());
    assert_eq!(local.snapshot(&url).visible.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_read_timeout_of_the_client_counts_too() {
    let (local, _, url) = plain();
    let timeouts = TimeoutConfig::builder().read_timeout(Duration::from_secs(3));
    let config = local.client_config().timeout_config(timeouts.build());
    let client = Client::from_conf(config.retry_config(RetryConfig::disabled()).build());
    local.faults().on_any().hang();
    let start = Instant::now();
    assert!(try_send(&client, &url).await.is_err());
    assert_eq!(start.elapsed(), Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn a_delay_before_or_after_the_effect() {
    let (local, client, url) = plain();
    local
        .faults()
        .on(Operation::SendMessage)
        .once()
        .delay(Duration::from_secs(2));
    let start = Instant::now();
    let seen = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        local.snapshot(&url).len()
    };
    let (sent, before) = tokio::join!(try_send(&client, &url), seen);
    sent.unwrap();
    assert_eq!((before, start.elapsed()), (0, Duration::from_secs(2)));
    local
        .faults()
        .on(Operation::SendMessage)
        .once()
        .delay_response(Duration::from_secs(2));
    let seen = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        local.snapshot(&url).len()
    };
    let (sent, before) = tokio::join!(try_send(&client, &url), seen);
    sent.unwrap();
    assert_eq!((before, start.elapsed()), (2, Duration::from_secs(4)));
}

#[tokio::test(start_paused = true)]
async fn a_delayed_request_has_its_effect_when_its_client_has_given_up() {
    let (local, _, url) = plain();
    let timeouts = TimeoutConfig::builder().operation_attempt_timeout(Duration::from_secs(1));
    let config = local.client_config().timeout_config(timeouts.build());
    let client = Client::from_conf(config.retry_config(RetryConfig::disabled()).build());
    let fault = local.faults().on(Operation::SendMessage).once();
    fault.delay(Duration::from_secs(3));
    let start = Instant::now();
    assert!(try_send(&client, &url).await.is_err());
    assert_eq!(start.elapsed(), Duration::from_secs(1));
    assert!(local.snapshot(&url).is_empty());
    let minute = Duration::from_secs(60);
    let arrived = local.wait_until(&url, |queue| queue.len() == 1);
    timeout(minute, arrived).await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(3));
    let calls = local.calls();
    let call = calls.iter().next().unwrap();
    assert_eq!(call.queue.as_deref(), Some("q"));
    assert_eq!(call.outcome, CallOutcome::Faulted);
    // A receive takes what nobody gets then.
    let fault = local.faults().on(Operation::ReceiveMessage).once();
    fault.delay(Duration::from_secs(3));
    assert!(
        client
            .receive_message()
            .queue_url(&url)
            .send()
            .await
            .is_err()
    );
    let taken = local.wait_until(&url, |queue| queue.in_flight.len() == 1);
    timeout(minute, taken).await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(6));
}

#[tokio::test(start_paused = true)]
async fn refusals_have_the_codes_of_sqs() {
    let (local, client, url) = plain();
    for (refusal, status, code) in [
        (Refusal::InternalError, 500, "InternalFailure"),
        (Refusal::ServiceUnavailable, 503, "ServiceUnavailable"),
        (Refusal::Throttled, 400, "RequestThrottled"),
        (Refusal::ExpiredToken, 403, "ExpiredToken"),
        (Refusal::AccessDenied, 403, "AccessDenied"),
    ] {
        local
            .faults()
            .on(Operation::SendMessage)
            .once()
            .refuse(refusal);
        let error = try_send(&client, &url).await.unwrap_err();
        assert_eq!(error.code(), Some(code));
        assert_eq!(error.raw_response().unwrap().status().as_u16(), status);
    }
    assert!(local.snapshot(&url).is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_sdk_retries_throttling_by_itself() {
    let (local, _, url) = plain();
    let fault = local
        .faults()
        .on(Operation::SendMessage)
        .times(2)
        .refuse(Refusal::Throttled);
    try_send(&local.client(), &url).await.unwrap();
    assert_eq!(fault.hits(), 2);
    assert_eq!(local.calls().count(Operation::SendMessage), 3);
}

#[tokio::test(start_paused = true)]
async fn garbage_is_not_an_answer() {
    let (local, client, url) = plain();
    local.faults().on(Operation::SendMessage).once().garbage();
    assert!(try_send(&client, &url).await.is_err());
    assert_eq!(local.snapshot(&url).visible.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn old_handles_are_answered_silently() {
    let (local, client) = sqs();
    let url = queue(&local, "q.fifo", &[("VisibilityTimeout", "1")]);
    send_to_group(&client, &url, "g", "x").await;
    let message = receive_one(&client, &url).await;
    advance(Duration::from_secs(1)).await;
    local.faults().on_any().queue(&url).old_handles_silent();
    delete(&client, &url, &message).await;
    change(&client, &url, &message, 10).await.unwrap();
    let entry = DeleteMessageBatchRequestEntry::builder()
        .id("a")
        .receipt_handle(handle(&message));
    let batch = client
        .delete_message_batch()
        .queue_url(&url)
        .entries(entry.build().unwrap());
    let answer = batch.send().await.unwrap();
    assert_eq!((answer.successful().len(), answer.failed().len()), (1, 0));
    assert_eq!(local.snapshot(&url).visible.len(), 1);
    let garbage = client
        .delete_message()
        .queue_url(&url)
        .receipt_handle("garbage")
        .send()
        .await;
    assert_eq!(code(garbage), "ReceiptHandleIsInvalid");
}

#[tokio::test(start_paused = true)]
async fn a_fault_is_chosen_by_operation_queue_and_count() {
    let (local, client, url) = plain();
    let other = local.create_queue("other");
    let fault = local
        .faults()
        .on(Operation::SendMessage)
        .queue("q")
        .after(1)
        .times(2)
        .reset();
    let mut failed = Vec::new();
    for url in [&url, &other, &url, &url, &url] {
        failed.push(try_send(&client, url).await.is_err());
    }
    assert_eq!(failed, [false, false, true, true, false]);
    assert_eq!(fault.hits(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_queue_is_named_in_every_way_that_requests_have() {
    let (local, client, url) = plain();
    let (_, _) = with_dead_letters(&local, "x", 1, &[]);
    local.faults().on_any().queue("q").reset();
    local.faults().on_any().queue("x-dlq").reset();
    let source = local.queue_arn("x-dlq");
    assert!(try_send(&client, &url).await.is_err());
    let find = |name: &str| client.get_queue_url().queue_name(name).send();
    assert!(find("q").await.is_err());
    find("x").await.unwrap();
    let create = |name: &str| client.create_queue().queue_name(name).send();
    assert!(create("q").await.is_err());
    create("new").await.unwrap();
    let start = || client.start_message_move_task().source_arn(&source);
    assert!(start().send().await.is_err());
    let list = client.list_message_move_tasks().source_arn(&source);
    assert!(list.send().await.is_err());
    assert_eq!(local.calls().of(Operation::CreateQueue).count(), 2);
    let of_task = local.calls();
    let of_task = of_task.of(Operation::StartMessageMoveTask).next().unwrap();
    assert_eq!(of_task.queue.as_deref(), Some("x-dlq"));
    // A task is cancelled by a handle, which says whose it is.
    local.faults().clear();
    for _ in 0..2 {
        send(&client, &local.queue_url("x-dlq"), "x").await;
    }
    let slow = start().destination_arn(local.queue_arn("new"));
    let slow = slow.max_number_of_messages_per_second(1).send();
    let handle = slow.await.unwrap().task_handle.unwrap();
    let cancel = || {
        client
            .cancel_message_move_task()
            .task_handle(&handle)
            .send()
    };
    local.faults().on_any().queue("q").reset();
    let fault = local.faults().on_any().queue("x-dlq").reset();
    assert!(cancel().await.is_err());
    fault.lift();
    cancel().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn chances_come_from_the_seed() {
    let outcomes = async |seed| {
        let local = LocalSqs::builder().seed(seed).build();
        let config = local.client_config().retry_config(RetryConfig::disabled());
        let client = Client::from_conf(config.build());
        let url = local.create_queue("q");
        local
            .faults()
            .on(Operation::SendMessage)
            .probability(0.5)
            .reset();
        let mut failed = Vec::new();
        for _ in 0..40 {
            failed.push(try_send(&client, &url).await.is_err());
        }
        failed
    };
    let (one, two, other) = (outcomes(1).await, outcomes(1).await, outcomes(2).await);
    assert_eq!(one, two);
    assert_ne!(one, other);
    let count = one.iter().filter(|failed| **failed).count();
    assert!((8..=32).contains(&count), "{count}");
}

#[tokio::test(start_paused = true)]
async fn faults_are_lifted_and_cleared() {
    let (local, client, url) = plain();
    let fault = local.faults().on_any().reset();
    assert!(try_send(&client, &url).await.is_err());
    fault.lift();
    try_send(&client, &url).await.unwrap();
    local.faults().on_any().reset();
    local.faults().clear();
    try_send(&client, &url).await.unwrap();
}
