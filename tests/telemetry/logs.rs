//! Log lines: one for each failure, by stable names, without bodies and secrets.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use babelqueue::decode::{EventBridge, PlainJson};
use babelqueue::fields;
use babelqueue::local::{Operation, Refusal};
use babelqueue::prelude::*;
use babelqueue::telemetry::Conventions;
use opentelemetry::trace::Status;
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

use crate::support::{Bench, envelope, envelope_of};

/// What was logged: level and fields, the message included.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<(Level, Line)>>>);

type Line = BTreeMap<String, String>;

struct Fields<'a>(&'a mut Line);

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Log {
    fn on_new_span(
        &self,
        attributes: &tracing::span::Attributes<'_>,
        _: &tracing::span::Id,
        _: Context<'_, S>,
    ) {
        if attributes.metadata().target().starts_with("babelqueue") {
            let mut line =
                Line::from([("span".to_owned(), attributes.metadata().name().to_owned())]);
            attributes.record(&mut Fields(&mut line));
            self.0.lock().unwrap().push((Level::INFO, line));
        }
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target().starts_with("babelqueue") {
            let mut line = Line::new();
            event.record(&mut Fields(&mut line));
            self.0
                .lock()
                .unwrap()
                .push((*event.metadata().level(), line));
        }
    }
}

impl Log {
    fn start() -> (Self, DefaultGuard) {
        // Threads that log nowhere would else be asked whether a line is wanted at all, for everybody.
        let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry());
        let log = Self::default();
        let subscriber = tracing_subscriber::registry().with(log.clone());
        (log, tracing::subscriber::set_default(subscriber))
    }

    fn errors(&self) -> Vec<Line> {
        let lines = self.0.lock().unwrap().clone();
        let errors = lines
            .into_iter()
            .filter(|(level, _)| *level == Level::ERROR);
        errors.map(|(_, line)| line).collect()
    }
}

fn text<'a>(line: &'a Line, field: &str) -> &'a str {
    line.get(field).map_or("", String::as_str)
}

#[tokio::test(start_paused = true)]
async fn one_line_for_each_failure_says_what_becomes_of_the_message() {
    let (log, _guard) = Log::start();
    let bench = Bench::new();
    let steps = ["fail", "panic", "permanent"];
    bench.put(envelope("m-1", "trace-1", &steps), &[]);
    for _ in steps {
        bench.poll().await;
    }
    let errors = log.errors();
    let expected = [
        ("0", "1", "release", "the bank said no"),
        ("1", "2", "release", "panicked: out of cheese"),
        ("2", "3", "dead_letter", "the bank said never"),
    ];
    assert_eq!(errors.len(), expected.len(), "{errors:?}");
    for (line, (attempts, receives, settlement, error)) in errors.iter().zip(expected) {
        assert_eq!(text(line, "message"), "message error");
        assert_eq!(text(line, fields::KIND), "handler");
        assert_eq!(text(line, fields::QUEUE), "orders");
        assert_eq!(text(line, fields::URN), "urn:babel:orders:created");
        assert_eq!(text(line, fields::TRACE_ID), "trace-1");
        assert_eq!(text(line, fields::ATTEMPTS), attempts);
        assert_eq!(text(line, fields::RECEIVE_COUNT), receives);
        assert_eq!(text(line, fields::SETTLEMENT), settlement);
        assert_eq!(text(line, fields::ERROR), error);
        assert_eq!(text(line, fields::MESSAGE_ID).len(), 36);
    }
}

#[tokio::test(start_paused = true)]
async fn a_urn_that_nobody_takes_is_one_line() {
    for (strategy, level) in [
        (UnknownUrn::Fail, Level::ERROR),
        (UnknownUrn::Delete, Level::WARN),
        (UnknownUrn::DeadLetter, Level::WARN),
    ] {
        let (log, _guard) = Log::start();
        let bench = Bench::new();
        bench.put(envelope_of("urn:x:y", "m", "t", &json!({})), &[]);
        let consumer = bench.consumer().startup_checks(false).unknown_urn(strategy);
        consumer.build().unwrap().poll().await.unwrap();
        let lines = log.0.lock().unwrap().clone();
        let lines: Vec<_> = lines
            .iter()
            .filter(|(level, _)| *level <= Level::WARN)
            .collect();
        assert_eq!(lines.len(), 1, "{strategy:?}: {lines:?}");
        assert_eq!(lines[0].0, level);
        assert_eq!(text(&lines[0].1, fields::URN), "urn:x:y");
    }
}

