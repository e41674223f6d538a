//! X-Ray trace headers: as a message system attribute, and as a header of the request.

use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::{
    MessageSystemAttributeName as System, MessageSystemAttributeNameForSends as ForSends,
    MessageSystemAttributeValue, SendMessageBatchRequestEntry,
};

use crate::support::*;

const ONE: &str = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";
const TWO: &str = "Root=1-5759e988-aaaaaaaaaaaaaaaaaaaaaaaa;Sampled=0";

fn value(data_type: &str, text: &str) -> MessageSystemAttributeValue {
    let value = MessageSystemAttributeValue::builder().data_type(data_type);
    value.string_value(text).build().unwrap()
}

/// Sends a message with a trace header among its system attributes, gives its digest.
async fn send_traced(
    client: &Client,
    url: &str,
    attribute: Option<&str>,
    http: Option<&'static str>,
) -> Result<Option<String>, String> {
    let mut send = client.send_message().queue_url(url).message_body("x");
    if let Some(text) = attribute {
        send = send.message_system_attributes(ForSends::AwsTraceHeader, value("String", text));
    }
    let sent = send.customize().mutate_request(move |request| {
        if let Some(header) = http {
            request.headers_mut().insert("X-Amzn-Trace-Id", header);
        }
    });
    match sent.send().await {
        Ok(sent) => Ok(sent.md5_of_message_system_attributes),
        Err(error) => Err(code(Err::<(), _>(error))),
    }
}

#[tokio::test(start_paused = true)]
async fn the_header_of_a_send_is_the_trace_header_of_its_message() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let md5 = send_traced(&client, &url, None, Some(ONE)).await.unwrap();
    // Nobody sent an attribute, so that there is no digest of one.
    assert_eq!(md5, None);
    let message = receive_one(&client, &url).await;
    assert_eq!(system(&message, System::AwsTraceHeader), Some(ONE));
}

#[tokio::test(start_paused = true)]
async fn the_attribute_goes_before_the_header() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let md5 = send_traced(&client, &url, Some(TWO), Some(ONE)).await;
    assert!(md5.unwrap().is_some());
    let message = receive_one(&client, &url).await;
    assert_eq!(system(&message, System::AwsTraceHeader), Some(TWO));
}

#[tokio::test(start_paused = true)]
async fn a_broken_header_breaks_no_send() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    send_traced(&client, &url, None, Some("nonsense"))
        .await
        .unwrap();
    let message = receive_one(&client, &url).await;
    assert_eq!(system(&message, System::AwsTraceHeader), None);
}

#[tokio::test(start_paused = true)]
async fn the_header_of_a_batch_counts_for_every_message_of_it() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let entry = |id: &str| {
        SendMessageBatchRequestEntry::builder()
            .id(id)
            .message_body(id)
    };
    let own = entry("c").message_system_attributes(ForSends::AwsTraceHeader, value("String", TWO));
    let batch = client.send_message_batch().queue_url(&url);
    let batch = batch
        .entries(entry("a").build().unwrap())
        .entries(entry("b").build().unwrap())
        .entries(own.build().unwrap());
    let batch = batch.customize().mutate_request(|request| {
        request.headers_mut().insert("x-amzn-trace-id", ONE);
    });
    assert_eq!(batch.send().await.unwrap().successful().len(), 3);
    let mut messages = receive(&client, &url, 10).await;
    messages.sort_by_key(|it| it.body.clone());
    let headers: Vec<_> = messages
        .iter()
        .map(|it| system(it, System::AwsTraceHeader).unwrap())
        .collect();
    assert_eq!(headers, [ONE, ONE, TWO]);
}

#[tokio::test]
async fn the_header_is_seen_over_the_network() {
    let (_local, server, client) = crate::server::serve().await;
    let created = client.create_queue().queue_name("q").send().await.unwrap();
    let url = created.queue_url().unwrap();
    send_traced(&client, url, None, Some(ONE)).await.unwrap();
    let message = receive_one(&client, url).await;
    assert_eq!(system(&message, System::AwsTraceHeader), Some(ONE));
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn an_attribute_that_is_no_trace_header_is_refused() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let refused = Err("InvalidParameterValue".to_owned());
    for bad in [
        "nonsense",
        "Sampled=1",
        "Root=1-5759e988-bd862e3fe1be46a99427279",
        "Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=maybe",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    ] {
        assert_eq!(
            send_traced(&client, &url, Some(bad), None).await,
            refused,
            "{bad}"
        );
    }
    for data_type in ["Number", "Binary", "String.x"] {
        let send = client.send_message().queue_url(&url).message_body("x");
        let send = send.message_system_attributes(ForSends::AwsTraceHeader, value(data_type, ONE));
        assert_eq!(
            code(send.send().await),
            "InvalidParameterValue",
            "{data_type}"
        );
    }
    assert!(local.snapshot(&url).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_trace_header_does_not_count_towards_the_size() {
    let (local, client) = sqs();
    let url = queue(&local, "q", &[("MaximumMessageSize", "1024")]);
    let send = client
        .send_message()
        .queue_url(&url)
        .message_body("x".repeat(1024));
    let send = send.message_system_attributes(ForSends::AwsTraceHeader, value("String", ONE));
    send.send().await.unwrap();
}
