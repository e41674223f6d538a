//! Messages larger than SQS takes, in a few seconds and with nothing installed:
//!
//! ```text
//! cargo run --example large_payloads --features payload-store
//! ```
//!
//! The SQS and the store are inside this process. With `S3PayloadStore` (feature `s3`) in place of
//! `MemoryPayloadStore` the same runs on S3:
//!
//! ```ignore
//! let s3 = aws_sdk_s3::Client::new(&aws_config::load_defaults(BehaviorVersion::latest()).await);
//! let store = S3PayloadStore::new(s3, "acme-payloads").prefix("reports/");
//! ```

use std::time::Duration;

use babelqueue::BoxError;
use babelqueue::local::LocalSqs;
use babelqueue::payload_store::{MemoryPayloadStore, Offload, Retrieval};
use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:reports:rendered"]
struct ReportRendered {
    name: String,
    pages: Vec<String>,
}

#[babel_handler]
async fn report_rendered(report: ReportRendered) {
    let bytes: usize = report.pages.iter().map(String::len).sum();
    println!(
        "   handled   {}: {} pages, {bytes} bytes",
        report.name,
        report.pages.len()
    );
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let sqs = LocalSqs::new();
    let url = sqs.create_queue("reports");
    sqs.create_queue("reports-dlq");
    let store = MemoryPayloadStore::new();

    let publisher = SqsPublisher::builder(sqs.client(), &url)
        .offload(Offload::to(store.clone()).threshold(256 * 1024))
        .build()?;
    for (name, pages) in [("a note", 1), ("a year", 3_000)] {
        let page = "All work and no play makes Jack a dull boy. ".repeat(20);
        let report = ReportRendered {
            name: name.to_owned(),
            pages: vec![page; pages],
        };
        report.publish(&publisher).await?;
    }
    println!("1. Two reports are on the queue; one of them is larger than SQS takes:");
    for message in sqs.snapshot("reports").visible {
        let shown = message.body.len().min(80);
        println!(
            "   {:>8} bytes   {}…",
            message.body.len(),
            &message.body[..shown]
        );
    }
    println!("   in the store: {:?}", store.keys());

    println!("2. The consumer follows the pointer:");
    let consumer =
        SqsConsumer::builder(sqs.client(), &url, Router::from_handlers![report_rendered])
            .payload_store(Retrieval::from_store(store.clone()).delete_when_handled(true))
            .dead_letter_queue(DeadLetterQueue::default_name())
            .wait_time(Duration::from_secs(1))
            .build()?;
    while !sqs.snapshot("reports").visible.is_empty() {
        consumer.poll().await?;
    }
    println!("   in the store: {:?}", store.keys());

    println!("3. A pointer that leads elsewhere is not followed:");
    let elsewhere = r#"{"contentS3Location":{"bucketName":"secrets","path":"passwords.json"}}"#;
    sqs.inject_raw("reports", babelqueue::local::RawMessage::new(elsewhere));
    let came = consumer.poll().await?;
    println!(
        "   {} handled, {} dead-lettered",
        came.handled, came.dead_lettered
    );
    for message in sqs.snapshot("reports-dlq").visible {
        println!("   {}", message.body);
    }
    Ok(())
}
