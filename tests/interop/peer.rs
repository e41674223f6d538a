//! Starts the Python side, and the SQS between both.

use std::process::{Command, Stdio};

use aws_sdk_sqs::Client;
use aws_sdk_sqs::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_sqs::types::QueueAttributeName;
use babelqueue::local::{LocalServer, LocalSqs};
use serde_json::Value;
use tokio::io::AsyncWriteExt;

/// One SQS for both sides.
pub struct Meeting {
    pub sqs: Client,
    endpoint: String,
    python: String,
    /// Keeps the embedded SQS open to the other side.
    _server: Option<LocalServer>,
}

impl Meeting {
    /// Over the embedded SQS: Rust reaches it within the process, Python over loopback.
    pub async fn local() -> Self {
        let local = LocalSqs::new();
        let server = local
            .serve("127.0.0.1:0")
            .await
            .expect("a free port on loopback");
        Self {
            sqs: local.client(),
            endpoint: server.endpoint(),
            python: interpreter(),
            _server: Some(server),
        }
    }

    /// Over every SQS there is: the embedded one, and the independent one that `tests/run` starts
    /// and names in `MINISTACK_ENDPOINT`.
    pub async fn all() -> Vec<Self> {
        let mut meetings = vec![Self::local().await];
        if let Ok(endpoint) = std::env::var("MINISTACK_ENDPOINT") {
            let config = aws_sdk_sqs::Config::builder()
                .behavior_version(BehaviorVersion::latest())
                .region(Region::new("us-east-1"))
                .credentials_provider(Credentials::new("test", "test", None, None, "test"))
                .endpoint_url(&endpoint)
                .build();
            meetings.push(Self {
                sqs: Client::from_conf(config),
                endpoint,
                python: interpreter(),
                _server: None,
            });
        }
        meetings
    }

    /// Where the Python side finds the SQS.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Creates a queue; gives its URL.
    pub async fn create_queue(&self, name: &str) -> String {
        let mut create = self.sqs.create_queue().queue_name(name);
        if name.ends_with(".fifo") {
            create = create.attributes(QueueAttributeName::FifoQueue, "true");
        }
        let created = create.send().await.expect("a new queue");
        created.queue_url.expect("its URL")
    }

    /// Asserts that nothing is left in the queue: nothing waiting, in flight or delayed.
    pub async fn assert_empty(&self, url: &str) {
        let asked = self.sqs.get_queue_attributes().queue_url(url);
        let answer = asked
            .attribute_names(QueueAttributeName::All)
            .send()
            .await
            .expect("counts");
        let counts = answer.attributes.expect("attributes");
        for (name, count) in counts {
            if name.as_str().starts_with("ApproximateNumberOfMessages") {
                assert_eq!(count, "0", "{name:?} of {url}");
            }
        }
    }

    /// Publishes through the Python SDK; returns the ids it gave.
    pub async fn publish(&self, messages: &[Value]) -> Vec<String> {
        let lines: String = messages
            .iter()
            .map(|message| format!("{message}\n"))
            .collect();
        let output = self.run(&["publish"], &lines).await;
        output.lines().map(str::to_owned).collect()
    }

    /// Lets the Python SDK handle `count` deliveries; returns what it saw.
    pub async fn consume(&self, queue: &str, count: usize) -> Vec<Value> {
        let output = self.run(&["consume", queue, &count.to_string()], "").await;
        lines(&output)
    }

    /// Publishes one message by the Python SDK's `otel` extra; returns its span.
    #[cfg(feature = "otel")]
    pub async fn traced_publish(&self, queue: &str, urn: &str) -> Vec<Value> {
        let output = self.run(&["traced-publish", queue, urn], "").await;
        lines(&output)
    }

    /// Lets the Python SDK's `otel` extra handle `count` deliveries; returns their spans.
    #[cfg(feature = "otel")]
    pub async fn traced_consume(&self, queue: &str, count: usize) -> Vec<Value> {
        let output = self
            .run(&["traced-consume", queue, &count.to_string()], "")
            .await;
        lines(&output)
    }

    async fn run(&self, arguments: &[&str], input: &str) -> String {
        let (mode, rest) = arguments.split_first().expect("a mode");
        let mut child = tokio::process::Command::new(&self.python)
            .args(["tests/interop/peer.py", mode, &self.endpoint])
            .args(rest)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the Python interpreter");
        let mut stdin = child.stdin.take().expect("its standard input");
        stdin.write_all(input.as_bytes()).await.expect("it reads");
        drop(stdin);
        let output = child.wait_with_output().await.expect("it ends");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "peer.py {arguments:?} failed:\n{errors}"
        );
        String::from_utf8(output.stdout).expect("UTF-8")
    }
}

fn lines(output: &str) -> Vec<Value> {
    let parse = |line| serde_json::from_str(line).expect("a line of JSON");
    output.lines().map(parse).collect()
}

/// The interpreter of the tests' own environment, set up on the first call.
fn interpreter() -> String {
    let output = Command::new("tests/python_env")
        .output()
        .expect("tests/python_env starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "the Python environment is missing:\n{errors}"
    );
    let path = String::from_utf8(output.stdout).expect("a path");
    path.trim().to_owned()
}

/// `cargo run --example …`, with an environment that names no SQS unless the test does.
pub fn example(name: &str) -> tokio::process::Command {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = tokio::process::Command::new(cargo);
    command.args(["run", "--quiet", "--example", name]);
    command.env_remove("BABELQUEUE_ENDPOINT").kill_on_drop(true);
    command
}