#[tokio::test(start_paused = true)]
async fn bodies_and_secrets_stay_out_of_logs_and_spans() {
    let (log, _guard) = Log::start();
    let bench = Bench::new();
    let body = |steps: &[&str]| {
        envelope("m-1", "t", steps).replace("\"order_id\":1", "\"order_id\":987654321")
    };
    bench.put(body(&["fail"]), &[]);
    bench.put(body(&["permanent"]), &[]);
    bench.put(
        envelope("m-3", "t", &[]).replace("\"order_id\":1", "\"order_id\":\"987654321\""),
        &[],
    );
    bench.put("{\"secret\":987654321}".to_owned(), &[]);
    bench.put(
        envelope_of("urn:x:y", "m-2", "t", &json!({ "secret": 987654321 })),
        &[],
    );
    let consumer = bench
        .consumer()
        .redact(|text| text.replace("bank", "[redacted]"));
    consumer.build().unwrap().poll().await.unwrap();

    let logged = format!("{:?}", log.0.lock().unwrap());
    assert!(
        !logged.contains("987654321") && !logged.contains("bank"),
        "{logged}"
    );
    assert!(logged.contains("the [redacted] said no"), "{logged}");
    let spans = format!("{:?}", bench.spans());
    assert!(
        !spans.contains("987654321") && !spans.contains("bank"),
        "{spans}"
    );
    assert!(spans.contains("the [redacted] said never"), "{spans}");
}

/// Somebody else deletes the message, and it fails.
#[babel_handler]
async fn robbed(
    _mail: crate::support::MailWanted,
    State((sqs, url)): State<(aws_sdk_sqs::Client, String)>,
) -> Result<(), &'static str> {
    sqs.purge_queue().queue_url(url).send().await.unwrap();
    Err("no")
}

#[tokio::test(start_paused = true)]
async fn receipt_handles_stay_out_of_logs() {
    let (log, _guard) = Log::start();
    let bench = Bench::new();
    let mail = crate::support::MailWanted {};
    mail.publish(&bench.app.publisher).await.unwrap();
    let router = Router::from_handlers![robbed];
    let consumer = SqsConsumer::builder(bench.sqs.client(), &bench.url, router)
        .state((bench.sqs.client(), bench.url.clone()))
        .wait_time(std::time::Duration::ZERO);
    consumer.build().unwrap().poll().await.unwrap();
    let logged = format!("{:?}", log.0.lock().unwrap());
    let quoted = "Value … for parameter ReceiptHandle is invalid";
    assert!(logged.contains(quoted), "{logged}");
}

/// What SQS says of a call names accounts and users.
#[tokio::test(start_paused = true)]
async fn the_spans_of_a_consumers_calls_are_redacted_too() {
    let bench = Bench::with(Conventions::Messaging);
    bench.put(envelope("m-1", "t", &["ok"]), &[]);
    let faults = bench.sqs.faults();
    faults
        .on(Operation::DeleteMessageBatch)
        .refuse(Refusal::AccessDenied);
    let consumer = bench.consumer().redact(|_| "[redacted]".to_owned());
    consumer.build().unwrap().poll().await.unwrap();
    let failed = bench.named("settle orders");
    assert!(!failed.is_empty());
    for span in failed {
        assert_eq!(span.status, Status::error("[redacted]"));
    }
}

