//! The span of every record (SPEC §4.5).

use babelqueue::LambdaConsumer;
use babelqueue::prelude::*;
use tracing::Level;

use crate::capture::Capture;
use crate::support::{Lab, Many, Task, does, event, failures, many_does, record};

#[babel_handler]
async fn logs(task: Task) {
    tracing::debug!("single {}", task.name);
    tokio::task::yield_now().await;
    tracing::error!("single {}", task.name);
}

#[babel_handler(batch)]
async fn logs_many(many: Batch<Many>) {
    tracing::info!("all {}", many.len());
    for one in &many {
        one.span().in_scope(|| tracing::info!("many {}", one.name));
    }
    for one in many {
        let (payload, ticket) = one.into_parts();
        let span = ticket.context().span();
        tokio::spawn(tracing::Instrument::instrument(
            async move { tracing::warn!("many {}", payload.name) },
            span,
        ))
        .await
        .unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn b4_b5_whatever_a_handler_logs_carries_its_records_fields() {
    let (capture, _guard) = Capture::begin();
    let consumer = LambdaConsumer::builder(Router::from_handlers![logs, logs_many])
        .state(Lab::default())
        .build()
        .unwrap();
    let records = [
        record("orders", "m1", &does("a", "")),
        record("orders", "m2", &does("b", "")),
        record("orders", "m3", &many_does("c", "")),
        record("orders", "m4", &many_does("d", "")),
    ];
    assert!(failures(&consumer, event(records)).await.is_empty());
    let expected = [
        (Level::DEBUG, "single a", "m1", "urn:test:task"),
        (Level::ERROR, "single a", "m1", "urn:test:task"),
        (Level::ERROR, "single b", "m2", "urn:test:task"),
        (Level::INFO, "many c", "m3", "urn:test:many"),
        (Level::INFO, "many d", "m4", "urn:test:many"),
        (Level::WARN, "many d", "m4", "urn:test:many"),
    ];
    for (level, text, message_id, urn) in expected {
        let found = capture.of(level, text);
        let [logged] = &found[..] else {
            panic!("{text}: {found:?}");
        };
        let field = |name: &str| logged.fields.get(name).map_or("", String::as_str);
        assert_eq!(field("message_id"), message_id, "{text}");
        assert_eq!(field("urn"), urn);
        assert_eq!(field("queue"), "orders");
        assert_eq!(field("trace_id"), "trace-1");
        assert_eq!(field("attempts"), "0");
        assert_eq!(field("request_id"), "req-1");
    }
    let all = &capture.of(Level::INFO, "all 2")[0];
    assert_eq!(all.fields["messages"], "2");
    assert_eq!(all.fields["request_id"], "req-1");
    assert!(
        !all.fields.contains_key("message_id"),
        "of none of them alone"
    );
}
