//! `cargo run --example local_sqs`.

use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader};

use crate::peer::example;

#[tokio::test]
async fn local_sqs_says_where_it_serves() {
    let mut child = example("local_sqs")
        .args(["--", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("cargo starts");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let mut endpoint = None;
    while endpoint.is_none() {
        let line = lines
            .next_line()
            .await
            .expect("text")
            .expect("a line with the endpoint");
        endpoint = line.split_whitespace().find_map(|word| {
            let at = word.find("http://127.0.0.1:")?;
            Some(
                word[at..]
                    .trim_end_matches(['.', ',', '"', '\''])
                    .to_owned(),
            )
        });
    }
    let address = endpoint.expect("an endpoint");
    let address = address.trim_start_matches("http://");
    tokio::net::TcpStream::connect(address)
        .await
        .expect("it listens there");
    child.kill().await.expect("it can be stopped");
}

#[tokio::test]
async fn local_sqs_refuses_what_is_no_address() {
    let output = example("local_sqs")
        .args(["--", "nowhere"])
        .output()
        .await
        .expect("cargo starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("nowhere"), "{text}");
}
