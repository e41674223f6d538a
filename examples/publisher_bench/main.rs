//! The publisher against a hand-written `SendMessageBatch` loop over the AWS SDK, in ratios: all
//! make the same envelopes and attributes and have as many calls under way. Each measurement is a
//! process of its own that publishes over loopback HTTP, so that the server's work is not counted.
//!
//! ```text
//! cargo run --release --example publisher_bench
//! ```
//!
//! For a profiler there is one measurement alone: `serve` prints the URL of a queue and stays, and
//! `child batch one URL 3000` publishes to it.
#![allow(clippy::print_stdout)]

mod client;
mod hand_written;
#[expect(dead_code, reason = "memory is measured by the other benchmark only")]
#[path = "../consumer_bench/measure.rs"]
mod measure;
mod order;

use std::error::Error;
use std::process::Stdio;

use babelqueue::local::{LocalServer, LocalSqs, Operation};
use tokio::process::Command;

use self::measure::{best, finish, runtime};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const QUEUE: &str = "bench";
const MESSAGES: usize = 20_000;
const ROUNDS: usize = 9;
const LONE: usize = 200;
/// The first is what the others are measured against; of the last two, 200 tasks wait for each
/// message by itself.
const CONTENDERS: [&str; 4] = ["loop", "batch", "buffered", "coalescer"];

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        [] => runtime("multi")?.block_on(compare()),
        ["child", mode, threads, url, count] => {
            runtime(threads)?.block_on(client::run(mode, url, count.parse()?))
        }
        ["serve"] => runtime("multi")?.block_on(async {
            let bench = Bench::new().await?;
            println!("{}", bench.url);
            Ok(tokio::signal::ctrl_c().await?)
        }),
        _ => Err("give nothing, or `serve`".into()),
    }
}

/// The server that all are measured against; in this process, which is not measured.
struct Bench {
    sqs: LocalSqs,
    url: String,
    _server: LocalServer,
}

impl Bench {
    async fn new() -> Result<Self> {
        let sqs = LocalSqs::new();
        let server = sqs.serve("127.0.0.1:0").await?;
        sqs.create_queue(QUEUE);
        let url = format!("{}/000000000000/{QUEUE}", server.endpoint());
        Ok(Self {
            sqs,
            url,
            _server: server,
        })
    }

    /// Runs one measurement: the numbers that the child prints.
    async fn run(&self, mode: &str, threads: &str, count: usize) -> Result<Vec<f64>> {
        let child = Command::new(std::env::current_exe()?)
            .args(["child", mode, threads, &self.url, &count.to_string()])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        finish(child).await
    }
}

async fn compare() -> Result<()> {
    println!("{MESSAGES} messages a run, the best of {ROUNDS} runs, turn by turn.");
    println!(
        "{:<8} {:<9} {:>12} {:>14} {:>14} {:>11} {:>6}",
        "threads", "", "messages/s", "CPU ms/message", "calls/message", "throughput", "CPU"
    );
    for threads in ["one", "multi"] {
        let mut all = [const { vec![] }; CONTENDERS.len()];
        let mut calls = [0.0; CONTENDERS.len()];
        for _ in 0..ROUNDS {
            for (i, contender) in CONTENDERS.into_iter().enumerate() {
                // A queue of its own for each: none finds it longer than another.
                let bench = Bench::new().await?;
                let numbers = bench.run(contender, threads, MESSAGES).await?;
                // One message was sent before the clock ran.
                let queued = bench.sqs.snapshot(QUEUE).len() - 1;
                if queued != MESSAGES {
                    return Err(format!("{contender} sent {queued} messages").into());
                }
                let batches = bench.sqs.calls().count(Operation::SendMessageBatch);
                calls[i] = batches as f64 / MESSAGES as f64;
                all[i].push((numbers[0], numbers[1]));
            }
        }
        let best = all.map(best);
        for (i, name) in CONTENDERS.into_iter().enumerate() {
            let (speed, cpu) = best[i];
            println!(
                "{threads:<8} {name:<9} {speed:>12.0} {cpu:>14.4} {:>14.3} {:>10.2}x {:>5.2}x",
                calls[i],
                speed / best[0].0,
                cpu / best[0].1
            );
        }
    }
    let bench = Bench::new().await?;
    let single = bench.run("single", "multi", LONE).await?;
    let lone = bench.run("lone", "multi", LONE).await?;
    println!(
        "A lone publish: p50 {:.2} ms, p99 {:.2} ms by itself; p50 {:.2} ms, p99 {:.2} ms through a \
         buffer whose linger is {} ms.",
        single[0],
        single[1],
        lone[0],
        lone[1],
        client::LINGER.as_millis()
    );
    Ok(())
}
