//! Queues as a whole.

use std::collections::HashMap;
use std::time::Duration;

use aws_sdk_sqs::types::QueueAttributeName as Name;
use tokio::time::advance;

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn check_22_a_queue_that_is_not_there() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let error = client
        .get_queue_url()
        .queue_name("nope")
        .send()
        .await
        .unwrap_err();
    assert!(error.into_service_error().is_queue_does_not_exist());
    let wrong = format!("{url}zz");
    let error = client
        .send_message()
        .queue_url(&wrong)
        .message_body("x")
        .send()
        .await
        .unwrap_err();
    assert_eq!(error.raw_response().unwrap().status().as_u16(), 400);
    assert!(error.into_service_error().is_queue_does_not_exist());
    let error = client
        .receive_message()
        .queue_url(&wrong)
        .send()
        .await
        .unwrap_err();
    assert!(error.into_service_error().is_queue_does_not_exist());
}

#[tokio::test(start_paused = true)]
async fn check_24_one_name_one_queue_and_purging() {
    let (_, client) = sqs();
    let create = |timeout: &str| {
        let create = client.create_queue().queue_name("dup");
        create.attributes(Name::VisibilityTimeout, timeout).send()
    };
    let url = create("5").await.unwrap().queue_url.unwrap();
    assert_eq!(create("5").await.unwrap().queue_url, Some(url.clone()));
    let error = create("6").await.unwrap_err().into_service_error();
    assert!(error.is_queue_name_exists());
    send(&client, &url, "x").await;
    let purge = || client.purge_queue().queue_url(&url).send();
    purge().await.unwrap();
    assert!(receive(&client, &url, 10).await.is_empty());
    assert!(
        purge()
            .await
            .unwrap_err()
            .into_service_error()
            .is_purge_queue_in_progress()
    );
    advance(Duration::from_secs(60)).await;
    purge().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn check_25_attributes_out_of_range_are_refused() {
    let (local, _) = sqs();
    for (name, value) in [
        ("MessageRetentionPeriod", "59"),
        ("MessageRetentionPeriod", "1209601"),
        ("VisibilityTimeout", "43201"),
        ("VisibilityTimeout", "-1"),
        ("DelaySeconds", "901"),
        ("ReceiveMessageWaitTimeSeconds", "21"),
        ("MaximumMessageSize", "1023"),
        ("MaximumMessageSize", "1048577"),
        ("MaximumMessageSize", "many"),
    ] {
        let made = local.create_queue_with("q", [(name, value)]);
        assert_eq!(
            made.unwrap_err().code(),
            "InvalidAttributeValue",
            "{name} {value}"
        );
    }
    for (name, value) in [
        ("Colour", "red"),
        ("FifoQueue", "false"),
        ("ContentBasedDeduplication", "true"),
        ("QueueArn", "arn"),
    ] {
        let made = local.create_queue_with("q", [(name, value)]);
        assert_eq!(
            made.unwrap_err().code(),
            "InvalidAttributeName",
            "{name} {value}"
        );
    }
    for (name, value) in [("MessageRetentionPeriod", "60"), ("DelaySeconds", "900")] {
        local.create_queue_with(name, [(name, value)]).unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn names_of_queues() {
    let (local, _) = sqs();
    let long = "q".repeat(81);
    for bad in ["", "a b", "é", ".fifo", "a.b", &long] {
        let made = local.create_queue_with(bad, [] as [(&str, &str); 0]);
        assert_eq!(made.unwrap_err().code(), "InvalidParameterValue", "{bad}");
    }
    local.create_queue(&"q".repeat(80));
    local
        .create_queue_with("plain", [("FifoQueue", "true")])
        .unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn a_deleted_name_rests_for_a_minute() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    send(&client, &url, "x").await;
    client.delete_queue().queue_url(&url).send().await.unwrap();
    let create = || client.create_queue().queue_name("q").send();
    assert!(
        create()
            .await
            .unwrap_err()
            .into_service_error()
            .is_queue_deleted_recently()
    );
    advance(Duration::from_secs(60)).await;
    create().await.unwrap();
    assert!(local.snapshot("q").is_empty());
}

#[tokio::test(start_paused = true)]
async fn attributes_are_set_and_read() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let set = client
        .set_queue_attributes()
        .queue_url(&url)
        .attributes(Name::DelaySeconds, "5");
    set.send().await.unwrap();
    let all = client
        .get_queue_attributes()
        .queue_url(&url)
        .attribute_names(Name::All);
    let all: HashMap<_, _> = all.send().await.unwrap().attributes.unwrap();
    assert_eq!(all[&Name::DelaySeconds], "5");
    assert_eq!(all[&Name::VisibilityTimeout], "30");
    assert_eq!(all[&Name::MessageRetentionPeriod], "345600");
    assert_eq!(all[&Name::QueueArn], local.queue_arn("q"));
    assert!(!all.contains_key(&Name::FifoQueue) && !all.contains_key(&Name::RedrivePolicy));
    let odd = client
        .get_queue_attributes()
        .queue_url(&url)
        .attribute_names(Name::from("Odd"));
    assert!(
        odd.send()
            .await
            .unwrap_err()
            .into_service_error()
            .is_invalid_attribute_name()
    );
    let fifo = client
        .set_queue_attributes()
        .queue_url(&url)
        .attributes(Name::FifoQueue, "true");
    assert!(
        fifo.send()
            .await
            .unwrap_err()
            .into_service_error()
            .is_invalid_attribute_name()
    );
}

#[tokio::test(start_paused = true)]
async fn permissions_are_refused_in_so_many_words() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let remove = client
        .remove_permission()
        .queue_url(&url)
        .label("x")
        .send()
        .await;
    assert!(
        remove
            .unwrap_err()
            .into_service_error()
            .is_unsupported_operation()
    );
}
