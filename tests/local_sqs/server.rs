//! The server for other processes, through real sockets.

use std::time::{Duration, Instant};

use aws_sdk_sqs::Client;
use aws_sdk_sqs::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_sqs::operation::RequestId;
use babelqueue::local::{LocalServer, LocalSqs, Operation};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::support::*;

/// A client that goes over the network.
fn remote(server: &LocalServer) -> Client {
    let config = aws_sdk_sqs::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .endpoint_url(server.endpoint())
        .credentials_provider(Credentials::new("a", "b", None, None, "test"));
    Client::from_conf(config.build())
}

pub(crate) async fn serve() -> (LocalSqs, LocalServer, Client) {
    let local = LocalSqs::new();
    let server = local.serve("127.0.0.1:0").await.unwrap();
    let client = remote(&server);
    (local, server, client)
}

#[tokio::test]
async fn the_same_queues_in_process_and_over_the_network() {
    let (local, server, client) = serve().await;
    let created = client.create_queue().queue_name("q").send().await.unwrap();
    let url = created.queue_url().unwrap();
    assert_eq!(url, format!("{}/000000000000/q", server.endpoint()));
    send(&client, url, "from outside").await;
    let inside = local.client();
    let message = receive_one(&inside, &local.queue_url("q")).await;
    assert_eq!(message.body(), Some("from outside"));
    // A URL of either kind is understood on either side.
    delete(&inside, url, &message).await;
    assert!(local.snapshot("q").is_empty());
    server.shutdown().await;
}

#[tokio::test]
async fn errors_keep_their_types_over_the_network() {
    let (local, server, client) = serve().await;
    let error = client
        .get_queue_url()
        .queue_name("nope")
        .send()
        .await
        .unwrap_err();
    assert!(error.into_service_error().is_queue_does_not_exist());
    let url = local.create_queue("q");
    let garbage = client
        .delete_message()
        .queue_url(&url)
        .receipt_handle("garbage")
        .send()
        .await;
    assert!(
        garbage
            .unwrap_err()
            .into_service_error()
            .is_receipt_handle_is_invalid()
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_lost_response_over_the_network() {
    let (local, server, client) = serve().await;
    let url = local.create_queue("q");
    local
        .faults()
        .on(Operation::SendMessage)
        .once()
        .lose_response();
    send(&client, &url, "x").await;
    assert_eq!(local.snapshot(&url).visible.len(), 2);
    server.shutdown().await;
}

#[tokio::test]
async fn a_shutdown_frees_the_port_and_cuts_waiting_receives() {
    let (local, server, client) = serve().await;
    let url = local.create_queue("q");
    let waiting = tokio::spawn(async move {
        client
            .receive_message()
            .queue_url(url)
            .wait_time_seconds(20)
            .send()
            .await
            .map(drop)
    });
    local.wait_until_called(Operation::ReceiveMessage, 1).await;
    let (addr, start) = (server.addr(), Instant::now());
    server.shutdown().await;
    assert!(start.elapsed() < Duration::from_secs(5));
    let again = local.serve(addr).await.unwrap();
    again.shutdown().await;
    waiting.abort();
}

#[tokio::test]
async fn a_taken_port_is_an_error() {
    let (local, server, _) = serve().await;
    assert!(local.serve(server.addr()).await.is_err());
    server.shutdown().await;
}

#[tokio::test]
async fn a_waiting_receive_whose_client_has_gone_takes_nothing() {
    let (local, server, client) = serve().await;
    // Alone, and with others waiting behind it on the same connection.
    for (round, requests) in (1..).zip([1, 2, 100]) {
        let name = format!("q{round}");
        let url = local.create_queue(&name);
        let body = format!(r#"{{"QueueUrl":"{url}","WaitTimeSeconds":20}}"#);
        let request = format!(
            "POST / HTTP/1.1\r\nhost: x\r\nx-amz-target: AmazonSQS.ReceiveMessage\r\n\
             content-type: application/x-amz-json-1.0\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(server.addr()).await.unwrap();
        let all = request.repeat(requests);
        stream.write_all(all.as_bytes()).await.unwrap();
        local
            .wait_until_called(Operation::ReceiveMessage, round)
            .await;
        drop(stream);
        // By the time another connection was served, the server has seen this one close.
        client
            .get_queue_url()
            .queue_name(&name)
            .send()
            .await
            .unwrap();
        send(&client, &url, "x").await;
        assert_eq!(local.snapshot(&url).visible.len(), 1, "{requests} requests");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn every_answer_has_a_request_id_of_its_own() {
    let (local, server, outside) = serve().await;
    let url = local.create_queue("q");
    let mut ids = Vec::new();
    for client in [&outside, &local.client()] {
        let sent = client
            .send_message()
            .queue_url(&url)
            .message_body("x")
            .send()
            .await
            .unwrap();
        ids.push(sent.request_id().unwrap().to_owned());
        let error = client
            .get_queue_url()
            .queue_name("nope")
            .send()
            .await
            .unwrap_err();
        ids.push(error.request_id().unwrap().to_owned());
    }
    ids.dedup();
    assert_eq!(ids.len(), 4);
    server.shutdown().await;
}
