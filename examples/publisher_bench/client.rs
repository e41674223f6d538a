//! One measurement: publishes so many messages, and prints the numbers.

use std::sync::Arc;
use std::time::Duration;

use babelqueue::prelude::*;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::order::order;
use crate::{Result, hand_written, measure};

/// Calls under way at the same time, of all contenders.
const CALLS: usize = 8;

/// Messages that wait for their results at the same time in the buffered publisher.
const TASKS: usize = 200;

/// Of a batch.
const LENGTH: usize = 500;

pub(crate) const LINGER: Duration = Duration::from_millis(5);

pub(crate) async fn run(mode: &str, url: &str, messages: usize) -> Result<()> {
    let client = measure::client(url);
    let publisher = SqsPublisher::new(client.clone(), url);
    // Connections and credentials are there before the clock runs.
    client
        .get_queue_url()
        .queue_name(crate::QUEUE)
        .send()
        .await?;
    order(0).publish(&publisher).await?;
    let buffered = BufferedPublisher::builder(publisher.clone())
        .linger(LINGER)
        .concurrency(CALLS)
        .build()?;
    let begun = (Instant::now(), measure::cpu()?);
    let mut tasks = JoinSet::new();
    match mode {
        "loop" => {
            for part in parts(messages, CALLS) {
                tasks.spawn(hand_written::publish(client.clone(), url.to_owned(), part));
            }
        }
        "batch" => {
            for part in parts(messages, CALLS) {
                tasks.spawn(batches(publisher.clone(), part));
            }
        }
        "coalescer" => {
            let coalescer = hand_written::Coalescer::start(client, url, CALLS, LINGER);
            for part in parts(messages, TASKS) {
                let coalescer = Arc::clone(&coalescer);
                tasks.spawn(async move {
                    for id in part {
                        coalescer.publish(id).await?;
                    }
                    Ok(())
                });
            }
        }
        "buffered" => {
            for part in parts(messages, TASKS) {
                tasks.spawn(one_by_one(buffered.clone(), part));
            }
        }
        "single" => return lone(&publisher, messages).await,
        "lone" => {
            lone(&buffered, messages).await?;
            return Ok(buffered.close().await?);
        }
        _ => return Err("no such measurement".into()),
    }
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    let wall = begun.0.elapsed().as_secs_f64();
    let cpu = (measure::cpu()? - begun.1).as_secs_f64();
    let messages = messages as f64;
    println!("{} {}", messages / wall, cpu * 1000.0 / messages);
    Ok(buffered.close().await?)
}

/// The messages in so many equal parts.
fn parts(messages: usize, parts: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let length = messages / parts;
    (0..parts).map(move |part| part * length..(part + 1) * length)
}

async fn batches(publisher: SqsPublisher, messages: std::ops::Range<usize>) -> Result<()> {
    let ids: Vec<usize> = messages.collect();
    for part in ids.chunks(LENGTH) {
        let orders = part.iter().map(|id| order(*id));
        publisher.publish_batch(orders).await?;
    }
    Ok(())
}

async fn one_by_one(publisher: BufferedPublisher, messages: std::ops::Range<usize>) -> Result<()> {
    for id in messages {
        order(id).publish(&publisher).await?;
    }
    Ok(())
}

/// One publish after the other with nothing beside it.
async fn lone(publisher: &impl Publish, messages: usize) -> Result<()> {
    let mut times = Vec::with_capacity(messages);
    for id in 0..messages {
        let begun = Instant::now();
        order(id).publish(publisher).await?;
        times.push(begun.elapsed().as_secs_f64() * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    println!("{} {}", times[messages / 2], times[messages * 99 / 100]);
    Ok(())
}
