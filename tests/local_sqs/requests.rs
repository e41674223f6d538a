//! Requests that are broken in their form, byte by byte.

use babelqueue::local::LocalServer;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::server::serve;
use crate::support::*;

const JSON: &str = "application/x-amz-json-1.0";

/// Sends raw bytes and no more after them, and gives what comes back.
async fn raw(server: &LocalServer, request: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(server.addr()).await.unwrap();
    stream.write_all(request).await.unwrap();
    answer(stream).await
}

async fn answer(mut stream: TcpStream) -> Answer {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer of HTTP");
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap();
    let header = |name: &str| {
        let mut lines = head.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(it, _)| it.eq_ignore_ascii_case(name));
        found.unwrap_or_else(|| panic!("no {name} in {head}")).1
    };
    // Whatever it says, it says in JSON, with an id.
    assert_eq!(header("content-type"), JSON, "{answer}");
    assert!(!header("x-amzn-requestid").is_empty());
    let body: Value = serde_json::from_str(body).unwrap();
    let kind = body["__type"].as_str().unwrap_or("none");
    Answer {
        status: status.parse().unwrap(),
        kind: kind.rsplit('#').next().unwrap().to_owned(),
        query: (kind != "none").then(|| header("x-amzn-query-error").to_owned()),
        message: body["message"].as_str().unwrap_or_default().to_owned(),
    }
}

#[derive(Debug)]
struct Answer {
    status: u16,
    kind: String,
    query: Option<String>,
    message: String,
}

impl Answer {
    #[track_caller]
    fn is(&self, status: u16, kind: &str) {
        assert_eq!(
            (self.status, self.kind.as_str()),
            (status, kind),
            "{self:?}"
        );
    }
}

fn head(target: &str, content_type: &str, more: &str) -> String {
    format!(
        "POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-amz-target: AmazonSQS.{target}\r\n\
         content-type: {content_type}\r\n{more}\r\n\r\n"
    )
}

async fn post(server: &LocalServer, target: &str, content_type: &str, body: &str) -> Answer {
    let length = format!("content-length: {}", body.len());
    let request = head(target, content_type, &length) + body;
    raw(server, request.as_bytes()).await
}

#[tokio::test]
async fn what_is_not_the_json_protocol_is_refused_in_so_many_words() {
    let (_, server, _) = serve().await;
    let get = "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let answer = raw(&server, get.as_bytes()).await;
    answer.is(405, "UnknownOperationException");
    assert!(answer.message.contains("AWS JSON 1.0"), "{answer:?}");
    let query = "POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
                 content-type: application/x-www-form-urlencoded\r\ncontent-length: 17\r\n\r\n\
                 Action=ListQueues";
    let answer = raw(&server, query.as_bytes()).await;
    answer.is(400, "UnknownOperationException");
    assert!(answer.message.contains("AWS JSON 1.0"), "{answer:?}");
    let odd = post(&server, "Dance", JSON, "{}").await;
    odd.is(400, "UnknownOperationException");
    assert_eq!(odd.query.as_deref(), Some("InvalidAction;Sender"));
    server.shutdown().await;
}

#[tokio::test]
async fn a_wrong_content_type_is_refused() {
    let (_, server, _) = serve().await;
    for good in [
        JSON,
        "Application/X-Amz-Json-1.0",
        "application/x-amz-json-1.0; charset=utf-8",
    ] {
        let listed = post(&server, "ListQueues", good, "{}").await;
        assert_eq!(listed.status, 200, "{good} {listed:?}");
    }
    for bad in [
        "application/x-amz-json-1.1",
        "application/json",
        "text/plain",
        "application/x-www-form-urlencoded",
        "",
    ] {
        let answer = post(&server, "ListQueues", bad, "{}").await;
        answer.is(400, "UnknownOperationException");
    }
    let without = "POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
                   x-amz-target: AmazonSQS.ListQueues\r\ncontent-length: 2\r\n\r\n{}";
    let answer = raw(&server, without.as_bytes()).await;
    answer.is(400, "UnknownOperationException");
    server.shutdown().await;
}

