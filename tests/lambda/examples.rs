//! The examples, run as what they are: processes that ask Lambda's runtime API for events.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

fn cargo_run(example: &str) -> Command {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command
        .args(["run", "-q", "--all-features", "--example", example, "--"])
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

#[test]
fn a_recorded_event_runs_locally() {
    let mut run = cargo_run("lambda_local");
    let output = run
        .arg("tests/lambda/events/standard.json")
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{log}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).trim(),
        r#"{"batchItemFailures":[{"itemIdentifier":"2e1424d4-f796-459a-8184-9c92662be6da"}]}"#
    );
    let line = "[059f36b4-87a3-44ab-83d2-661975830a7d] INFO created order_id=1042";
    assert!(log.contains(line), "{log}");
}

/// Stands in for Lambda: gives the function one event and returns its answer.
fn answer_of(example: &str, event: &str) -> String {
    let path = format!(
        "{}/tests/lambda/events/{event}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let event = std::fs::read_to_string(path).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut function = cargo_run(example)
        .env(
            "AWS_LAMBDA_RUNTIME_API",
            listener.local_addr().unwrap().to_string(),
        )
        .env("AWS_LAMBDA_FUNCTION_NAME", "orders")
        .env("AWS_LAMBDA_FUNCTION_VERSION", "1")
        .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "128")
        .env("AWS_LAMBDA_LOG_GROUP_NAME", "orders")
        .env("AWS_LAMBDA_LOG_STREAM_NAME", "1")
        .env("AWS_REGION", "eu-west-1")
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut given = false;
    let answer = loop {
        let (mut stream, _) = listener.accept().unwrap();
        let mut read = Vec::new();
        let mut chunk = [0; 4096];
        let answer = loop {
            let n = stream.read(&mut chunk).unwrap();
            if n == 0 {
                break None;
            }
            read.extend_from_slice(&chunk[..n]);
            let text = String::from_utf8_lossy(&read).into_owned();
            let Some((head, body)) = text.split_once("\r\n\r\n") else {
                continue;
            };
            if head.starts_with("GET") && !given {
                given = true;
                read.clear();
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
                let deadline = (now + Duration::from_secs(60)).as_millis();
                let length = event.len();
                let response = format!(
                    "HTTP/1.1 200 OK\r\nlambda-runtime-aws-request-id: r-1\r\n\
                     lambda-runtime-deadline-ms: {deadline}\r\n\
                     lambda-runtime-invoked-function-arn: arn\r\n\
                     content-type: application/json\r\ncontent-length: {length}\r\n\r\n{event}"
                );
                stream.write_all(response.as_bytes()).unwrap();
            } else if head.starts_with("POST") {
                assert!(
                    head.starts_with("POST /2018-06-01/runtime/invocation/r-1/response"),
                    "{text}"
                );
                let line = head
                    .lines()
                    .find(|line| line.to_lowercase().starts_with("content-length"));
                let length = line.and_then(|line| line.split(": ").nth(1)?.parse().ok());
                if length.is_none_or(|length: usize| body.len() >= length) && !body.is_empty() {
                    break Some(body.to_owned());
                }
            }
        };
        if let Some(answer) = answer {
            break answer;
        }
    };
    function.kill().unwrap();
    function.wait().unwrap();
    answer
}

#[test]
fn b33_the_iterative_function_answers_lambda() {
    assert_eq!(
        answer_of("lambda_iterative", "fifo"),
        r#"{"batchItemFailures":[]}"#
    );
}

#[test]
fn b33_the_batch_function_answers_lambda() {
    let answer = answer_of("lambda_batch", "standard");
    let failed = r#"[{"itemIdentifier":"2e1424d4-f796-459a-8184-9c92662be6da"}]"#;
    assert_eq!(answer, format!(r#"{{"batchItemFailures":{failed}}}"#));
}
