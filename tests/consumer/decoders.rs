//! Queues that others fill: SNS, EventBridge, plain JSON, and what a user's own decoder reads.

use std::collections::BTreeMap;

use babelqueue::decode::{Decoded, EventBridge, Foreign, PlainJson, Sns};
use babelqueue::local::RawMessage;
use babelqueue::prelude::*;
use babelqueue::sqs::SqsConsumerBuilder;
use babelqueue::{BoxError, ReportKind};
use serde_json::{Value, json};

use crate::support::{Bench, Lab, SECOND, attributes, envelope};

const TASK: &str = "urn:test:task";

fn sns(message: &str, attributes: &Value) -> String {
    json!({
        "Type": "Notification", "MessageId": "sns-1", "TopicArn": "arn:aws:sns:eu-west-1:1:topic",
        "Message": message, "Timestamp": "2026-01-01T00:00:00.000Z", "SignatureVersion": "1",
        "MessageAttributes": attributes,
    })
    .to_string()
}

fn string(value: &str) -> Value {
    json!({ "Type": "String", "Value": value })
}

async fn run(bench: &Bench, consumer: SqsConsumerBuilder<impl Routes<Lab>, Lab>) {
    let consumer = consumer
        .retry(Backoff::fixed(3600 * SECOND))
        .dead_letter_queue(DeadLetterQueue::default_name());
    bench.run(consumer, 10 * SECOND).await;
}

#[tokio::test(start_paused = true)]
async fn c_068_an_envelope_wrapped_by_sns() {
    let bench = Bench::new();
    bench.put_raw(RawMessage::new(sns(
        &envelope("wrapped", &["ok"]),
        &json!({}),
    )));
    bench.put_raw(RawMessage::new(envelope("raw", &["ok"])));
    // Its payload looks like a wrapper; so does the whole of it, but for its `job`.
    let alike = envelope("alike", &["ok"]);
    let alike = alike.replace(
        "\"name\"",
        "\"Type\":\"Notification\",\"Message\":\"m\",\"name\"",
    );
    bench.put_raw(RawMessage::new(alike));
    let whole = envelope("whole", &["ok"]);
    let whole = whole.replacen(
        '{',
        r#"{"Type":"Notification","TopicArn":"t","Message":"m","#,
        1,
    );
    bench.put_raw(RawMessage::new(whole));
    run(&bench, bench.consumer().decoder(Sns)).await;
    let mut calls = bench.lab.calls();
    calls.sort();
    assert_eq!(calls, ["alike/0", "raw/0", "whole/0", "wrapped/0"]);
    assert!(bench.left().is_empty() && bench.lab.errors().is_empty());
}

#[tokio::test(start_paused = true)]
async fn c_068_without_the_decoder_the_reason_says_sns() {
    let bench = Bench::new();
    bench.put_raw(RawMessage::new(sns(&envelope("t", &["ok"]), &json!({}))));
    run(&bench, bench.consumer()).await;
    assert_eq!(bench.lab.kinds(), [ReportKind::Poison]);
    let error = bench.dead_json()[0]["dead_letter"]["error"].to_string();
    assert!(error.contains("SNS notification"), "{error}");
}

/// The wrapper's attributes are the message's: in the gate, in the headers, in a dead letter.
#[tokio::test(start_paused = true)]
async fn c_068_the_wrappers_attributes_count() {
    let bench = Bench::new();
    let wrapper = |name: &str, steps: &str, attributes: Value| {
        let body = sns(&envelope(name, &[steps]), &attributes);
        bench.put_raw(RawMessage::new(body).attribute("tenant", "String", "outside"));
    };
    let binary = json!({ "Type": "Binary", "Value": "AQI=" });
    let tenant = json!({ "tenant": string("7"), "blob": binary, "bq-schema-version": string("1") });
    wrapper("dead", "permanent", tenant);
    wrapper("gated", "ok", json!({ "bq-schema-version": string("2") }));
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let note = std::sync::Arc::clone(&seen);
    let consumer = bench.consumer().decoder(Sns).layer(tower_layer::layer_fn(
        move |next: babelqueue::middleware::Next| {
            let note = std::sync::Arc::clone(&note);
            tower_service_fn(next, move |headers| note.lock().unwrap().push(headers))
        },
    ));
    run(&bench, consumer).await;
    assert_eq!(bench.lab.calls(), ["dead/0"]);
    let headers = seen.lock().unwrap()[0].clone();
    assert_eq!(headers["tenant"], "7");
    assert_eq!(headers["bq-schema-version"], "1");
    let dead = bench.dead();
    let gated = dead
        .iter()
        .find(|message| message.body.contains("\"Type\":\"Notification\""))
        .expect("the gated one goes as it came");
    assert_eq!(attributes(gated), BTreeMap::from([("tenant", "outside")]));
    let failed = dead
        .iter()
        .find(|message| message.body.contains("\"reason\":\"failed\""))
        .expect("the failed one goes as the envelope");
    assert_eq!(attributes(failed)["tenant"], "7");
    assert_eq!(attributes(failed)["blob"], "\u{1}\u{2}");
    assert_eq!(attributes(failed)["bq-job"], TASK);
}

