//! What the library adds to a Lambda function: size of the binary, and the time from the start of
//! the process to its first answer, against a function written by hand on the same runtime and the
//! same SDK. This file stands in for Lambda: it starts each binary in turn, hands it one event, and
//! waits for the answer.
//!
//! ```text
//! CARGO_PROFILE_RELEASE_STRIP=true cargo build --release --features lambda \
//!     --example lambda_bench --example lambda_iterative --example lambda_hand_written
//! target/release/examples/lambda_bench
//! ```
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::time::timeout;

const ROUNDS: usize = 40;

const LONGEST: Duration = Duration::from_secs(30);

const EVENT: &str = include_str!("../../tests/lambda/events/fifo.json");

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let folder = std::env::current_exe()?;
    let folder = folder.parent().ok_or("no folder")?;
    let binaries = ["lambda_hand_written", "lambda_iterative"].map(|name| folder.join(name));
    let mut times: [Vec<Duration>; 2] = Default::default();
    for _ in 0..ROUNDS {
        // One after the other, so that what slows the machine down slows both.
        for (binary, times) in binaries.iter().zip(&mut times) {
            times.push(first_answer(binary).await?);
        }
    }
    let mut figures = Vec::new();
    for (binary, times) in binaries.iter().zip(&mut times) {
        times.sort();
        let size = std::fs::metadata(binary)?.len();
        let (least, middle) = (times[0], times[times.len() / 2]);
        println!(
            "{:<40} {size:>10} bytes, first answer after {least:?} at least, {middle:?} in the middle",
            binary.display()
        );
        figures.push((size as f64, least.as_secs_f64(), middle.as_secs_f64()));
    }
    let ((size, least, middle), own) = (figures[0], figures[1]);
    println!(
        "ratio: size {:.3}, least time {:.3}, middle time {:.3}",
        own.0 / size,
        own.1 / least,
        own.2 / middle
    );
    Ok(())
}

/// Starts a function, gives it one event, and says how long its answer took.
async fn first_answer(binary: &Path) -> Result<Duration> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let begun = Instant::now();
    let mut function = start(binary, &listener)?;
    let (answers, mut answered) = mpsc::channel(1);
    let serving = tokio::spawn(async move {
        // It may open another connection before it is done with one.
        while let Ok((stream, _)) = listener.accept().await {
            let answers = answers.clone();
            tokio::spawn(async move {
                if let Ok(true) = serve(stream).await {
                    let _ = answers.send(begun.elapsed()).await;
                }
            });
        }
    });
    let answer = timeout(LONGEST, answered.recv()).await;
    serving.abort();
    function.kill().await?;
    answer?.ok_or_else(|| "the function gave no answer".into())
}

fn start(binary: &Path, listener: &TcpListener) -> Result<tokio::process::Child> {
    Ok(Command::new(binary)
        .env("AWS_LAMBDA_RUNTIME_API", listener.local_addr()?.to_string())
        .env("AWS_LAMBDA_FUNCTION_NAME", "orders")
        .env("AWS_LAMBDA_FUNCTION_VERSION", "1")
        .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "128")
        .env("AWS_LAMBDA_LOG_GROUP_NAME", "orders")
        .env("AWS_LAMBDA_LOG_STREAM_NAME", "1")
        .env("AWS_REGION", "eu-west-1")
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?)
}

/// Answers the requests of one connection. Whether the function's answer was among them.
async fn serve(mut stream: TcpStream) -> Result<bool> {
    let mut read = Vec::new();
    let mut given = false;
    loop {
        let mut chunk = [0; 8192];
        let n = stream.read(&mut chunk).await?;
        if n == 0 {
            return Ok(false);
        }
        read.extend_from_slice(&chunk[..n]);
        let text = String::from_utf8_lossy(&read).into_owned();
        if text.starts_with("GET") && text.contains("\r\n\r\n") && !given {
            given = true;
            let deadline = SystemTime::now().duration_since(UNIX_EPOCH)? + Duration::from_secs(30);
            let head = format!(
                "HTTP/1.1 200 OK\r\nlambda-runtime-aws-request-id: r-1\r\n\
                 lambda-runtime-deadline-ms: {}\r\nlambda-runtime-invoked-function-arn: arn\r\n\
                 content-type: application/json\r\ncontent-length: {}\r\n\r\n",
                deadline.as_millis(),
                EVENT.len()
            );
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(EVENT.as_bytes()).await?;
            read.clear();
        } else if text.starts_with("POST") && text.contains("batchItemFailures") {
            return Ok(true);
        }
    }
}
