//! What the tests share.

use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_sqs::primitives::Blob;
use aws_sdk_sqs::types::{
    Message, MessageAttributeValue, MessageSystemAttributeName, QueueAttributeName,
};
use babelqueue::local::LocalSqs;

/// A server and its client.
pub(crate) fn sqs() -> (LocalSqs, Client) {
    let local = LocalSqs::new();
    let client = local.client();
    (local, client)
}

/// A queue with attributes; a name that ends in `.fifo` makes a FIFO queue.
pub(crate) fn queue(local: &LocalSqs, name: &str, attributes: &[(&str, &str)]) -> String {
    local
        .create_queue_with(name, attributes.iter().copied())
        .unwrap()
}

/// A queue with a redrive policy, and its dead-letter queue.
pub(crate) fn with_dead_letters(
    local: &LocalSqs,
    name: &str,
    max_receives: u32,
    attributes: &[(&str, &str)],
) -> (String, String) {
    let dlq_name = match name.strip_suffix(".fifo") {
        Some(stem) => format!("{stem}-dlq.fifo"),
        None => format!("{name}-dlq"),
    };
    let dlq = queue(local, &dlq_name, &[]);
    let policy = redrive(local, &dlq_name, max_receives);
    let mut all = attributes.to_vec();
    all.push(("RedrivePolicy", &policy));
    (queue(local, name, &all), dlq)
}

pub(crate) fn redrive(local: &LocalSqs, target: &str, max_receives: u32) -> String {
    let arn = local.queue_arn(target);
    format!(r#"{{"deadLetterTargetArn":"{arn}","maxReceiveCount":{max_receives}}}"#)
}

pub(crate) async fn send(client: &Client, url: &str, body: &str) -> String {
    let sent = client
        .send_message()
        .queue_url(url)
        .message_body(body)
        .send()
        .await
        .unwrap();
    sent.message_id.unwrap()
}

/// Sends to a FIFO queue, with the body as the deduplication id.
pub(crate) async fn send_to_group(client: &Client, url: &str, group: &str, body: &str) {
    let send = client.send_message().queue_url(url).message_body(body);
    send.message_group_id(group)
        .message_deduplication_id(body)
        .send()
        .await
        .unwrap();
}

/// Receives at most `max` messages with everything on them, without waiting.
pub(crate) async fn receive(client: &Client, url: &str, max: i32) -> Vec<Message> {
    receive_with(client, url, max, 0, None).await
}

pub(crate) async fn receive_with(
    client: &Client,
    url: &str,
    max: i32,
    wait: i32,
    visibility: Option<i32>,
) -> Vec<Message> {
    let receive = client
        .receive_message()
        .queue_url(url)
        .max_number_of_messages(max)
        .wait_time_seconds(wait)
        .set_visibility_timeout(visibility)
        .message_attribute_names("All")
        .message_system_attribute_names(MessageSystemAttributeName::All);
    receive.send().await.unwrap().messages.unwrap_or_default()
}

/// Receives one message that must be there.
pub(crate) async fn receive_one(client: &Client, url: &str) -> Message {
    receive(client, url, 1)
        .await
        .pop()
        .expect("a message is on the queue")
}

pub(crate) fn bodies(messages: &[Message]) -> Vec<&str> {
    messages
        .iter()
        .map(|message| message.body().unwrap())
        .collect()
}

pub(crate) fn handle(message: &Message) -> &str {
    message.receipt_handle().unwrap()
}

pub(crate) fn system(message: &Message, name: MessageSystemAttributeName) -> Option<&str> {
    message.attributes()?.get(&name).map(String::as_str)
}

pub(crate) async fn delete(client: &Client, url: &str, message: &Message) {
    let delete = client
        .delete_message()
        .queue_url(url)
        .receipt_handle(handle(message));
    delete.send().await.unwrap();
}

pub(crate) async fn release(client: &Client, url: &str, message: &Message) {
    change(client, url, message, 0).await.unwrap();
}

pub(crate) async fn change(
    client: &Client,
    url: &str,
    message: &Message,
    seconds: i32,
) -> Result<
    aws_sdk_sqs::operation::change_message_visibility::ChangeMessageVisibilityOutput,
    SdkError<aws_sdk_sqs::operation::change_message_visibility::ChangeMessageVisibilityError>,
> {
    let change = client.change_message_visibility().queue_url(url);
    change
        .receipt_handle(handle(message))
        .visibility_timeout(seconds)
        .send()
        .await
}

/// The code of the error that a call must have given.
pub(crate) fn code<T: std::fmt::Debug, E: ProvideErrorMetadata + std::fmt::Debug>(
    result: Result<T, SdkError<E>>,
) -> String {
    let error = result.expect_err("SQS refuses this");
    error.code().expect("the refusal has a code").to_owned()
}

pub(crate) fn text(value: &str) -> MessageAttributeValue {
    typed("String", value)
}

pub(crate) fn typed(data_type: &str, value: &str) -> MessageAttributeValue {
    let value = MessageAttributeValue::builder()
        .data_type(data_type)
        .string_value(value);
    value.build().unwrap()
}

pub(crate) fn binary(value: &[u8]) -> MessageAttributeValue {
    let value = MessageAttributeValue::builder()
        .data_type("Binary")
        .binary_value(Blob::new(value));
    value.build().unwrap()
}

pub(crate) async fn attribute(client: &Client, url: &str, name: QueueAttributeName) -> String {
    let get = client
        .get_queue_attributes()
        .queue_url(url)
        .attribute_names(name.clone());
    let attributes = get.send().await.unwrap().attributes.unwrap_or_default();
    attributes.get(&name).cloned().unwrap_or_default()
}
