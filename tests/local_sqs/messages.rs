//! What goes in comes out: bodies, attributes, digests, system attributes.

use std::collections::BTreeSet;

use aws_sdk_sqs::types::{
    MessageSystemAttributeName as System, MessageSystemAttributeNameForSends,
    MessageSystemAttributeValue,
};

use crate::support::*;

async fn send_with_attributes(client: &aws_sdk_sqs::Client, url: &str) -> Option<String> {
    let send = client
        .send_message()
        .queue_url(url)
        .message_body("x")
        .message_attributes("s", text("héllo"))
        .message_attributes("n", typed("Number", "1"))
        .message_attributes("b", binary(b"\x00\x01\xff"))
        .message_attributes("c", typed("Number.int", "007"));
    send.send().await.unwrap().md5_of_message_attributes
}

#[tokio::test(start_paused = true)]
async fn check_01_the_sdk_speaks_json_to_it() {
    let local = babelqueue::local::LocalSqs::builder()
        .record_requests(true)
        .build();
    let client = local.client();
    let url = local.create_queue("q");
    send(&client, &url, "x").await;
    let calls = local.calls();
    let request = calls.iter().next().unwrap().request.clone().unwrap();
    assert!(
        request.starts_with('{') && request.contains(r#""MessageBody":"x""#),
        "{request}"
    );
}

#[tokio::test(start_paused = true)]
async fn check_02_attributes_come_back_as_they_were_sent() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    send_with_attributes(&client, &url).await;
    let message = receive_one(&client, &url).await;
    let got = message.message_attributes().unwrap();
    assert_eq!(got["s"], text("héllo"));
    assert_eq!(got["n"], typed("Number", "1"));
    assert_eq!(got["b"], binary(b"\x00\x01\xff"));
    assert_eq!(got["c"], typed("Number.int", "007"));
    assert_eq!(got.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn check_03_digests_of_body_and_attributes() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let md5 = send_with_attributes(&client, &url).await;
    let message = receive_one(&client, &url).await;
    // Computed by the algorithm of the SQS developer guide with Python's hashlib.
    assert_eq!(md5.as_deref(), Some("83402b8fef138504e1812a7a67f93c2f"));
    assert_eq!(message.md5_of_message_attributes(), md5.as_deref());
    assert_eq!(
        message.md5_of_body(),
        Some("9dd4e461268c8034f5c8564e155c67a6")
    );
}

#[tokio::test(start_paused = true)]
async fn check_03b_the_digest_of_a_filtered_receive_is_of_what_it_returns() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    send_with_attributes(&client, &url).await;
    let receive = client
        .receive_message()
        .queue_url(&url)
        .message_attribute_names("s");
    let messages = receive.send().await.unwrap().messages.unwrap();
    let attributes = messages[0].message_attributes().unwrap();
    assert_eq!(attributes.keys().collect::<Vec<_>>(), ["s"]);
    assert_eq!(
        messages[0].md5_of_message_attributes(),
        Some("a4890c3c7aae77932d8b92acdc5c2527")
    );
}

#[tokio::test(start_paused = true)]
async fn check_11d_any_text_that_sqs_takes_comes_back_unchanged() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let body = "é😀\r\n\t<&>\"\\";
    send(&client, &url, body).await;
    assert_eq!(receive_one(&client, &url).await.body(), Some(body));
}

#[tokio::test(start_paused = true)]
async fn check_16b_a_group_id_on_a_standard_queue_is_accepted_and_returned() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let send = client.send_message().queue_url(&url).message_body("x");
    send.message_group_id("tenant").send().await.unwrap();
    let message = receive_one(&client, &url).await;
    assert_eq!(system(&message, System::MessageGroupId), Some("tenant"));
}

#[tokio::test(start_paused = true)]
async fn check_20_system_attributes() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let trace = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";
    let header = MessageSystemAttributeValue::builder()
        .data_type("String")
        .string_value(trace);
    let send = client
        .send_message()
        .queue_url(&url)
        .message_body("x")
        .message_system_attributes(
            MessageSystemAttributeNameForSends::AwsTraceHeader,
            header.build().unwrap(),
        );
    let sent = send.send().await.unwrap();
    assert!(sent.md5_of_message_system_attributes().is_some());
    let message = receive_one(&client, &url).await;
    assert_eq!(system(&message, System::AwsTraceHeader), Some(trace));
    assert_eq!(system(&message, System::ApproximateReceiveCount), Some("1"));
    assert!(system(&message, System::SenderId).is_some());
    assert!(system(&message, System::ApproximateFirstReceiveTimestamp).is_some());
    let now = std::time::SystemTime::UNIX_EPOCH
        .elapsed()
        .unwrap()
        .as_millis();
    let stamp: u128 = system(&message, System::SentTimestamp)
        .unwrap()
        .parse()
        .unwrap();
    assert!(now.abs_diff(stamp) < 5_000, "{stamp}");
}