#[tokio::test(start_paused = true)]
async fn every_field_is_of_the_list() {
    let (log, _guard) = Log::start();
    let bench = Bench::new();
    for steps in ["ok", "fail", "retry", "permanent", "discard"] {
        bench.put(envelope(steps, "t", &[steps]), &[]);
    }
    let forbidden =
        envelope("m", "t", &[]).replace("\"attempts\":0", "\"attempts\":0,\"timestamp\":1");
    bench.put(forbidden, &[]);
    bench.put("poison".to_owned(), &[]);
    bench.put(envelope("m", "t", &[]), &[("bq-schema-version", "2")]);
    bench.put(envelope_of("urn:x:y", "m", "t", &json!({})), &[]);
    bench.poll().await;
    bench
        .consumer()
        .build()
        .unwrap()
        .run_until(std::future::ready(()))
        .await
        .unwrap();
    let lines = log.0.lock().unwrap().clone();
    assert!(lines.len() > 10, "{lines:?}");
    for (_, line) in lines {
        for name in line.keys() {
            let known = fields::ALL.contains(&&**name) || name == "message" || name == "span";
            assert!(known, "{name} in {line:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_redaction_hook_that_panics_costs_the_text_and_nothing_else() {
    let (log, _guard) = Log::start();
    let bench = Bench::new();
    bench.put(envelope("m-1", "t", &["fail"]), &[]);
    let consumer = bench.consumer().redact(|_| panic!("no bank"));
    let report = consumer.build().unwrap().poll().await.unwrap();
    assert_eq!(report.released, 1);
    let errors = log.errors();
    assert_eq!(errors.len(), 3, "{errors:?}");
    assert_eq!(text(errors.last().unwrap(), "message"), "message error");
    assert!(!format!("{errors:?}").contains("bank said"), "{errors:?}");
    let span = bench.only("process urn:babel:orders:created");
    assert!(matches!(span.status, Status::Error { .. }));
    assert!(!format!("{span:?}").contains("bank said"), "{span:?}");
}

/// The fields of every event and span in the sources: those that no test brings about, too.
#[test]
fn every_event_takes_its_fields_from_the_list() {
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/babelqueue/src");
    let mut folders = vec![std::path::PathBuf::from(sources)];
    let mut events = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for level in ["error", "warn", "info", "debug", "trace", "info_span"] {
                for event in text.split(&format!("tracing::{level}!(")).skip(1) {
                    events += 1;
                    // What stands before the message or the end, without line breaks.
                    let fields = event.split(['"', ';']).next().unwrap();
                    check_fields(fields, &path);
                }
            }
        }
    }
    assert!(events > 40, "{events}");
}

/// Each is `{ fields::NAME } = value`; in the envelope, which knows nothing else, a name alone.
fn check_fields(text: &str, path: &std::path::Path) {
    let mut depth = 0;
    let mut field = String::new();
    for c in text.chars() {
        depth += i32::from("({[".contains(c)) - i32::from(")}]".contains(c));
        if c == ',' && depth == 0 {
            let name = std::mem::take(&mut field);
            let name = name.trim();
            let listed = name.starts_with("{ fields::")
                || (path.components().any(|part| part.as_os_str() == "envelope")
                    && fields::ALL.contains(&name));
            assert!(listed, "{name} in {}", path.display());
        } else {
            field.push(c);
        }
        if depth < 0 {
            break;
        }
    }
}

/// Whoever else is asked about a body: what is dropped from it is said once, and nothing is said
/// of a body that turns out to be no envelope.
#[tokio::test(start_paused = true)]
async fn what_decoding_drops_is_one_line_each() {
    let accepted = r#"{"job":"urn:babel:mails:wanted","timestamp":1,"trace_id":"t","data":{},
        "meta":{"ts":2,"schema_version":1},"attempts":0}"#;
    let refused = r#"{"job":"urn:x","timestamp":1,"meta":{"ts":2}}"#;
    let foreign = r#"{"job":"nightly","timestamp":1,"meta":{"ts":2}}"#;
    let wrapped = format!(r#"{{"id":"e","detail-type":"d","source":"s","detail":{refused}}}"#);
    let dropped: &[&str] = &["/timestamp", "/meta/ts"];
    for (body, plain, expected) in [
        (accepted, false, dropped),
        (accepted, true, dropped),
        (refused, false, dropped),
        (foreign, true, &[]),
        (&wrapped, false, &[]),
    ] {
        let (log, _guard) = Log::start();
        let bench = Bench::new();
        bench.put(body.to_owned(), &[]);
        let mut consumer = bench.consumer().decoder(EventBridge::new());
        if plain {
            consumer = consumer.decoder(PlainJson::new("urn:babel:mails:wanted"));
        }
        consumer.build().unwrap().poll().await.unwrap();
        let lines = log.0.lock().unwrap().clone();
        let lines = lines.iter().filter(|(_, line)| {
            text(line, "message") == "dropped a member that the contract forbids"
        });
        let pointers: Vec<_> = lines.map(|(_, line)| text(line, "pointer")).collect();
        assert_eq!(pointers, expected, "{body} {plain}");
    }
}
