//! Sends, receives and deletes per second at two depths.

use std::time::{Duration, Instant};

use aws_sdk_sqs::Client;
use aws_sdk_sqs::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_sqs::types::{DeleteMessageBatchRequestEntry, Message, SendMessageBatchRequestEntry};
use babelqueue::local::{LocalSqs, RawMessage};

use crate::{BODY, Result};

const DEPTHS: [usize; 2] = [1_000, 1_000_000];
/// Messages of one measurement.
const MESSAGES: usize = 10_000;
const REPEATS: usize = 5;

/// Prints the table; gives how many times slower the worst rate is at the greater depth.
pub(crate) async fn table() -> Result<f64> {
    println!(
        "{MESSAGES} messages of {BODY} bytes, one client, one call at a time, best of {REPEATS}."
    );
    println!(
        "{:<12} {:>5} {:>9} {:>12} {:>12} {:>12}",
        "transport", "batch", "depth", "sends/s", "receives/s", "deletes/s"
    );
    let mut servers = Vec::new();
    for depth in DEPTHS {
        let local = LocalSqs::new();
        let url = fill(&local, depth);
        let server = local.serve("127.0.0.1:0").await?;
        servers.push((depth, local, url, server));
    }
    let mut worst = 0.0_f64;
    for in_process in [true, false] {
        for batch in [10, 1] {
            let mut best = [[0.0_f64; 3]; DEPTHS.len()];
            // Turn by turn, so that what else the machine does slows both depths down alike.
            for _ in 0..REPEATS {
                for (best, (_, local, url, server)) in best.iter_mut().zip(&servers) {
                    let client = if in_process {
                        local.client()
                    } else {
                        remote(&server.endpoint())
                    };
                    for (best, rate) in best.iter_mut().zip(measure(&client, url, batch).await?) {
                        *best = best.max(rate);
                    }
                }
            }
            for (rate, (depth, ..)) in best.iter().zip(&servers) {
                let transport = if in_process { "in process" } else { "HTTP" };
                println!(
                    "{transport:<12} {batch:>5} {depth:>9} {:>12.0} {:>12.0} {:>12.0}",
                    rate[0], rate[1], rate[2]
                );
            }
            let ratios = best[0]
                .iter()
                .zip(best[1])
                .map(|(shallow, deep)| shallow / deep);
            worst = ratios.fold(worst, f64::max);
        }
    }
    for (.., server) in servers {
        server.shutdown().await;
    }
    Ok(worst)
}

/// A queue that holds so many messages.
fn fill(local: &LocalSqs, depth: usize) -> String {
    let url = local.create_queue("bench");
    let body = "x".repeat(BODY);
    for _ in 0..depth {
        local.inject_raw(&url, RawMessage::new(body.as_str()));
    }
    url
}

/// Sends, receives and deletes per second.
async fn measure(client: &Client, url: &str, batch: usize) -> Result<[f64; 3]> {
    let per_second = |spent: Duration| MESSAGES as f64 / spent.as_secs_f64();
    let start = Instant::now();
    for _ in 0..MESSAGES / batch {
        send(client, url, batch).await?;
    }
    let sent = start.elapsed();
    let mut taken = Vec::with_capacity(MESSAGES);
    let start = Instant::now();
    while taken.len() < MESSAGES {
        let receive = client.receive_message().queue_url(url);
        let receive = receive
            .max_number_of_messages(i32::try_from(batch)?)
            .visibility_timeout(600);
        taken.extend(receive.send().await?.messages.unwrap_or_default());
    }
    let received = start.elapsed();
    let start = Instant::now();
    for messages in taken.chunks(batch) {
        delete(client, url, messages).await?;
    }
    Ok([
        per_second(sent),
        per_second(received),
        per_second(start.elapsed()),
    ])
}

async fn send(client: &Client, url: &str, batch: usize) -> Result<()> {
    let body = "x".repeat(BODY);
    if batch == 1 {
        client
            .send_message()
            .queue_url(url)
            .message_body(body)
            .send()
            .await?;
        return Ok(());
    }
    let mut request = client.send_message_batch().queue_url(url);
    for id in 0..batch {
        let entry = SendMessageBatchRequestEntry::builder().id(id.to_string());
        request = request.entries(entry.message_body(&body).build()?);
    }
    request.send().await?;
    Ok(())
}

async fn delete(client: &Client, url: &str, messages: &[Message]) -> Result<()> {
    if let [message] = messages {
        let delete = client.delete_message().queue_url(url);
        delete
            .set_receipt_handle(message.receipt_handle.clone())
            .send()
            .await?;
        return Ok(());
    }
    let mut request = client.delete_message_batch().queue_url(url);
    for (id, message) in messages.iter().enumerate() {
        let entry = DeleteMessageBatchRequestEntry::builder().id(id.to_string());
        let entry = entry.set_receipt_handle(message.receipt_handle.clone());
        request = request.entries(entry.build()?);
    }
    request.send().await?;
    Ok(())
}

fn remote(endpoint: &str) -> Client {
    let config = aws_sdk_sqs::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .endpoint_url(endpoint)
        .credentials_provider(Credentials::new("local", "local", None, None, "bench"));
    Client::from_conf(config.build())
}
