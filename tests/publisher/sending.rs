//! What arrives on the queue, and what the caller learns.

use std::time::Duration;

use babelqueue::PublishError;
use babelqueue::local::{Operation, Refusal};
use babelqueue::prelude::*;
use serde_json::{Value, json};

use crate::support::{attributes, order, server, visible};

#[tokio::test(start_paused = true)]
async fn a_typed_publish_arrives_whole() {
    let sqs = server();
    let publisher = SqsPublisher::new(sqs.client(), sqs.queue_url("orders"));
    let sent = order()
        .publish(&publisher)
        .trace_id("trace-7")
        .header("tenant", "acme")
        .header("bq-job", "not taken")
        .header("empty", "")
        .meta("ext", &json!({ "acme": { "tier": 1 } }))
        .await
        .unwrap();
    let messages = visible(&sqs, "orders");
    assert_eq!(messages.len(), 1);
    let body: Value = serde_json::from_str(&messages[0].body).unwrap();
    assert_eq!(body["job"], "urn:babel:orders:created");
    assert_eq!(body["trace_id"], "trace-7");
    assert_eq!(body["data"], json!({ "customer": null, "order_id": 1042 }));
    assert_eq!(body["attempts"], 0);
    assert_eq!(body["meta"]["id"], sent.message_id);
    assert_eq!(body["meta"]["queue"], "orders");
    assert_eq!(body["meta"]["lang"], "rust");
    assert_eq!(body["meta"]["schema_version"], 1);
    assert_eq!(body["meta"]["ext"]["acme"]["tier"], 1);
    assert_eq!(sent.trace_id, "trace-7");
    assert_eq!(sent.sqs_message_id.as_ref(), Some(&messages[0].message_id));

    let created_at = body["meta"]["created_at"].to_string();
    let attributes = attributes(&messages[0]);
    assert_eq!(attributes.len(), 7);
    assert_eq!(attributes["bq-job"], ("String", "urn:babel:orders:created"));
    assert_eq!(attributes["bq-trace-id"], ("String", "trace-7"));
    assert_eq!(attributes["bq-message-id"], ("String", &*sent.message_id));
    assert_eq!(attributes["bq-schema-version"], ("Number", "1"));
    assert_eq!(attributes["bq-source-lang"], ("String", "rust"));
    assert_eq!(attributes["bq-created-at"], ("Number", &*created_at));
    assert_eq!(attributes["tenant"], ("String", "acme"));
}

#[tokio::test(start_paused = true)]
async fn fifo_takes_group_and_deduplication_id() {
    let sqs = server();
    let publisher = SqsPublisher::new(sqs.client(), sqs.queue_url("orders.fifo"));
    let error = order().publish(&publisher).await.expect_err("no group");
    assert!(
        matches!(error, PublishError::MissingGroup { .. }),
        "{error}"
    );
    assert_eq!(sqs.calls().total(), 0, "nothing was sent");

    let mut message = order();
    message.customer = Some("c-7".to_owned());
    let sent = message.publish(&publisher).await.unwrap();
    let on_queue = &visible(&sqs, "orders.fifo")[0];
    assert_eq!(on_queue.group_id.as_deref(), Some("c-7"));
    assert_eq!(on_queue.deduplication_id.as_ref(), Some(&sent.message_id));
    assert!(sent.sequence_number.is_some());
    let body: Value = serde_json::from_str(&on_queue.body).unwrap();
    assert_eq!(body["meta"]["queue"], "orders.fifo");

    // The call wins over the field, the field over the publisher.
    let publisher = SqsPublisher::builder(sqs.client(), sqs.queue_url("orders.fifo"))
        .message_group_id("all")
        .build()
        .unwrap();
    message.publish(&publisher).group_id("call").await.unwrap();
    message.publish(&publisher).await.unwrap();
    order().publish(&publisher).await.unwrap();
    let groups: Vec<_> = visible(&sqs, "orders.fifo")
        .iter()
        .map(|m| m.group_id.clone().unwrap())
        .collect();
    let mut groups = groups;
    groups.sort();
    assert_eq!(groups, ["all", "c-7", "c-7", "call"]);
}

#[tokio::test(start_paused = true)]
async fn a_group_on_a_standard_queue_is_sent_for_fair_queues() {
    let sqs = server();
    let publisher = SqsPublisher::new(sqs.client(), sqs.queue_url("orders"));
    order()
        .publish(&publisher)
        .group_id("tenant-1")
        .await
        .unwrap();
    let on_queue = &visible(&sqs, "orders")[0];
    assert_eq!(on_queue.group_id.as_deref(), Some("tenant-1"));
    assert_eq!(on_queue.deduplication_id, None);
}