/// A service that shows the headers of what passes.
fn tower_service_fn<F>(next: babelqueue::middleware::Next, show: F) -> Shown<F>
where
    F: Fn(BTreeMap<String, String>) + Clone,
{
    Shown { next, show }
}

#[derive(Clone)]
struct Shown<F> {
    next: babelqueue::middleware::Next,
    show: F,
}

impl<F> tower_service::Service<babelqueue::middleware::Work> for Shown<F>
where
    F: Fn(BTreeMap<String, String>) + Clone,
{
    type Response = babelqueue::middleware::Outcomes;
    type Error = BoxError;
    type Future = babelqueue::BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(
        &mut self,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), BoxError>> {
        self.next.poll_ready(cx)
    }

    fn call(&mut self, work: babelqueue::middleware::Work) -> Self::Future {
        let headers = work.deliveries()[0].context().headers();
        let pairs = headers.iter();
        (self.show)(pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).collect());
        self.next.call(work)
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_inside_of_a_wrapper_may_be_poison_or_of_another_version() {
    let bench = Bench::new();
    let version = envelope("v", &["ok"]).replace("\"schema_version\":1", "\"schema_version\":2");
    let bodies = [
        sns("nothing", &json!({})),
        sns(&version, &json!({})),
        sns(r#"{"job":"urn:test:task"}"#, &json!({})),
    ];
    for body in &bodies {
        bench.put_raw(RawMessage::new(body.clone()));
    }
    run(&bench, bench.consumer().decoder(Sns)).await;
    let mut kinds = bench.lab.kinds();
    kinds.sort_by_key(|kind| kind.as_str());
    let expected = [
        ReportKind::NotAccepted,
        ReportKind::Poison,
        ReportKind::UnsupportedVersion,
    ];
    assert_eq!(kinds, expected);
    // All of them as they came, for whoever redrives them.
    for message in bench.dead() {
        let body: Value = serde_json::from_str(&message.body).unwrap();
        assert_eq!(body["Type"], "Notification", "{}", message.body);
    }
    assert_eq!(bench.dead().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn plain_json_is_a_payload_and_survives_its_dead_letter() {
    let bench = Bench::new();
    let decoder = || PlainJson::new(TASK).id_at("/name");
    let body = r#"{ "name": "plain", "attempts": ["permanent"], "big": 9007199254740993 }"#;
    bench.put_raw(RawMessage::new(body).attribute("bq-trace-id", "String", "trace-9"));
    bench.put_raw(RawMessage::new(r#"{"name":"wrong"}"#));
    bench.put_raw(RawMessage::new(r#"{"attempts":[]}"#));
    bench.put_raw(RawMessage::new("[1]"));
    bench.put_raw(RawMessage::new("{"));
    run(&bench, bench.consumer().decoder(decoder())).await;
    assert_eq!(bench.lab.calls(), ["plain/0"]);
    let dead = bench.dead_json();
    let of = |text: &str| {
        let found = dead.iter().find(|body| {
            let error = body["dead_letter"]["error"].as_str();
            error.is_some_and(|error| error.contains(text))
        });
        found.unwrap_or_else(|| panic!("{text}: {dead:?}"))
    };
    let plain = of("plain failed");
    assert_eq!(plain["meta"]["id"], "plain");
    assert_eq!(plain["trace_id"], "trace-9");
    assert_eq!(plain["data"]["big"], 9_007_199_254_740_993_u64);
    of("missing field `attempts`");
    of("no text or number at `/name`");
    of("not an object");
    of("not one JSON value");
    assert_eq!(dead.len(), 5);
    // The dead letter goes back: it is an envelope now, and read as one.
    let mut again = plain.clone();
    again.as_object_mut().unwrap().remove("dead_letter");
    again["data"]["attempts"] = json!(["ok"]);
    bench.put_raw(RawMessage::new(again.to_string()));
    run(&bench, bench.consumer().decoder(decoder())).await;
    assert_eq!(bench.lab.calls(), ["plain/0", "plain/1"]);
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn without_a_place_for_its_id_all_deliveries_have_the_same() {
    use babelqueue::idempotency::MemoryStore;
    let bench = Bench::new();
    let sent = bench.put_raw(RawMessage::new(r#"{"name":"t","attempts":["fail","ok"]}"#));
    let store = MemoryStore::new();
    let consumer = bench
        .consumer()
        .decoder(PlainJson::of::<crate::support::Task>());
    bench
        .run(consumer.idempotency(store.clone()), 5 * SECOND)
        .await;
    assert_eq!(bench.lab.calls(), ["t/0", "t/1"]);
    use babelqueue::idempotency::IdempotencyStore as _;
    assert!(store.seen(&sent).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn decoders_are_asked_one_after_the_other() {
    let bench = Bench::new();
    let event = |source: &str, detail: &Value| {
        json!({
            "version": "0", "id": "event-1", "detail-type": "Task Begun", "source": source,
            "time": "2026-01-01T00:00:00Z", "region": "eu-west-1", "resources": [],
            "detail": detail,
        })
        .to_string()
    };
    let task = |name: &str| json!({ "name": name, "attempts": ["ok"] });
    bench.put_raw(RawMessage::new(event("my.app", &task("event"))));
    bench.put_raw(RawMessage::new(sns(
        &event("my.app", &task("event in sns")),
        &json!({}),
    )));
    let inner: Value = serde_json::from_str(&envelope("envelope in event", &["ok"])).unwrap();
    bench.put_raw(RawMessage::new(event("elsewhere", &inner)));
    bench.put_raw(RawMessage::new(event("elsewhere", &task("unbound"))));
    bench.put_raw(RawMessage::new(sns(
        &task("plain in sns").to_string(),
        &json!({}),
    )));
    bench.put_raw(RawMessage::new("task=own"));
    let own = |message: &Foreign<'_>| -> Result<Decoded, BoxError> {
        let Some(name) = message.body().strip_prefix("task=") else {
            return Ok(Decoded::NotMine);
        };
        let data = json!({ "name": name, "attempts": ["ok"] });
        Ok(message.envelope(TASK).data(&data).build()?.into())
    };
    let consumer = bench
        .consumer()
        .decoder(Sns)
        .decoder(EventBridge::new().bind("my.app", "Task Begun", TASK))
        .decoder(own)
        .decoder(PlainJson::new(TASK))
        .unknown_urn(UnknownUrn::DeadLetter);
    run(&bench, consumer).await;
    let mut calls = bench.lab.calls();
    calls.sort();
    let expected = [
        "envelope in event/0",
        "event in sns/0",
        "event/0",
        "own/0",
        "plain in sns/0",
    ];
    assert_eq!(calls, expected);
    let unbound = &bench.dead_json()[0];
    assert_eq!(unbound["job"], "urn:aws-events:elsewhere:Task-Begun");
    assert_eq!(unbound["meta"]["id"], "event-1");
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_decoder_that_panics_has_failed() {
    let bench = Bench::new();
    bench.put_raw(RawMessage::new("odd"));
    bench.put("t", &["ok"]);
    let consumer = bench
        .consumer()
        .decoder(|_: &Foreign<'_>| -> Result<Decoded, BoxError> { panic!("no idea") });
    run(&bench, consumer).await;
    assert_eq!(bench.lab.calls(), ["t/0"]);
    assert_eq!(bench.lab.kinds(), [ReportKind::Poison]);
    let dead = bench.dead_json();
    assert_eq!(dead.len(), 1);
    let error = dead[0]["dead_letter"]["error"].as_str().unwrap();
    assert!(error.contains("panicked: no idea"), "{error}");
    assert!(bench.left().is_empty());
}
