//! One measurement: consumes what there is, and prints the numbers.

use babelqueue::prelude::*;

use crate::work::Tally;
use crate::{Result, hand_written, measure, work};

/// Of both contenders.
pub(crate) const POLLS: usize = 8;

pub(crate) async fn run(mode: &str, url: &str, messages: usize) -> Result<()> {
    let client = measure::client(url);
    let tally = Tally::expecting(messages);
    let begun = (tokio::time::Instant::now(), measure::cpu()?);
    let memory = measure::resident()?;
    match mode {
        "loop" => hand_written::consume(client, url, &tally, messages).await?,
        "consumer" => {
            let router = Router::from_handlers![work::count];
            consume(SqsConsumer::builder(client, url, router), &tally).await?;
        }
        #[cfg(feature = "otel")]
        "traced" => {
            let router = Router::from_handlers![work::count];
            let builder = SqsConsumer::builder(client, url, router);
            consume(builder.telemetry(crate::noop::telemetry()), &tally).await?;
        }
        "latency" => {
            let router = Router::from_handlers![work::latency];
            consume(SqsConsumer::builder(client, url, router), &tally).await?;
            let (p50, p99) = tally.percentiles();
            println!("{p50} {p99}");
            return Ok(());
        }
        "hold" => {
            let builder = SqsConsumer::builder(client, url, Router::from_handlers![work::hold])
                .state(tally.clone())
                .concurrency(messages)
                .max_in_flight(messages)
                .shutdown_timeout(std::time::Duration::ZERO);
            let run = tokio::spawn(builder.build()?.run());
            tally.complete().await;
            let each = (measure::resident()? - memory) as f64 / messages as f64;
            println!("{each}");
            run.abort();
            return Ok(());
        }
        _ => return Err("no such measurement".into()),
    }
    let wall = begun.0.elapsed().as_secs_f64();
    let cpu = (measure::cpu()? - begun.1).as_secs_f64();
    let messages = messages as f64;
    let sleeps = measure::sleeps()? as f64;
    println!(
        "{} {} {}",
        messages / wall,
        cpu * 1000.0 / messages,
        sleeps / messages
    );
    Ok(())
}

/// Until all are handled and deleted.
async fn consume<R: Routes<Tally>>(
    builder: babelqueue::sqs::SqsConsumerBuilder<R>,
    tally: &Tally,
) -> Result<()> {
    let consumer = builder
        .state(tally.clone())
        .concurrency(64)
        .max_in_flight(POLLS * 10)
        .build()?;
    consumer.run_until(tally.complete()).await?;
    Ok(())
}
