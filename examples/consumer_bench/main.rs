//! The consumer against a hand-written loop over the AWS SDK, in ratios: both do the same polls,
//! parse the same types and delete in batches. Each measurement is a process of its own that
//! consumes over loopback HTTP, so that the server's work is not counted.
//!
//! ```text
//! cargo run --release --example consumer_bench
//! ```
//!
//! What telemetry costs, against a build without it:
//!
//! ```text
//! cargo build --release --example consumer_bench
//! cp target/release/examples/consumer_bench target/consumer_bench_plain
//! cargo run --release --features otel --example consumer_bench -- telemetry target/consumer_bench_plain
//! ```
//!
//! `-- profile consumer multi` runs one of them again and again, to be looked at with a profiler.
#![allow(clippy::print_stdout)]

mod client;
mod hand_written;
mod measure;
#[cfg(feature = "otel")]
mod noop;
mod work;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use babelqueue::local::{LocalServer, LocalSqs, Operation, RawMessage};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

use self::measure::{best, finish, runtime};
use self::work::body;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const QUEUE: &str = "bench";
const MESSAGES: usize = 30_000;
const ROUNDS: usize = 9;
/// Messages that are held at the same time to see what one takes.
const HELD: usize = 20_000;
const PACED: usize = 2_000;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        [] => runtime("multi")?.block_on(compare()),
        ["child", mode, threads, url, count] => {
            runtime(threads)?.block_on(client::run(mode, url, count.parse()?))
        }
        ["profile", contender, threads] => runtime("multi")?.block_on(profile(contender, threads)),
        ["telemetry", plain] => runtime("multi")?.block_on(telemetry(plain.into())),
        _ => Err(
            "give nothing, or: telemetry <plain build>, profile <consumer|loop> <one|multi>".into(),
        ),
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
        let sqs = LocalSqs::builder().in_flight_limit(1_000_000).build();
        let server = sqs.serve("127.0.0.1:0").await?;
        sqs.create_queue(QUEUE);
        let url = format!("{}/000000000000/{QUEUE}", server.endpoint());
        Ok(Self {
            sqs,
            url,
            _server: server,
        })
    }

    fn fill(&self, messages: usize) {
        for i in 0..messages {
            self.put(i, false);
        }
    }

    fn put(&self, i: usize, slow: bool) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let micros = now.unwrap_or_default().as_micros();
        let text = body(i, micros, slow);
        self.sqs.inject_raw(QUEUE, RawMessage::new(text));
    }

    fn child(&self, mode: &str, threads: &str, count: usize) -> Result<Child> {
        self.child_of(&std::env::current_exe()?, mode, threads, count)
    }

    fn child_of(&self, program: &Path, mode: &str, threads: &str, count: usize) -> Result<Child> {
        Ok(Command::new(program)
            .args(["child", mode, threads, &self.url, &count.to_string()])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?)
    }

    /// Runs one measurement: the numbers that the child prints.
    async fn run(&self, mode: &str, threads: &str, count: usize) -> Result<Vec<f64>> {
        finish(self.child(mode, threads, count)?).await
    }
}

async fn compare() -> Result<()> {
    println!("{MESSAGES} messages a run, the best of {ROUNDS} runs, turn by turn.");
    println!(
        "{:<8} {:<9} {:>12} {:>14} {:>12}",
        "threads", "", "messages/s", "CPU ms/message", "calls/message"
    );
    let bench = Bench::new().await?;
    for threads in ["one", "multi"] {
        let mut all = [vec![], vec![]];
        let mut calls_per_message = [0.0; 2];
        for _ in 0..ROUNDS {
            for (i, contender) in ["loop", "consumer"].into_iter().enumerate() {
                bench.fill(MESSAGES);
                bench.sqs.clear_calls();
                let numbers = bench.run(contender, threads, MESSAGES).await?;
                let calls = bench.sqs.calls();
                calls_per_message[i] = calls.total() as f64 / MESSAGES as f64;
                all[i].push((numbers[0], numbers[1]));
                if contender == "consumer" && all[i].len() == ROUNDS {
                    print_calls(&bench);
                }
            }
        }
        let best = all.map(best);
        for (i, name) in ["loop", "consumer"].into_iter().enumerate() {
            println!(
                "{threads:<8} {name:<9} {:>12.0} {:>14.4} {:>12.3}",
                best[i].0, best[i].1, calls_per_message[i]
            );
        }
        println!(
            "{threads:<8} {:<9} {:>11.2}x {:>13.2}x",
            "ratio",
            best[1].0 / best[0].0,
            best[1].1 / best[0].1
        );
    }
    memory(&bench).await?;
    slow_ones().await
}