#[tokio::test(start_paused = true)]
async fn c_008_a_delay() {
    let sqs = server();
    let publisher = SqsPublisher::new(sqs.client(), sqs.queue_url("orders"));
    order()
        .publish(&publisher)
        .delay(Duration::from_millis(1500))
        .await
        .unwrap();
    let delayed = &sqs.snapshot("orders").delayed[0];
    assert_eq!(delayed.visible_in, Duration::from_secs(2));

    let publisher = SqsPublisher::new(sqs.client(), sqs.queue_url("orders.fifo"));
    let before = sqs.calls().total();
    let publish = order().publish(&publisher).group_id("g");
    let error = publish
        .delay(Duration::from_secs(3))
        .await
        .expect_err("FIFO");
    assert!(matches!(error, PublishError::Delay { .. }), "{error}");
    assert_eq!(sqs.calls().total(), before);
    let publish = order().publish(&publisher).group_id("g");
    publish
        .delay(Duration::ZERO)
        .await
        .expect("no delay at all");
}

#[tokio::test(start_paused = true)]
async fn untyped_and_relayed_messages() {
    let sqs = server();
    let publisher = SqsPublisher::new(sqs.client(), sqs.queue_url("orders"));
    let data = json!({ "n": 1 });
    publisher
        .publish_json("urn:some:thing", &data)
        .await
        .unwrap();
    let error = publisher
        .publish_json("urn:x", &[1, 2])
        .await
        .expect_err("no object");
    assert!(error.is_refused() && !error.is_retryable(), "{error}");
    assert_eq!(visible(&sqs, "orders").len(), 1);

    let encoded = r#"{"job":"urn:old","trace_id":"t-9" , "data":{"x":1.50},"meta":{"id":"m-9","schema_version":1},"attempts":3}"#;
    let sent = publisher
        .relay(encoded)
        .header("traceparent", "x")
        .await
        .unwrap();
    assert_eq!((&*sent.message_id, &*sent.trace_id), ("m-9", "t-9"));
    let messages = visible(&sqs, "orders");
    let relayed = messages
        .iter()
        .find(|m| m.body == encoded)
        .expect("byte for byte");
    let attributes = attributes(relayed);
    assert_eq!(attributes["bq-job"], ("String", "urn:old"));
    assert_eq!(attributes["bq-message-id"], ("String", "m-9"));
    assert!(
        !attributes.contains_key("bq-source-lang"),
        "what is not there is not projected"
    );
}

#[tokio::test(start_paused = true)]
async fn the_caller_learns_the_fate() {
    let sqs = server();
    let publisher = SqsPublisher::new(sqs.client(), sqs.queue_url("orders"));
    let fate = async |fault: &dyn Fn()| {
        sqs.faults().clear();
        fault();
        let error = order().publish(&publisher).await.expect_err("a fault");
        (error.is_refused(), error.is_retryable())
    };
    let faults = sqs.faults();
    let on = || faults.on(Operation::SendMessage);
    let refuse = |refusal| drop(on().refuse(refusal));
    assert_eq!(fate(&|| refuse(Refusal::AccessDenied)).await, (true, false));
    assert_eq!(fate(&|| refuse(Refusal::Throttled)).await, (true, true));
    assert_eq!(
        fate(&|| refuse(Refusal::InternalError)).await,
        (false, true)
    );
    assert_eq!(fate(&|| drop(on().lose_response())).await, (false, true));
    assert_eq!(
        fate(&|| drop(on().hang())).await,
        (false, true),
        "every send ends in time"
    );
}

#[tokio::test(start_paused = true)]
async fn a_retry_sends_the_very_same_message() {
    let sqs = server();
    let publisher = SqsPublisher::new(sqs.client(), sqs.queue_url("orders.fifo"));
    let lost = sqs
        .faults()
        .on(Operation::SendMessage)
        .once()
        .lose_response();
    let sent = order().publish(&publisher).group_id("g").await.unwrap();
    assert_eq!(
        (lost.hits(), sqs.calls().count(Operation::SendMessage)),
        (1, 2)
    );
    let messages = visible(&sqs, "orders.fifo");
    assert_eq!(
        messages.len(),
        1,
        "the second attempt is a duplicate to SQS"
    );
    assert!(messages[0].body.contains(&sent.message_id));
}

