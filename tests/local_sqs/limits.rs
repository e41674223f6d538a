//! What SQS refuses of a message.

use aws_sdk_sqs::types::QueueAttributeName;

use crate::support::*;

const KIB: usize = 1024;

#[tokio::test(start_paused = true)]
async fn check_10_messages_up_to_1_mib() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let limit = attribute(&client, &url, QueueAttributeName::MaximumMessageSize).await;
    assert_eq!(limit, "1048576");
    for size in [256 * KIB, 256 * KIB + 1, 1024 * KIB] {
        send(&client, &url, &"x".repeat(size)).await;
    }
    let send = client
        .send_message()
        .queue_url(&url)
        .message_body("x".repeat(1024 * KIB + 1));
    assert_eq!(code(send.send().await), "InvalidParameterValue");
}

#[tokio::test(start_paused = true)]
async fn sizes_are_in_bytes_and_not_in_characters() {
    let (local, client) = sqs();
    let url = queue(&local, "q", &[("MaximumMessageSize", "1024")]);
    send(&client, &url, &"é".repeat(512)).await;
    let send = client
        .send_message()
        .queue_url(&url)
        .message_body("é".repeat(513));
    assert_eq!(code(send.send().await), "InvalidParameterValue");
}

#[tokio::test(start_paused = true)]
async fn check_10b_attributes_count_towards_the_size() {
    let (local, client) = sqs();
    let url = queue(&local, "q", &[("MaximumMessageSize", "1024")]);
    let send = |value: usize| {
        let send = client
            .send_message()
            .queue_url(&url)
            .message_body("x".repeat(1000));
        send.message_attributes("abc", text(&"y".repeat(value)))
            .send()
    };
    // 1000 of body, 3 of name, 6 of type: 15 are left.
    send(15).await.unwrap();
    assert_eq!(code(send(16).await), "InvalidParameterValue");
}

#[tokio::test(start_paused = true)]
async fn check_11_the_null_character_is_refused() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let send = client.send_message().queue_url(&url).message_body("a\0b");
    let error = send.send().await.unwrap_err().into_service_error();
    assert!(error.is_invalid_message_contents());
}

#[tokio::test(start_paused = true)]
async fn check_11b_characters_beyond_the_allowed_are_refused() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    for bad in ["\u{FFFE}", "\u{FFFF}", "\u{8}", "\u{1F}"] {
        let send = client
            .send_message()
            .queue_url(&url)
            .message_body(format!("a{bad}b"));
        let error = send.send().await.unwrap_err().into_service_error();
        assert!(error.is_invalid_message_contents(), "{bad:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn check_11c_bad_attribute_values_and_empty_bodies_are_refused() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let send = client.send_message().queue_url(&url).message_body("a");
    let bad = send.message_attributes("k", text("\u{1}")).send().await;
    assert_eq!(code(bad), "InvalidParameterValue");
    let empty = client
        .send_message()
        .queue_url(&url)
        .message_body("")
        .send()
        .await;
    assert_eq!(code(empty), "MissingParameter");
}

#[tokio::test(start_paused = true)]
async fn check_12_no_more_than_10_attributes() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let send = |count: usize| {
        let send = client.send_message().queue_url(&url).message_body("a");
        (0..count)
            .fold(send, |send, n| {
                send.message_attributes(format!("k{n}"), text("v"))
            })
            .send()
    };
    send(10).await.unwrap();
    assert_eq!(code(send(11).await), "InvalidParameterValue");
}

#[tokio::test(start_paused = true)]
async fn check_13_reserved_attribute_names_are_refused() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    for name in ["AWS.x", "aws.x", "Amazon.x", "AMAZON.x"] {
        let send = client.send_message().queue_url(&url).message_body("a");
        let sent = send.message_attributes(name, text("v")).send().await;
        assert_eq!(code(sent), "InvalidParameterValue", "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn check_13b_bad_names_values_and_types_are_refused() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let long = "n".repeat(257);
    for (name, data_type, value) in [
        ("sp ace", "String", "v"),
        (".dot", "String", "v"),
        ("dot.", "String", "v"),
        ("a..b", "String", "v"),
        (long.as_str(), "String", "v"),
        ("k", "String", ""),
        ("k", "Number", "abc"),
        ("k", "Number", "1e127"),
        ("k", "Foo", "v"),
        ("k", "String.", "v"),
        ("k", "string", "v"),
        ("k", "Binary", "v"),
    ] {
        let send = client.send_message().queue_url(&url).message_body("a");
        let sent = send
            .message_attributes(name, typed(data_type, value))
            .send()
            .await;
        assert_eq!(
            code(sent),
            "InvalidParameterValue",
            "{name} {data_type} {value}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn check_17_no_delay_beyond_15_minutes() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let send = |delay| {
        client
            .send_message()
            .queue_url(&url)
            .message_body("x")
            .delay_seconds(delay)
            .send()
    };
    send(900).await.unwrap();
    assert_eq!(code(send(901).await), "InvalidParameterValue");
    assert_eq!(code(send(-1).await), "InvalidParameterValue");
}

#[tokio::test(start_paused = true)]
async fn a_deduplication_id_is_for_fifo_queues() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let send = client.send_message().queue_url(&url).message_body("x");
    let sent = send.message_deduplication_id("d").send().await;
    assert_eq!(code(sent), "InvalidParameterValue");
}

#[tokio::test(start_paused = true)]
async fn group_ids_have_1_to_128_printable_characters() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let long = "g".repeat(129);
    for (id, good) in [
        ("a b", false),
        ("é", false),
        (&long, false),
        ("!~[]`", true),
    ] {
        let send = client.send_message().queue_url(&url).message_body("x");
        let sent = send.message_group_id(id).send().await;
        assert_eq!(sent.is_ok(), good, "{id}");
    }
}
