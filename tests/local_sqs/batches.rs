//! Batch requests: what fails alone and what fails all.

use aws_sdk_sqs::types::{
    ChangeMessageVisibilityBatchRequestEntry, DeleteMessageBatchRequestEntry,
    SendMessageBatchRequestEntry,
};

use crate::support::*;

fn entry(id: &str, body: &str) -> SendMessageBatchRequestEntry {
    SendMessageBatchRequestEntry::builder()
        .id(id)
        .message_body(body)
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn check_09_an_entry_with_a_bad_delay_fails_alone() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let bad = SendMessageBatchRequestEntry::builder()
        .id("b")
        .message_body("x")
        .delay_seconds(901);
    let batch = client.send_message_batch().queue_url(&url);
    let batch = batch
        .entries(entry("a", "ok"))
        .entries(bad.build().unwrap());
    let answer = batch.send().await.unwrap();
    assert_eq!(answer.successful().len(), 1);
    assert_eq!(answer.successful()[0].id(), "a");
    assert_eq!(answer.failed().len(), 1);
    let failed = &answer.failed()[0];
    assert_eq!((failed.id(), failed.code()), ("b", "InvalidParameterValue"));
    assert!(failed.sender_fault());
}

#[tokio::test(start_paused = true)]
async fn check_09b_an_entry_with_a_bad_character_fails_alone() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let batch = client.send_message_batch().queue_url(&url);
    let batch = batch
        .entries(entry("a", "ok"))
        .entries(entry("b", "x\u{FFFE}"));
    let answer = batch.send().await.unwrap();
    assert_eq!(answer.successful().len(), 1);
    assert_eq!(answer.failed()[0].code(), "InvalidMessageContents");
}

#[tokio::test(start_paused = true)]
async fn check_09c_batches_that_are_refused_as_a_whole() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let batch = |entries: Vec<_>| {
        client
            .send_message_batch()
            .queue_url(&url)
            .set_entries(Some(entries))
            .send()
    };
    let many = (0..11).map(|id| entry(&id.to_string(), "x")).collect();
    let error = batch(many).await.unwrap_err().into_service_error();
    assert!(error.is_too_many_entries_in_batch_request());
    let twice = vec![entry("a", "x"), entry("a", "x")];
    let error = batch(twice).await.unwrap_err().into_service_error();
    assert!(error.is_batch_entry_ids_not_distinct());
    let error = batch(vec![]).await.unwrap_err().into_service_error();
    assert!(error.is_empty_batch_request());
    let error = batch(vec![entry("no spaces", "x")])
        .await
        .unwrap_err()
        .into_service_error();
    assert!(error.is_invalid_batch_entry_id());
    assert!(local.snapshot(&url).is_empty());
}

#[tokio::test(start_paused = true)]
async fn check_09d_part_of_a_batch_delete_fails() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    send(&client, &url, "x").await;
    let message = receive_one(&client, &url).await;
    let entry = |id: &str, handle: &str| {
        let entry = DeleteMessageBatchRequestEntry::builder()
            .id(id)
            .receipt_handle(handle);
        entry.build().unwrap()
    };
    let batch = client.delete_message_batch().queue_url(&url);
    let batch = batch
        .entries(entry("a", handle(&message)))
        .entries(entry("b", "garbage"));
    let answer = batch.send().await.unwrap();
    assert_eq!(answer.successful()[0].id(), "a");
    let failed = &answer.failed()[0];
    assert_eq!(
        (failed.id(), failed.code()),
        ("b", "ReceiptHandleIsInvalid")
    );
}

#[tokio::test(start_paused = true)]
async fn check_10c_a_batch_larger_than_1_mib_is_refused() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let body = "x".repeat(200 * 1024);
    let entries = (0..6).map(|id| entry(&id.to_string(), &body)).collect();
    let batch = client
        .send_message_batch()
        .queue_url(&url)
        .set_entries(Some(entries));
    let error = batch.send().await.unwrap_err().into_service_error();
    assert!(error.is_batch_request_too_long());
}