#[tokio::test(start_paused = true)]
async fn throttling_and_outages_pass_within_the_time_to_send() {
    let sqs = server();
    let builder = || SqsPublisher::builder(sqs.client(), sqs.queue_url("orders"));
    let on = || sqs.faults().on(Operation::SendMessage);
    on().times(4).refuse(Refusal::Throttled);
    on().times(4).refuse(Refusal::ServiceUnavailable);
    let publisher = builder().build().unwrap();
    order().publish(&publisher).await.unwrap();
    assert_eq!(sqs.calls().count(Operation::SendMessage), 9);
    assert_eq!(visible(&sqs, "orders").len(), 1);

    on().refuse(Refusal::Throttled);
    let timeout = Duration::from_secs(7);
    let publisher = builder().send_timeout(timeout).build().unwrap();
    let started = tokio::time::Instant::now();
    let error = order()
        .publish(&publisher)
        .await
        .expect_err("it does not pass");
    assert!(started.elapsed() <= timeout);
    assert_eq!(error.code(), Some("RequestThrottled"));

    sqs.clear_calls();
    let three = builder().max_attempts(3).build().unwrap();
    order().publish(&three).await.expect_err("it does not pass");
    assert_eq!(sqs.calls().total(), 3);
    // A client whose own retries are off wants none of the publisher's either.
    sqs.clear_calls();
    let off = aws_sdk_sqs::config::retry::RetryConfig::disabled();
    let config = sqs.client_config().retry_config(off).build();
    let client = aws_sdk_sqs::Client::from_conf(config);
    let publisher = SqsPublisher::new(client, sqs.queue_url("orders"));
    order()
        .publish(&publisher)
        .await
        .expect_err("it does not pass");
    assert_eq!(sqs.calls().total(), 1);
}

/// A delivery whose trace is to be carried on.
fn delivery(body: &str) -> Context {
    let envelope = babelqueue::Envelope::decode(body).unwrap();
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let headers = [
        ("traceparent", parent),
        ("tracestate", "a=1"),
        ("tenant", "acme"),
    ];
    let headers: babelqueue::Headers = headers
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    Context::new(envelope, 0, headers, babelqueue::Source::new("orders"))
}

#[tokio::test(start_paused = true)]
async fn a_trace_is_carried_on_and_the_cause_is_named() {
    let sqs = server();
    let publisher = SqsPublisher::new(sqs.client(), sqs.queue_url("orders"));
    let body = r#"{"job":"urn:x","trace_id":"t-1","data":{},"meta":{"id":"m-1"},"attempts":0}"#;
    let ctx = delivery(body);
    order()
        .publish(&publisher)
        .continue_trace(&ctx)
        .await
        .unwrap();
    let publish = order().publish(&publisher).caused_by(&ctx);
    publish
        .meta("ext", &json!({ "acme": { "tier": 1 } }))
        .await
        .unwrap();
    let messages = visible(&sqs, "orders");
    let bodies: Vec<Value> = messages
        .iter()
        .map(|message| serde_json::from_str(&message.body).unwrap())
        .collect();
    for (message, body) in messages.iter().zip(&bodies) {
        assert_eq!(body["trace_id"], "t-1");
        let attributes = attributes(message);
        assert!(attributes["traceparent"].1.starts_with("00-0af7"));
        assert_eq!(attributes["tracestate"].1, "a=1");
        assert!(!attributes.contains_key("tenant"), "only the trace");
    }
    assert_eq!(bodies[0]["meta"]["ext"], Value::Null);
    let cause = json!({ "acme": { "tier": 1 }, "babelqueue": { "causation_id": "m-1" } });
    assert_eq!(bodies[1]["meta"]["ext"], cause);

    // The library's own headers give way to the caller's (SPEC 2.2).
    let mut full = order().publish(&publisher).continue_trace(&ctx);
    for name in ["a", "b", "c", "d"] {
        full = full.header(name, "v");
    }
    full.await.unwrap();
    let last = visible(&sqs, "orders").pop().unwrap();
    let names: Vec<_> = last.attributes.keys().map(String::as_str).collect();
    assert!(names.starts_with(&["a", "b", "bq-created-at"]), "{names:?}");
    assert!(!names.contains(&"traceparent") && names.contains(&"d"));

    let publish = order().publish(&publisher).meta("ext", &[1]);
    let error = publish.caused_by(&ctx).await.expect_err("no object");
    assert!(matches!(error, PublishError::Causation { .. }), "{error}");
}