#[tokio::test]
async fn what_is_not_the_json_of_its_operation_is_refused() {
    let (local, server, _) = serve().await;
    let url = local.create_queue("q");
    let send = |more: &str| format!(r#"{{"QueueUrl":"{url}","MessageBody":"x",{more}}}"#);
    let batch = |entries: &str| format!(r#"{{"QueueUrl":"{url}","Entries":{entries}}}"#);
    for (target, body) in [
        ("SendMessage", "{".to_owned()),
        ("SendMessage", "[]".to_owned()),
        ("SendMessage", "null".to_owned()),
        ("SendMessage", "\"text\"".to_owned()),
        ("SendMessage", format!("{}{{}}", send("\"DelaySeconds\":0"))),
        ("SendMessage", format!(r#"["","{url}","x"]"#)),
        (
            "SendMessage",
            format!(r#"{{"QueueUrl":["{url}"],"MessageBody":"x"}}"#),
        ),
        (
            "SendMessage",
            format!(r#"{{"QueueUrl":"{url}","MessageBody":7}}"#),
        ),
        ("SendMessage", send(r#""DelaySeconds":"1""#)),
        ("SendMessage", send(r#""DelaySeconds":1.5"#)),
        (
            "SendMessage",
            send(r#""DelaySeconds":99999999999999999999"#),
        ),
        ("SendMessage", send(r#""MessageAttributes":[]"#)),
        (
            "SendMessage",
            send(r#""MessageAttributes":{"a":["String","v"]}"#),
        ),
        ("SendMessage", send(r#""MessageAttributes":{"a":"v"}"#)),
        ("SendMessage", send(r#""MessageAttributes":{"a":null}"#)),
        (
            "SendMessage",
            send(r#""MessageSystemAttributes":{"AWSTraceHeader":["String","v"]}"#),
        ),
        (
            "SendMessage",
            send(r#""MessageAttributes":{"a":{"DataType":"Binary","BinaryValue":"*"}}"#),
        ),
        ("SendMessageBatch", batch(r#"[["id","body"]]"#)),
        ("SendMessageBatch", batch(r#"[["id",null,"body"]]"#)),
        ("SendMessageBatch", batch("{}")),
        ("SendMessageBatch", batch("[null]")),
        ("SendMessageBatch", batch("[\"id\"]")),
        (
            "SendMessageBatch",
            batch(r#"[{"Id":"a","MessageBody":"x","MessageAttributes":{"a":["String","v"]}}]"#),
        ),
        ("DeleteMessageBatch", batch(r#"[["id",null,"handle"]]"#)),
        (
            "ChangeMessageVisibilityBatch",
            batch(r#"[["id",null,"handle",0]]"#),
        ),
        (
            "CreateQueue",
            r#"{"QueueName":"n","Attributes":[["DelaySeconds","1"]]}"#.to_owned(),
        ),
        (
            "CreateQueue",
            r#"{"QueueName":"n","Attributes":{"DelaySeconds":1}}"#.to_owned(),
        ),
        (
            "CreateQueue",
            r#"{"QueueName":"n","tags":["a"]}"#.to_owned(),
        ),
        (
            "TagQueue",
            format!(r#"{{"QueueUrl":"{url}","Tags":[["a","b"]]}}"#),
        ),
        (
            "TagQueue",
            format!(r#"{{"QueueUrl":"{url}","Tags":{{"a":null}}}}"#),
        ),
        (
            "UntagQueue",
            format!(r#"{{"QueueUrl":"{url}","TagKeys":"a"}}"#),
        ),
        (
            "ReceiveMessage",
            format!(r#"{{"QueueUrl":"{url}","MessageAttributeNames":"All"}}"#),
        ),
        ("ReceiveMessage", format!(r#"["{url}"]"#)),
        ("ListQueues", "[]".to_owned()),
    ] {
        let answer = post(&server, target, JSON, &body).await;
        assert_eq!(
            (answer.status, answer.kind.as_str()),
            (400, "SerializationException"),
            "{target} {body} {answer:?}"
        );
        assert_eq!(answer.query.as_deref(), Some("MalformedInput;Sender"));
    }
    assert!(local.snapshot(&url).is_empty());
    // Nothing at all is an object without fields.
    post(&server, "SendMessage", JSON, "")
        .await
        .is(400, "MissingRequiredParameterException");
    server.shutdown().await;
}

#[tokio::test]
async fn a_body_that_breaks_off_is_answered() {
    let (local, server, _) = serve().await;
    let url = local.create_queue("q");
    let body = format!(r#"{{"QueueUrl":"{url}","MessageBody":"x"}}"#);
    let chunked = head("SendMessage", JSON, "transfer-encoding: chunked");
    let counted = head("SendMessage", JSON, "content-length: 1000");
    for request in [
        format!("{chunked}{:x}\r\n{body}\r\n", body.len()),
        format!("{chunked}ff\r\n{body}"),
        format!("{chunked}zz\r\n{body}\r\n0\r\n\r\n"),
        format!("{counted}{body}"),
    ] {
        let mut stream = TcpStream::connect(server.addr()).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        // The client has said all that it will say, and listens.
        stream.shutdown().await.unwrap();
        answer(stream).await.is(400, "SerializationException");
    }
    assert!(local.snapshot(&url).is_empty());
    let whole = format!("{chunked}{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    assert_eq!(raw(&server, whole.as_bytes()).await.status, 200);
    server.shutdown().await;
}

#[tokio::test]
async fn a_body_that_is_too_long_is_answered() {
    let (_, server, _) = serve().await;
    // Far beyond the limit: the client is still sending when the server has seen enough.
    let body = "x".repeat(48 << 20);
    let answer = post(&server, "SendMessage", JSON, &body).await;
    answer.is(413, "RequestEntityTooLargeException");
    assert_eq!(
        answer.query.as_deref(),
        Some("RequestEntityTooLarge;Sender")
    );
    let chunked = head("SendMessage", JSON, "transfer-encoding: chunked");
    let request = format!("{chunked}{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    raw(&server, request.as_bytes())
        .await
        .is(413, "RequestEntityTooLargeException");
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_queue_url_counts_by_its_path() {
    let (local, client) = sqs();
    local.create_queue("q");
    let ask = |url: &str| client.list_queue_tags().queue_url(url).send();
    for good in [
        "http://sqs.local/000000000000/q",
        "https://sqs.us-east-1.amazonaws.com/000000000000/q",
        "HTTP://localhost:1/000000000000/q",
    ] {
        assert!(ask(good).await.is_ok(), "{good}");
    }
    for (bad, expected) in [
        ("q", "InvalidAddress"),
        ("000000000000/q", "InvalidAddress"),
        ("/000000000000/q", "InvalidAddress"),
        ("sqs.local/000000000000/q", "InvalidAddress"),
        ("ftp://sqs.local/000000000000/q", "InvalidAddress"),
        ("http:/sqs.local/000000000000/q", "InvalidAddress"),
        ("http:///000000000000/q", "InvalidAddress"),
        ("http://sqs.local/q", "InvalidAddress"),
        ("http://sqs.local/account/q", "InvalidAddress"),
        ("http://sqs.local/000000000000/q/", "InvalidAddress"),
        ("http://sqs.local/000000000000/q?x=1", "InvalidAddress"),
        ("http://sqs.local/x/000000000000/q", "InvalidAddress"),
        ("http://sqs.local/000000000000/a b", "InvalidAddress"),
        ("arn:aws:sqs:us-east-1:000000000000:q", "InvalidAddress"),
        ("http://sqs.local/000000000000/Q", NO_QUEUE),
        ("http://sqs.local/111111111111/q", NO_QUEUE),
    ] {
        assert_eq!(code(ask(bad).await), expected, "{bad}");
    }
}

const NO_QUEUE: &str = "AWS.SimpleQueueService.NonExistentQueue";
