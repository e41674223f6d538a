//! What a message on the embedded SQS takes beside its content: at most 600 bytes.

use allocation_counter::measure;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::{MessageAttributeValue, SendMessageBatchRequestEntry};
use babelqueue::local::LocalSqs;

/// As at a million, what grows by doubling is nearly full, and what is hashed half full.
const MESSAGES: usize = 1_000;
const BOUND: i64 = 600;

/// Sends messages with the six attributes that those of this library carry, and gives how many
/// bytes are in them.
async fn send_all(client: &Client, url: &str, groups: usize, messages: usize) -> usize {
    let mut content = 0;
    for batch in 0..messages / 10 {
        let mut request = client.send_message_batch().queue_url(url);
        for n in batch * 10..batch * 10 + 10 {
            let body = format!("{n:0256}");
            let mut entry = SendMessageBatchRequestEntry::builder().id(n.to_string());
            for (name, text) in [
                ("bq-job", "urn:babel:orders:created"),
                ("bq-trace-id", "7f1b2c9a-5c7e-4b59-9a53-2f8f7e0b7c11"),
                ("bq-message-id", "0f8fad5b-d9cb-469f-a165-70867728950e"),
                ("bq-schema-version", "1"),
                ("bq-source-lang", "rust"),
                ("bq-created-at", "1749132727000"),
            ] {
                let value = MessageAttributeValue::builder().data_type("String");
                let value = value.string_value(text).build().unwrap();
                entry = entry.message_attributes(name, value);
                content += name.len() + "String".len() + text.len();
            }
            if groups > 0 {
                let (group, id) = (format!("g{}", n % groups), format!("d{n}"));
                content += group.len() + id.len();
                entry = entry.message_group_id(group).message_deduplication_id(id);
            }
            content += body.len();
            request = request.entries(entry.message_body(body).build().unwrap());
        }
        let sent = request.send().await.unwrap();
        assert_eq!(sent.successful().len(), 10);
    }
    content
}

/// Receives what can be had: of one group the first ten.
async fn receive_all(client: &Client, url: &str) {
    loop {
        let receive = client.receive_message().queue_url(url);
        let receive = receive.max_number_of_messages(10).send().await.unwrap();
        if receive.messages().is_empty() {
            break;
        }
    }
}

/// How many bytes each message takes beside its content, waiting and then in flight.
fn cost(name: &str, groups: usize) -> [i64; 2] {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build().unwrap();
    let _guard = runtime.enter();
    let local = LocalSqs::new();
    let client = local.client();
    let (url, warm) = (
        local.create_queue(name),
        local.create_queue(&format!("warm-{name}")),
    );
    // What the client and the runtime themselves take is there before.
    runtime.block_on(async {
        send_all(&client, &warm, groups, 50).await;
        receive_all(&client, &warm).await;
        local.clear_calls();
    });
    let mut content = 0;
    let sent = measure(|| {
        content = runtime.block_on(send_all(&client, &url, groups, MESSAGES));
        local.clear_calls();
    });
    let received = measure(|| {
        runtime.block_on(receive_all(&client, &url));
        local.clear_calls();
    });
    let (content, count) = (content as i64, MESSAGES as i64);
    let waiting = sent.bytes_current - content;
    let in_flight = waiting + received.bytes_current;
    [waiting / count, in_flight / count]
}

#[test]
fn a_stored_message_takes_little_beside_its_content() {
    let costs = [
        cost("q", 0),
        cost("one.fifo", 1),
        cost("each.fifo", MESSAGES),
    ];
    let within = |cost: &i64| (100..=BOUND).contains(cost);
    assert!(costs.iter().flatten().all(within), "{costs:?}");
}
