//! What the benchmarks of the consumer and of the publisher share: what the process has used so
//! far, as Linux tells; the runtimes; the client; and the numbers that a measured process prints.

use std::fs;
use std::time::Duration;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::config::{BehaviorVersion, Credentials, Region};
use tokio::io::AsyncReadExt as _;
use tokio::process::Child;

use crate::Result;

/// `one` thread, or several.
pub(crate) fn runtime(threads: &str) -> std::io::Result<tokio::runtime::Runtime> {
    match threads {
        "one" => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    }
    .enable_all()
    .build()
}

/// For the server that has this queue.
pub(crate) fn client(url: &str) -> Client {
    let endpoint = url.split("/000000000000").next().unwrap_or(url);
    let config = aws_sdk_sqs::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .endpoint_url(endpoint)
        .credentials_provider(Credentials::new("a", "b", None, None, "bench"));
    Client::from_conf(config.build())
}

/// The numbers that a measurement prints, when it has ended.
pub(crate) async fn finish(mut child: Child) -> Result<Vec<f64>> {
    let mut text = String::new();
    if let Some(stdout) = &mut child.stdout {
        stdout.read_to_string(&mut text).await?;
    }
    child.wait().await?;
    let numbers = text.split_whitespace().map(str::parse);
    Ok(numbers.collect::<std::result::Result<_, _>>()?)
}

/// The best throughput, and the least processor time: whatever else the machine does only adds to a
/// run.
pub(crate) fn best(runs: Vec<(f64, f64)>) -> (f64, f64) {
    let rates = runs.iter().map(|run| run.0);
    let cpu = runs.iter().map(|run| run.1);
    (rates.fold(0.0, f64::max), cpu.fold(f64::INFINITY, f64::min))
}

/// Processor time of all threads that live, in nanoseconds.
pub(crate) fn cpu() -> Result<Duration> {
    // The kernel adds up a running thread's time now and then, and whenever it yields.
    std::thread::yield_now();
    let mut nanos = 0;
    for thread in fs::read_dir("/proc/self/task")? {
        let times = fs::read_to_string(thread?.path().join("schedstat"))?;
        let running = times.split_whitespace().next();
        nanos += running
            .ok_or("the thread's schedstat is odd")?
            .parse::<u64>()?;
    }
    Ok(Duration::from_nanos(nanos))
}

/// Resident memory in bytes.
pub(crate) fn resident() -> Result<usize> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .ok_or("/proc/self/status has no VmRSS")?;
    let kilobytes: usize = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes * 1024)
}

/// How often the threads have gone to sleep so far: each time somebody has to wake them.
pub(crate) fn sleeps() -> Result<usize> {
    let mut sleeps = 0;
    for thread in fs::read_dir("/proc/self/task")? {
        let status = fs::read_to_string(thread?.path().join("status"))?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))
            .ok_or("the thread's status is odd")?;
        sleeps += line.trim().parse::<usize>()?;
    }
    Ok(sleeps)
}
