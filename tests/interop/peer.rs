//! Starts the Python side, and the SQS between both.

use std::process::{Command, Stdio};

use aws_sdk_sqs::Client;
use babelqueue::local::{LocalServer, LocalSqs};
use serde_json::Value;
use tokio::io::AsyncWriteExt;

/// One SQS for both sides: Rust reaches it within the process, Python over loopback.
pub struct Meeting {
    pub sqs: Client,
    pub local: LocalSqs,
    server: LocalServer,
    python: String,
}

impl Meeting {
    pub async fn new() -> Self {
        let local = LocalSqs::new();
        let address = "127.0.0.1:0".parse().expect("an address");
        let server = local.serve(address).await.expect("a free port on loopback");
        Self {
            sqs: local.client(),
            local,
            server,
            python: interpreter(),
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
        let parse = |line| serde_json::from_str(line).expect("a line of JSON");
        output.lines().map(parse).collect()
    }

    async fn run(&self, arguments: &[&str], input: &str) -> String {
        let (mode, rest) = arguments.split_first().expect("a mode");
        let endpoint = self.server.endpoint();
        let mut child = tokio::process::Command::new(&self.python)
            .args(["tests/interop/peer.py", mode, &endpoint])
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
