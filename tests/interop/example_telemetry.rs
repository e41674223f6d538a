//! `cargo run --example telemetry`, and where its spans go.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::peer::example;

/// Takes whatever is posted, and remembers where to.
async fn collector() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let endpoint = format!("http://{}", listener.local_addr().expect("its address"));
    let paths = Arc::<Mutex<Vec<String>>>::default();
    let seen = Arc::clone(&paths);
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            let mut request = vec![0; 8192];
            let read = connection.read(&mut request).await.unwrap_or(0);
            let head = String::from_utf8_lossy(&request[..read]).into_owned();
            let line = head.lines().next().unwrap_or_default().to_owned();
            seen.lock().unwrap().push(line);
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            let _ = connection.write_all(answer.as_bytes()).await;
        }
    });
    (endpoint, paths)
}

#[tokio::test]
async fn telemetry_prints_the_trace_as_a_tree_and_sends_it_to_the_collector() {
    let (endpoint, paths) = collector().await;
    let mut command = example("telemetry");
    // Those of this test, which are built.
    command.args(["--all-features", "--", "--all"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
    let output = command.output().await.expect("cargo starts");
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{out}\n{err}");
    let tree = "\
└─ POST /orders (Internal)
   └─ publish urn:babel:orders:created (Producer)
      ├─ process urn:babel:orders:created (Consumer, attempts 0, outcome retry) ERROR the bank does not answer
      └─ process urn:babel:orders:created (Consumer, attempts 1, outcome done)
         └─ publish urn:babel:mails:wanted (Producer)
            └─ process urn:babel:mails:wanted (Consumer, attempts 0, outcome done)
";
    assert!(out.contains(tree), "{out}\n{err}");
    assert!(
        out.contains("outcome dead_letter) ERROR the card is stolen"),
        "{out}"
    );
    assert!(
        out.contains("messaging.process.duration"),
        "the metrics are printed, too"
    );
    let paths = paths.lock().unwrap();
    for path in ["POST /v1/traces", "POST /v1/metrics"] {
        assert!(paths.iter().any(|line| line.starts_with(path)), "{paths:?}");
    }
}
