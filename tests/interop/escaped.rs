//! One envelope whose every name and string is spelled in escapes: all sides read the same.

use std::sync::{Arc, Mutex};

use babelqueue::prelude::*;
use serde_json::{Value, json};

use crate::peer::Meeting;

const PLAIN: &str = r#"{"job":"urn:babel:orders:created","trace_id":"trace \u00e9","data":{"name":"Zo\u00eb \ud83c\udf80 \"q\" \\ \u0001\n\ufffe","inner":{"k\u00e9y":["a"]}},"meta":{"id":"m-1","queue":"escaped","lang":"php","schema_version":1,"created_at":1749132727000,"ext":{"acme":{"tier":"gold"}}},"attempts":0,"extra top":"kept"}"#;

/// Rewrites every string of a JSON value to escapes of UTF-16 units.
fn escaped(value: &Value) -> String {
    let text = |text: &str| {
        let units: String = text
            .encode_utf16()
            .map(|unit| format!("\\u{unit:04x}"))
            .collect();
        format!("\"{units}\"")
    };
    match value {
        Value::String(string) => text(string),
        Value::Array(list) => {
            let list: Vec<_> = list.iter().map(escaped).collect();
            format!("[{}]", list.join(","))
        }
        Value::Object(map) => {
            let member =
                |(name, value): (&String, &Value)| format!("{}:{}", text(name), escaped(value));
            let members: Vec<_> = map.iter().map(member).collect();
            format!("{{{}}}", members.join(","))
        }
        other => other.to_string(),
    }
}

#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<Value>>>);

#[babel_handler(fallback)]
async fn any(envelope: &Envelope, ctx: &Context, State(seen): State<Seen>) -> Result<(), String> {
    let data: Value = envelope.data().map_err(|error| error.to_string())?;
    let ext = ctx
        .meta()
        .ext("acme")
        .and_then(|json| serde_json::from_str::<Value>(json).ok());
    let noted = json!({
        "urn": ctx.urn(), "trace_id": ctx.trace_id(), "data": data, "id": ctx.meta().id(),
        "queue": ctx.meta().queue(), "lang": ctx.meta().lang(), "ext": ext,
        "header": ctx.headers().get("bq-trace-id"),
    });
    seen.0
        .lock()
        .map_err(|error| error.to_string())?
        .push(noted);
    if ctx.attempts() == 0 {
        return Err("once more, for the copy".to_owned());
    }
    Ok(())
}

#[tokio::test]
async fn an_envelope_in_escapes_means_the_same_to_both() {
    let value: Value = serde_json::from_str(PLAIN).unwrap();
    let body = escaped(&value);
    for meeting in Meeting::all().await {
        let url = meeting.create_queue("escaped").await;
        let dead = meeting.create_queue("escaped-dlq").await;
        let publisher = SqsPublisher::new(meeting.sqs.clone(), &url);
        publisher.relay(body.clone()).await.unwrap();

        // Rust handles it, fails, and copies it to the dead-letter queue.
        let seen = Seen::default();
        let consumer = SqsConsumer::builder(meeting.sqs.clone(), &url, Router::from_handlers![any])
            .state(seen.clone())
            .max_attempts(1)
            .dead_letter_queue(DeadLetterQueue::default_name())
            .build()
            .unwrap();
        consumer.poll().await.unwrap();
        let noted = seen.0.lock().unwrap().remove(0);
        let expected = json!({
            "urn": "urn:babel:orders:created", "trace_id": "trace é", "data": value["data"],
            "id": "m-1", "queue": "escaped", "lang": "php", "ext": {"tier": "gold"},
            "header": "trace é",
        });
        assert_eq!(noted, expected);

        // Python reads the copy, whose strings are still spelled as they came.
        let received = meeting
            .sqs
            .receive_message()
            .queue_url(&dead)
            .visibility_timeout(0);
        let received = received.wait_time_seconds(5).send().await.unwrap();
        let copy = received.messages()[0].body().unwrap();
        let (before, _) = body.split_once(r#":0,"#).unwrap();
        assert!(copy.starts_with(before), "{copy}");
        let python = meeting.consume("escaped-dlq", 1).await;
        let envelope = &python[0]["envelope"];
        for name in ["job", "trace_id", "data", "extra top"] {
            assert_eq!(envelope[name], value[name], "{name}");
        }
        for name in ["id", "queue", "lang", "created_at", "ext"] {
            assert_eq!(envelope["meta"][name], value["meta"][name], "{name}");
        }
        assert_eq!(envelope["dead_letter"]["reason"], "failed");
        meeting.assert_empty(&url).await;
        meeting.assert_empty(&dead).await;
    }
}
