//! Lists of queues, page by page.

use aws_sdk_sqs::Client;

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn lists_come_in_pages() {
    let (local, client) = sqs();
    for n in 0..5 {
        local.create_queue(&format!("a{n}"));
    }
    local.create_queue("b");
    let mut pages = client
        .list_queues()
        .queue_name_prefix("a")
        .max_results(2)
        .into_paginator()
        .items()
        .send();
    let mut urls = Vec::new();
    while let Some(url) = pages.next().await {
        urls.push(url.unwrap());
    }
    let expected: Vec<_> = (0..5).map(|n| local.queue_url(&format!("a{n}"))).collect();
    assert_eq!(urls, expected);
}

#[tokio::test(start_paused = true)]
async fn a_token_comes_only_when_asked_for_and_when_there_is_more() {
    let (local, client) = sqs();
    for n in 0..3 {
        local.create_queue(&format!("q{n}"));
    }
    for (max, more) in [(None, false), (Some(3), false), (Some(2), true)] {
        let list = client.list_queues().set_max_results(max).send();
        assert_eq!(list.await.unwrap().next_token.is_some(), more, "{max:?}");
    }
}

/// Tokens of nobody: no base64, base64 of nothing, of a name, of text that only looks right.
const BOGUS: [&str; 5] = ["bogus", "", "YQ==", "YTE=", "MDAwMDphMQ=="];

#[tokio::test(start_paused = true)]
async fn a_token_of_nobody_is_refused() {
    let (local, client) = sqs();
    let (_, dlq) = with_dead_letters(&local, "q", 1, &[]);
    for token in BOGUS {
        let list = client.list_queues().max_results(1).next_token(token);
        assert_eq!(code(list.send().await), "InvalidParameterValue", "{token}");
        let list = client
            .list_dead_letter_source_queues()
            .queue_url(&dlq)
            .next_token(token);
        assert_eq!(code(list.send().await), "InvalidParameterValue", "{token}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_is_good_for_its_own_list_only() {
    let (local, client) = sqs();
    for n in 0..3 {
        local.create_queue(&format!("a{n}"));
    }
    let dlq = local.create_queue("dlq");
    let list = |client: &Client, prefix: &str, token: Option<String>| {
        client
            .list_queues()
            .queue_name_prefix(prefix)
            .max_results(1)
            .set_next_token(token)
            .send()
    };
    let token = list(&client, "a", None).await.unwrap().next_token;
    let next = list(&client, "a", token.clone()).await.unwrap();
    assert_eq!(next.queue_urls(), [local.queue_url("a1")]);
    let other = list(&client, "", token.clone()).await;
    assert_eq!(code(other), "InvalidParameterValue");
    let other = client
        .list_dead_letter_source_queues()
        .queue_url(&dlq)
        .set_next_token(token)
        .send()
        .await;
    assert_eq!(code(other), "InvalidParameterValue");
}

#[tokio::test(start_paused = true)]
async fn pages_have_1_to_1000_queues() {
    let (local, client) = sqs();
    let (_, dlq) = with_dead_letters(&local, "q", 1, &[]);
    for max in [-1, 0, 1001] {
        let list = client.list_queues().max_results(max);
        assert_eq!(code(list.send().await), "InvalidParameterValue", "{max}");
        let list = client
            .list_dead_letter_source_queues()
            .queue_url(&dlq)
            .max_results(max);
        assert_eq!(code(list.send().await), "InvalidParameterValue", "{max}");
    }
    for max in [1, 1000] {
        client.list_queues().max_results(max).send().await.unwrap();
    }
    let tasks = |max| {
        client
            .list_message_move_tasks()
            .source_arn(local.queue_arn("q-dlq"))
            .max_results(max)
            .send()
    };
    for max in [0, 11] {
        assert_eq!(code(tasks(max).await), "InvalidParameterValue", "{max}");
    }
    tasks(10).await.unwrap();
}