/// A build without telemetry, one with it and none given, and one that measures for nobody.
async fn telemetry(plain: PathBuf) -> Result<()> {
    let this = std::env::current_exe()?;
    let contenders = [
        ("without", &plain, "consumer"),
        ("disabled", &this, "consumer"),
        ("no-op exporter", &this, "traced"),
    ];
    println!("{MESSAGES} messages a run, the best of {ROUNDS} runs, turn by turn.");
    println!(
        "{:<8} {:<15} {:>12} {:>14} {:>7}",
        "threads", "telemetry", "messages/s", "CPU ms/message", "ratio"
    );
    let bench = Bench::new().await?;
    for threads in ["one", "multi"] {
        let mut all = [vec![], vec![], vec![]];
        for _ in 0..ROUNDS {
            for (runs, (_, program, mode)) in all.iter_mut().zip(contenders) {
                bench.fill(MESSAGES);
                let numbers = finish(bench.child_of(program, mode, threads, MESSAGES)?).await?;
                runs.push((numbers[0], numbers[1]));
            }
        }
        let best = all.map(best);
        for ((name, ..), (rate, cpu)) in contenders.iter().zip(best) {
            let ratio = cpu / best[0].1;
            println!("{threads:<8} {name:<15} {rate:>12.0} {cpu:>14.4} {ratio:>6.3}x");
        }
    }
    Ok(())
}

fn print_calls(bench: &Bench) {
    let calls = bench.sqs.calls();
    let each = 1000.0 / MESSAGES as f64;
    let per_thousand = |operation| calls.count(operation) as f64 * each;
    println!(
        "Calls per 1,000 messages: {:.1} receives, {:.1} deletes, {:.1} visibility changes, {:.1} \
         in all.",
        per_thousand(Operation::ReceiveMessage),
        per_thousand(Operation::DeleteMessageBatch),
        per_thousand(Operation::ChangeMessageVisibilityBatch),
        calls.total() as f64 * each
    );
}

/// What a message in flight takes beside its body.
async fn memory(bench: &Bench) -> Result<()> {
    bench.fill(HELD);
    let numbers = bench.run("hold", "multi", HELD).await?;
    let body = body(0, 0, false).len() as f64;
    println!(
        "A message in flight with its handler running takes {:.0} bytes beside its body of {body:.0}.",
        numbers[0] - body
    );
    Ok(())
}

/// One slow handler in a hundred, and what the others notice of it.
async fn slow_ones() -> Result<()> {
    let mut p99 = Vec::new();
    for slow in [false, true] {
        let bench = Bench::new().await?;
        let fast = if slow { PACED - PACED / 100 } else { PACED };
        let child = bench.child("latency", "multi", fast)?;
        sleep(Duration::from_millis(500)).await;
        let begun = Instant::now();
        for i in 0..PACED {
            bench.put(i, slow && i % 100 == 0);
            tokio::time::sleep_until(begun + Duration::from_millis(5) * (i as u32 + 1)).await;
        }
        p99.push(finish(child).await?);
    }
    println!(
        "From send to handled, 200 messages/s: p50 {:.1} ms, p99 {:.1} ms; with one handler in a \
         hundred taking 3 s, the others: p50 {:.1} ms, p99 {:.1} ms.",
        p99[0][0], p99[0][1], p99[1][0], p99[1][1]
    );
    Ok(())
}

/// Measures one contender again and again, in processes of their own as ever: `perf record` follows
/// them, and `perf report --pid` tells them from the server.
async fn profile(contender: &str, threads: &str) -> Result<()> {
    let bench = Bench::new().await?;
    for _ in 0..ROUNDS {
        bench.fill(MESSAGES);
        let numbers = bench.run(contender, threads, MESSAGES).await?;
        println!(
            "{:.0} messages/s, CPU {:.4} ms/message, {:.2} sleeps of threads/message",
            numbers[0], numbers[1], numbers[2]
        );
    }
    Ok(())
}
