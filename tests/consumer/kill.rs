//! Processes that are killed: consumers of their own processes over the embedded SQS, real time,
//! real `SIGKILL`. Every message must be handled all the same, and none by a dead process.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use aws_sdk_sqs::config::{BehaviorVersion, Credentials, Region};
use babelqueue::local::{LocalSqs, RawMessage};
use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::time::sleep;

use crate::support::body;

const MESSAGES: usize = 120;
const ENDPOINT: &str = "BABELQUEUE_KILL_ENDPOINT";
const QUEUE_URL: &str = "BABELQUEUE_KILL_URL";
const LOG: &str = "BABELQUEUE_KILL_LOG";

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:test:job"]
struct Job {
    name: String,
}

/// Takes a while, then writes its effect down, in one write that a kill cannot cut in two.
#[babel_handler]
async fn job(job: Job, State(log): State<String>) -> Result<(), std::io::Error> {
    sleep(Duration::from_millis(30)).await;
    let mut options = tokio::fs::OpenOptions::new();
    let mut file = options.append(true).create(true).open(&log).await?;
    file.write_all(format!("{} {}\n", job.name, std::process::id()).as_bytes())
        .await?;
    file.flush().await
}

/// Not a test by itself: the consumer that [`killed_consumers_lose_nothing`] starts, and kills.
#[test]
#[ignore = "run by killed_consumers_lose_nothing in processes of their own"]
fn victim() {
    let variable = |name| std::env::var(name).expect("set by the test");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let config = aws_sdk_sqs::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .endpoint_url(variable(ENDPOINT))
            .credentials_provider(Credentials::new("a", "b", None, None, "test"))
            .build();
        let client = aws_sdk_sqs::Client::from_conf(config);
        SqsConsumer::builder(client, variable(QUEUE_URL), Router::from_handlers![job])
            .state(variable(LOG))
            .concurrency(2)
            .max_in_flight(6)
            .build()
            .unwrap()
            .run_until(shutdown_signal())
            .await
            .unwrap();
    });
}

/// A process that ends with the test, however that ends.
struct Victim(Child);

impl Victim {
    fn start(endpoint: &str, url: &str, log: &Path) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["kill::victim", "--exact", "--ignored", "--nocapture"])
            .env(ENDPOINT, endpoint)
            .env(QUEUE_URL, url)
            .env(LOG, log)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Self(child.unwrap())
    }

    fn id(&self) -> u32 {
        self.0.id()
    }

    /// `SIGKILL`.
    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Which process had which effect, as far as it is written down.
fn effects(log: &Path) -> Vec<(String, u32)> {
    let text = fs::read_to_string(log).unwrap_or_default();
    let line = |line: &str| {
        let (name, process) = line.split_once(' ').unwrap();
        (name.to_owned(), process.parse().unwrap())
    };
    text.lines().map(line).collect()
}

async fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn killed_consumers_lose_nothing() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let log = folder.join(format!("killed-{}.log", std::process::id()));
    let _ = fs::remove_file(&log);
    let sqs = LocalSqs::new();
    sqs.create_queue_with("jobs", [("VisibilityTimeout", "1")])
        .unwrap();
    let server = sqs.serve("127.0.0.1:0").await.unwrap();
    let endpoint = server.endpoint();
    let url = format!("{endpoint}/000000000000/jobs");
    for i in 0..MESSAGES {
        let data = json!({ "name": format!("j{i:02}") });
        sqs.inject_raw("jobs", RawMessage::new(body("urn:test:job", &data)));
    }
    let start = || Victim::start(&endpoint, &url, &log);
    let mut victims = vec![start(), start()];
    let mut killed = Vec::new();
    while killed.len() < 4 {
        // Each is killed in the middle of its work: it has had effects, and has more in hand.
        let mut victim = victims.remove(0);
        let process = victim.id();
        until("the victim never had an effect", || {
            effects(&log).iter().any(|(_, by)| *by == process)
        })
        .await;
        victim.kill();
        killed.push((process, effects(&log).len()));
        victims.push(start());
    }
    until("messages are left", || sqs.snapshot("jobs").is_empty()).await;

    let effects = effects(&log);
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, _) in &effects {
        *times.entry(name).or_default() += 1;
    }
    assert_eq!(times.len(), MESSAGES, "every message had its effect");
    // Of each killed process at most what it had in hand was done again.
    let again = effects.len() - MESSAGES;
    assert!(again <= killed.len() * 6, "{again} effects too many");
    for (process, length) in killed {
        let late = effects[length..].iter().any(|(_, by)| *by == process);
        assert!(!late, "a dead process has no effect");
    }
    server.shutdown().await;
    let _ = fs::remove_file(&log);
}
