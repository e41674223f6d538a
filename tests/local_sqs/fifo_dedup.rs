//! Deduplication on FIFO queues.

use std::time::Duration;

use aws_sdk_sqs::types::MessageSystemAttributeName;
use babelqueue::local::LocalSqs;
use tokio::time::advance;

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn check_15_a_duplicate_is_accepted_and_dropped_even_after_a_delete() {
    let (local, client) = sqs();
    let url = local.create_queue("q.fifo");
    let send = |body: &str| {
        let send = client.send_message().queue_url(&url).message_body(body);
        send.message_group_id("g")
            .message_deduplication_id("d")
            .send()
    };
    let (first, second) = (send("x").await.unwrap(), send("y").await.unwrap());
    assert_eq!(first.message_id(), second.message_id());
    assert_eq!(first.sequence_number(), second.sequence_number());
    let received = receive(&client, &url, 10).await;
    assert_eq!(bodies(&received), ["x"]);
    delete(&client, &url, &received[0]).await;
    send("z").await.unwrap();
    assert!(receive(&client, &url, 10).await.is_empty());
    advance(Duration::from_secs(299)).await;
    send("z").await.unwrap();
    assert!(local.snapshot(&url).is_empty());
    advance(Duration::from_secs(1)).await;
    send("z").await.unwrap();
    assert_eq!(bodies(&receive(&client, &url, 10).await), ["z"]);
}

#[tokio::test(start_paused = true)]
async fn check_15b_content_based_deduplication_and_missing_ids() {
    let (local, client) = sqs();
    let url = queue(&local, "q.fifo", &[("ContentBasedDeduplication", "true")]);
    for _ in 0..2 {
        let send = client.send_message().queue_url(&url).message_body("x");
        send.message_group_id("g").send().await.unwrap();
    }
    assert_eq!(receive(&client, &url, 10).await.len(), 1);
    let no_group = client
        .send_message()
        .queue_url(&url)
        .message_body("x")
        .send()
        .await;
    assert_eq!(code(no_group), "MissingParameter");
    let strict = local.create_queue("strict.fifo");
    let no_id = client
        .send_message()
        .queue_url(&strict)
        .message_body("x")
        .message_group_id("g");
    assert_eq!(code(no_id.send().await), "InvalidParameterValue");
}

#[tokio::test(start_paused = true)]
async fn deduplication_per_group() {
    let (local, client) = sqs();
    let attributes = [
        ("DeduplicationScope", "messageGroup"),
        ("FifoThroughputLimit", "perMessageGroupId"),
    ];
    let url = queue(&local, "q.fifo", &attributes);
    for group in ["a", "b", "a"] {
        send_to_group(&client, &url, group, "same").await;
    }
    assert_eq!(local.snapshot(&url).visible.len(), 2);
    let whole = local.create_queue("whole.fifo");
    for group in ["a", "b", "a"] {
        send_to_group(&client, &whole, group, "same").await;
    }
    assert_eq!(local.snapshot(&whole).visible.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_limit_per_group_needs_the_scope_of_groups() {
    let (local, _) = sqs();
    let made = local.create_queue_with("q.fifo", [("FifoThroughputLimit", "perMessageGroupId")]);
    assert_eq!(made.unwrap_err().code(), "InvalidAttributeValue");
}

#[tokio::test(start_paused = true)]
async fn a_purge_forgets_no_deduplication_id_unless_it_is_set_to() {
    for forgets in [false, true] {
        let local = LocalSqs::builder()
            .purge_forgets_duplicates(forgets)
            .build();
        let (client, url) = (local.client(), local.create_queue("q.fifo"));
        send_to_group(&client, &url, "g", "x").await;
        client.purge_queue().queue_url(&url).send().await.unwrap();
        send_to_group(&client, &url, "g", "x").await;
        assert_eq!(local.snapshot(&url).len(), usize::from(forgets));
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_shows_the_digest_of_its_body_as_its_id() {
    let (local, client) = sqs();
    let url = queue(&local, "q.fifo", &[("ContentBasedDeduplication", "true")]);
    let send = client.send_message().queue_url(&url).message_body("x");
    send.message_group_id("g").send().await.unwrap();
    let digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
    let snapshot = local.snapshot(&url);
    assert_eq!(
        snapshot.visible[0].deduplication_id.as_deref(),
        Some(digest)
    );
    let message = receive_one(&client, &url).await;
    let shown = system(&message, MessageSystemAttributeName::MessageDeduplicationId);
    assert_eq!(shown, Some(digest));
    // Given in so many words, it is the same id.
    let send = client.send_message().queue_url(&url).message_body("y");
    let again = send.message_group_id("g").message_deduplication_id(digest);
    let again = again.send().await.unwrap();
    assert_eq!(again.message_id(), message.message_id());
}
