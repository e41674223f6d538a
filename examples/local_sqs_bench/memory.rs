//! What a stored message takes beside its content, by the resident memory of a process. Every
//! kind has a process of its own, because what one frees the next would use.

use std::process::{Command, ExitCode};

use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::{MessageAttributeValue, SendMessageBatchRequestEntry};
use babelqueue::local::LocalSqs;

use crate::{BODY, Result};

/// As good as a million, and sent four times as fast: what grows by doubling is as full.
const DEPTH: usize = 250_000;

/// What messages of this library carry.
const ATTRIBUTES: [(&str, &str); 6] = [
    ("bq-job", "urn:babel:orders:created"),
    ("bq-trace-id", "7f1b2c9a-5c7e-4b59-9a53-2f8f7e0b7c11"),
    ("bq-message-id", "0f8fad5b-d9cb-469f-a165-70867728950e"),
    ("bq-schema-version", "1"),
    ("bq-source-lang", "rust"),
    ("bq-created-at", "1749132727000"),
];

#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    /// Whether the messages have the six attributes.
    attributes: bool,
    /// The number of message groups; 0 on a standard queue.
    groups: usize,
    in_flight: bool,
}

const KINDS: [Kind; 6] = [
    kind("standard", false, 0, false),
    kind("standard, attributes", true, 0, false),
    kind("the same, in flight", true, 0, true),
    kind("FIFO, one group, attributes", true, 1, false),
    kind("FIFO, a group each, attributes", true, DEPTH, false),
    kind("the same, in flight", true, DEPTH, true),
];

const fn kind(name: &'static str, attributes: bool, groups: usize, in_flight: bool) -> Kind {
    Kind {
        name,
        attributes,
        groups,
        in_flight,
    }
}

/// Prints the table; gives the greatest figure in it.
pub(crate) fn table() -> Result<usize> {
    println!("{DEPTH} messages, bytes of each beside its body, attributes and ids:");
    let mut most = 0;
    for (number, kind) in KINDS.iter().enumerate() {
        let mut one = Command::new(std::env::current_exe()?);
        let one = one.arg("memory").arg(number.to_string()).output()?;
        let text = String::from_utf8(one.stdout)?;
        let bytes: usize = text.trim().parse()?;
        println!("{:<32} {bytes:>5}", kind.name);
        most = most.max(bytes);
    }
    Ok(most)
}

/// Measures one kind in this process.
pub(crate) async fn print_one(number: &str) -> Result<ExitCode> {
    let kind = *KINDS.get(number.parse::<usize>()?).ok_or("no such kind")?;
    let local = LocalSqs::builder().in_flight_limit(usize::MAX).build();
    let name = if kind.groups > 0 { "q.fifo" } else { "q" };
    let url = local.create_queue(name);
    let client = local.client();
    // What the client itself takes is there before.
    fill(
        &client,
        &local.create_queue(&format!("warm-{name}")),
        kind,
        100,
    )
    .await?;
    let before = resident()?;
    let content = fill(&client, &url, kind, DEPTH).await?;
    if kind.in_flight {
        let mut left = DEPTH;
        while left > 0 {
            let receive = client.receive_message().queue_url(&url);
            let receive = receive.max_number_of_messages(10).visibility_timeout(3600);
            left -= receive.send().await?.messages().len();
        }
    }
    let taken = resident()?.saturating_sub(before);
    println!("{}", taken.saturating_sub(content) / DEPTH);
    Ok(ExitCode::SUCCESS)
}

/// Sends so many messages; gives how many bytes are in them.
async fn fill(client: &Client, url: &str, kind: Kind, depth: usize) -> Result<usize> {
    let body = "x".repeat(BODY);
    let mut content = 0;
    for batch in 0..depth / 10 {
        let mut request = client.send_message_batch().queue_url(url);
        for n in batch * 10..batch * 10 + 10 {
            let mut entry = SendMessageBatchRequestEntry::builder()
                .id(n.to_string())
                .message_body(&body);
            content += body.len();
            if kind.attributes {
                for (name, text) in ATTRIBUTES {
                    let value = MessageAttributeValue::builder().data_type("String");
                    entry = entry.message_attributes(name, value.string_value(text).build()?);
                    content += name.len() + "String".len() + text.len();
                }
            }
            if kind.groups > 0 {
                let (group, id) = (format!("group-{}", n % kind.groups), format!("id-{n}"));
                content += group.len() + id.len();
                entry = entry.message_group_id(group).message_deduplication_id(id);
            }
            request = request.entries(entry.build()?);
        }
        let failed = request.send().await?.failed.len();
        if failed > 0 {
            return Err(format!("{failed} entries failed").into());
        }
    }
    Ok(content)
}

/// The resident memory of the process in bytes, where the system tells (Linux).
fn resident() -> Result<usize> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next());
    Ok(kib.ok_or("the system does not tell")?.parse::<usize>()? * 1024)
}
