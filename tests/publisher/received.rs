//! What others send along with a message, as a consumer sees it.

use std::time::Duration;

use babelqueue::local::RawMessage;
use babelqueue::prelude::*;
use tokio::sync::mpsc;

use crate::support::{OrderCreated, server};

type Seen = (u64, Option<String>, u64, Vec<(String, String)>);

#[derive(Clone, FromRef)]
struct App {
    seen: mpsc::UnboundedSender<Seen>,
}

#[babel_handler]
async fn order_created(
    order: OrderCreated,
    ctx: &Context,
    State(seen): State<mpsc::UnboundedSender<Seen>>,
) {
    let headers = ctx.headers().iter();
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_string()));
    let id = ctx.meta().id().map(ToOwned::to_owned);
    let seen = seen.send((order.order_id, id, ctx.attempts(), headers.collect()));
    seen.expect("the test waits");
}

/// Handles one message that others sent.
async fn handled(message: RawMessage) -> Seen {
    let sqs = server();
    sqs.inject_raw("orders", message);
    let (seen, mut all) = mpsc::unbounded_channel();
    let router = Router::from_handlers![order_created];
    let consumer = SqsConsumer::builder(sqs.client(), sqs.queue_url("orders"), router);
    let consumer = consumer.state(App { seen }).build().unwrap();
    let stop = consumer.handle();
    let run = tokio::spawn(consumer.run());
    let seen = tokio::time::timeout(Duration::from_secs(60), all.recv()).await;
    stop.stop();
    run.await.unwrap().unwrap();
    sqs.wait_until_empty("orders").await;
    seen.expect("it is handled in time").expect("it is handled")
}

fn message() -> RawMessage {
    let data = r#"{"customer":null,"order_id":7}"#;
    let meta = r#"{"id":"m-1","queue":"orders","lang":"php","schema_version":1,"created_at":5}"#;
    let urn = OrderCreated::URN;
    RawMessage::new(format!(
        r#"{{"job":"{urn}","trace_id":"t","data":{data},"meta":{meta},"attempts":0}}"#
    ))
}

fn value<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let header = headers.iter().find(|(other, _)| other == name);
    header.map(|(_, value)| value.as_str())
}

#[tokio::test(start_paused = true)]
async fn c_072_a_labelled_data_type_is_taken_for_what_it_is() {
    let sent = message()
        .attribute("json", "String.json", "{}")
        .binary_attribute("picture", "Binary.png", b"\x89PNG")
        .attribute("int", "Number.int", "7")
        .attribute("long", "Number.custom.long", "8")
        .attribute("huge", "Number", "1e40");
    let (order_id, _, _, headers) = handled(sent).await;
    assert_eq!(order_id, 7);
    assert_eq!(value(&headers, "json"), Some("{}"));
    assert_eq!(value(&headers, "int"), Some("7"));
    assert_eq!(value(&headers, "long"), Some("8"));
    assert_eq!(value(&headers, "huge"), Some("1e40"), "it stays text");
    assert_eq!(value(&headers, "picture"), None, "it is no text");
}

#[tokio::test(start_paused = true)]
async fn c_074_a_foreign_attribute_that_bears_a_well_known_name() {
    let sent = message()
        .attribute("id", "Number", "99")
        .attribute("job", "String", "urn:babel:other:thing")
        .binary_attribute("attempts", "Binary", b"\x05")
        .attribute("timestamp", "String.date", "yesterday");
    let (order_id, id, attempts, headers) = handled(sent).await;
    assert_eq!((order_id, id.as_deref(), attempts), (7, Some("m-1"), 0));
    assert_eq!(value(&headers, "job"), Some("urn:babel:other:thing"));
}