#[tokio::test(start_paused = true)]
async fn check_20b_the_older_name_of_the_system_attribute_filter() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    send(&client, &url, "x").await;
    #[allow(deprecated)]
    let receive = client.receive_message().queue_url(&url).attribute_names(
        aws_sdk_sqs::types::QueueAttributeName::from("SentTimestamp"),
    );
    let messages = receive.send().await.unwrap().messages.unwrap();
    let names: Vec<_> = messages[0].attributes().unwrap().keys().cloned().collect();
    assert_eq!(names, [System::SentTimestamp]);
}

#[tokio::test(start_paused = true)]
async fn check_20c_one_system_attribute_only() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    send(&client, &url, "x").await;
    let receive = client.receive_message().queue_url(&url);
    let receive = receive.message_system_attribute_names(System::ApproximateReceiveCount);
    let messages = receive.send().await.unwrap().messages.unwrap();
    let names: Vec<_> = messages[0].attributes().unwrap().keys().cloned().collect();
    assert_eq!(names, [System::ApproximateReceiveCount]);
}

#[tokio::test(start_paused = true)]
async fn check_20d_attributes_by_prefix() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let send = client.send_message().queue_url(&url).message_body("x");
    let send = send
        .message_attributes("foo.a", text("1"))
        .message_attributes("bar", text("2"));
    send.send().await.unwrap();
    let receive = client
        .receive_message()
        .queue_url(&url)
        .message_attribute_names("foo.*");
    let messages = receive.send().await.unwrap().messages.unwrap();
    let attributes = messages[0].message_attributes().unwrap();
    assert_eq!(attributes.keys().collect::<Vec<_>>(), ["foo.a"]);
}

#[tokio::test(start_paused = true)]
async fn a_receive_that_asks_for_nothing_gets_no_attributes() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    send_with_attributes(&client, &url).await;
    let received = client
        .receive_message()
        .queue_url(&url)
        .send()
        .await
        .unwrap();
    let message = &received.messages()[0];
    assert!(message.attributes().is_none_or(|all| all.is_empty()));
    assert!(
        message
            .message_attributes()
            .is_none_or(|all| all.is_empty())
    );
    assert_eq!(message.md5_of_message_attributes(), None);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_system_attribute_is_refused() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    send(&client, &url, "x").await;
    let receive = || client.receive_message().queue_url(&url);
    // Names of queue attributes are none of messages.
    for name in ["Colour", "all", "", "VisibilityTimeout"] {
        let receive = receive().message_system_attribute_names(System::from(name));
        let code = code(receive.send().await);
        assert_eq!(code, "InvalidAttributeName", "{name}");
    }
    #[allow(deprecated)]
    let older = |name: &str| receive().attribute_names(name.into()).send();
    for name in ["Colour", "all", ""] {
        assert_eq!(code(older(name).await), "InvalidAttributeName", "{name}");
    }
    // The older parameter passes them over, as the documentation says.
    let received = older("VisibilityTimeout").await.unwrap();
    let attributes = received.messages()[0].attributes();
    assert!(attributes.is_none_or(|all| all.is_empty()));
}

#[tokio::test(start_paused = true)]
async fn message_attributes_are_wanted_by_name_or_beginning() {
    let (local, client) = sqs();
    let url = queue(&local, "q", &[("VisibilityTimeout", "0")]);
    let send = client.send_message().queue_url(&url).message_body("x");
    let send = ["Hello", "Help.Me", "General"]
        .iter()
        .fold(send, |send, name| send.message_attributes(*name, text("v")));
    send.send().await.unwrap();
    let ask = |wanted: &str| {
        let receive = client.receive_message().queue_url(&url);
        receive.message_attribute_names(wanted).send()
    };
    for (wanted, got) in [
        ("All", vec!["General", "Hello", "Help.Me"]),
        (".*", vec!["General", "Hello", "Help.Me"]),
        ("*", vec!["General", "Hello", "Help.Me"]),
        ("Hel.*", vec!["Hello", "Help.Me"]),
        ("Help.*", vec!["Help.Me"]),
        ("Hello", vec!["Hello"]),
        ("Hel", vec![]),
        ("hello", vec![]),
        ("all", vec![]),
        // No attribute has such a name, and SQS does not mind.
        ("AWS.", vec![]),
        ("..foo", vec![]),
    ] {
        let received = ask(wanted).await.unwrap();
        let attributes = received.messages()[0].message_attributes();
        let mut names: Vec<_> = attributes.into_iter().flat_map(|all| all.keys()).collect();
        names.sort();
        assert_eq!(names, got, "{wanted}");
    }
    let long = "n".repeat(257);
    for bad in ["", "Hel*", "a b", "é", "a/b", "*.*", &long] {
        assert_eq!(code(ask(bad).await), "InvalidParameterValue", "{bad}");
    }
}

#[tokio::test(start_paused = true)]
async fn ids_and_handles_never_repeat() {
    let (local, client) = sqs();
    let url = queue(&local, "q", &[("VisibilityTimeout", "0")]);
    let mut seen = BTreeSet::new();
    for _ in 0..20 {
        assert!(seen.insert(send(&client, &url, "x").await));
        for message in receive(&client, &url, 10).await {
            assert!(seen.insert(handle(&message).to_owned()));
        }
    }
}
