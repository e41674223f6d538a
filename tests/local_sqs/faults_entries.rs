//! The planned faults of single batch entries.

use aws_sdk_sqs::Client;
use aws_sdk_sqs::operation::send_message_batch::builders::SendMessageBatchFluentBuilder;
use aws_sdk_sqs::types::SendMessageBatchRequestEntry;
use babelqueue::local::Operation;

use crate::faults::plain;
use crate::support::*;

fn entry(id: &str) -> SendMessageBatchRequestEntry {
    let entry = SendMessageBatchRequestEntry::builder().id(id);
    entry.message_body(id).build().unwrap()
}

fn batch(client: &Client, url: &str) -> SendMessageBatchFluentBuilder {
    let batch = client.send_message_batch().queue_url(url);
    ["a", "b", "c"]
        .into_iter()
        .fold(batch, |batch, id| batch.entries(entry(id)))
}

#[tokio::test(start_paused = true)]
async fn chosen_entries_of_a_batch_fail() {
    let (local, client, url) = plain();
    local
        .faults()
        .on(Operation::SendMessageBatch)
        .once()
        .fail_entries([1], "InternalError", false);
    let answer = batch(&client, &url).send().await.unwrap();
    let ids: Vec<_> = answer.successful().iter().map(|it| it.id()).collect();
    assert_eq!(ids, ["a", "c"]);
    let failed = &answer.failed()[0];
    assert_eq!(
        (failed.id(), failed.code(), failed.sender_fault()),
        ("b", "InternalError", false)
    );
    assert_eq!(local.snapshot(&url).visible.len(), 2);
    let all = local.faults().on(Operation::SendMessageBatch).once();
    all.fail_entries([0, 1, 2], "InternalError", false);
    let answer = batch(&client, &url).send().await.unwrap();
    assert_eq!((answer.successful().len(), answer.failed().len()), (0, 3));
    assert_eq!(local.snapshot(&url).visible.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn entries_of_a_batch_stand_in_neither_list() {
    let (local, client, url) = plain();
    local
        .faults()
        .on(Operation::SendMessageBatch)
        .once()
        .omit_entries([0, 2]);
    let answer = batch(&client, &url).send().await.unwrap();
    let ids: Vec<_> = answer.successful().iter().map(|it| it.id()).collect();
    assert_eq!(ids, ["b"]);
    assert!(answer.failed().is_empty());
    assert_eq!(local.snapshot(&url).visible.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_checked_as_a_whole_before_its_entries_fail() {
    let (local, client, url) = plain();
    let fifo = local.create_queue("q.fifo");
    local
        .faults()
        .on(Operation::SendMessageBatch)
        .fail_entries(0..10, "InternalError", false);
    let nowhere = batch(&client, &local.queue_url("nowhere")).send().await;
    assert!(
        nowhere
            .unwrap_err()
            .into_service_error()
            .is_queue_does_not_exist()
    );
    let twice = batch(&client, &url).entries(entry("a")).send().await;
    assert!(
        twice
            .unwrap_err()
            .into_service_error()
            .is_batch_entry_ids_not_distinct()
    );
    let no_groups = batch(&client, &fifo).send().await;
    assert_eq!(code(no_groups), "InvalidParameterValue");
    let answer = batch(&client, &url).send().await.unwrap();
    assert_eq!((answer.successful().len(), answer.failed().len()), (0, 3));
    assert!(local.snapshot(&url).is_empty());
}