#[tokio::test(start_paused = true)]
async fn an_entry_larger_than_its_queue_allows_fails_alone() {
    let (local, client) = sqs();
    let url = queue(&local, "q", &[("MaximumMessageSize", "1024")]);
    let batch = client.send_message_batch().queue_url(&url);
    let batch = batch
        .entries(entry("a", "ok"))
        .entries(entry("b", &"x".repeat(1025)));
    let answer = batch.send().await.unwrap();
    assert_eq!(answer.successful()[0].id(), "a");
    assert_eq!(answer.failed()[0].code(), "InvalidParameterValue");
}

#[tokio::test(start_paused = true)]
async fn visibility_is_changed_in_batches() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    send(&client, &url, "x").await;
    let message = receive_one(&client, &url).await;
    let entry = |id: &str, handle: &str, seconds| {
        let entry = ChangeMessageVisibilityBatchRequestEntry::builder().id(id);
        entry
            .receipt_handle(handle)
            .visibility_timeout(seconds)
            .build()
            .unwrap()
    };
    let batch = client
        .change_message_visibility_batch()
        .queue_url(&url)
        .entries(entry("a", handle(&message), 0))
        .entries(entry("b", "garbage", 0))
        .entries(entry("c", handle(&message), 43_201));
    let answer = batch.send().await.unwrap();
    assert_eq!(answer.successful()[0].id(), "a");
    let codes: Vec<_> = answer
        .failed()
        .iter()
        .map(|it| (it.id(), it.code()))
        .collect();
    assert_eq!(
        codes,
        [
            ("b", "ReceiptHandleIsInvalid"),
            ("c", "InvalidParameterValue")
        ]
    );
    receive_one(&client, &url).await;
}

#[tokio::test(start_paused = true)]
async fn a_fifo_batch_keeps_its_order() {
    let (local, client) = sqs();
    let url = local.create_queue("q.fifo");
    let entries = (0..10).map(|id| {
        let id = id.to_string();
        let entry = SendMessageBatchRequestEntry::builder()
            .id(&id)
            .message_body(&id);
        entry
            .message_group_id("g")
            .message_deduplication_id(&id)
            .build()
            .unwrap()
    });
    let batch = client
        .send_message_batch()
        .queue_url(&url)
        .set_entries(Some(entries.collect()));
    let answer = batch.send().await.unwrap();
    let numbers: Vec<_> = answer
        .successful()
        .iter()
        .map(|it| it.sequence_number())
        .collect();
    assert!(numbers.is_sorted() && numbers[0].is_some());
    let received = receive(&client, &url, 10).await;
    assert_eq!(
        bodies(&received),
        ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_fifo_batch_with_an_entry_that_lacks_its_ids_is_refused_as_a_whole() {
    let (local, client) = sqs();
    let url = local.create_queue("q.fifo");
    let by_content = queue(&local, "c.fifo", &[("ContentBasedDeduplication", "true")]);
    let ids = |id: &str, group: Option<&str>, dedup: Option<&str>| {
        let entry = SendMessageBatchRequestEntry::builder().id(id);
        entry
            .message_body(id)
            .set_message_group_id(group.map(str::to_owned))
            .set_message_deduplication_id(dedup.map(str::to_owned))
            .build()
            .unwrap()
    };
    let batch = |url: &str, other| {
        let batch = client.send_message_batch().queue_url(url);
        let batch = batch.entries(ids("a", Some("g"), Some("a")));
        batch.entries(other).send()
    };
    // Alone, the first of them is a parameter that is missing.
    let no_group = batch(&url, ids("b", None, Some("b"))).await;
    assert_eq!(code(no_group), "InvalidParameterValue");
    let no_dedup = batch(&url, ids("b", Some("g"), None)).await;
    assert_eq!(code(no_dedup), "InvalidParameterValue");
    assert!(local.snapshot(&url).is_empty());
    let answer = batch(&by_content, ids("b", Some("g"), None)).await.unwrap();
    assert_eq!(answer.successful().len(), 2);
    // What an entry has and should not still fails alone.
    let odd = batch(&url, ids("b", Some("a b"), Some("b"))).await.unwrap();
    assert_eq!(odd.successful()[0].id(), "a");
    assert_eq!(odd.failed()[0].code(), "InvalidParameterValue");
}
