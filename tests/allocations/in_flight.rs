//! What a message in flight takes beside its body: what a consumer gives back when it is dropped
//! in the middle of its handlers.

use allocation_counter::measure;
use babelqueue::local::{LocalSqs, RawMessage};
use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

const MESSAGES: usize = 500;

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct Held {
    order_id: u64,
}

static STARTED: Semaphore = Semaphore::const_new(0);

#[babel_handler]
async fn hold(_: Held) {
    STARTED.add_permits(1);
    std::future::pending::<()>().await;
}

fn body(order_id: usize) -> String {
    format!(
        r#"{{"job":"urn:babel:orders:created","trace_id":"4bf92f35-77b3-4da6-a3ce-929d0e0e4736","data":{{"order_id":{}}},"meta":{{"id":"0190a1b2-0000-7000-8000-000000000000","queue":"orders","lang":"rust","schema_version":1,"created_at":1749132727000}},"attempts":0}}"#,
        1000 + order_id
    )
}

#[test]
fn a_message_in_flight_takes_two_and_a_half_kilobytes_beside_its_body() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime");
    let sqs = LocalSqs::new();
    let url = sqs.create_queue("orders");
    for i in 0..MESSAGES {
        sqs.inject_raw("orders", RawMessage::new(body(i)));
    }
    let mut run = None;
    runtime.block_on(async {
        let consumer = SqsConsumer::builder(sqs.client(), url, Router::from_handlers![hold])
            .concurrency(MESSAGES)
            .max_in_flight(MESSAGES)
            .build()
            .expect("a consumer");
        run = Some(tokio::spawn(consumer.run()));
        let all = STARTED.acquire_many(MESSAGES as u32).await;
        all.expect("never closed").forget();
    });
    let run = run.expect("it runs");
    let freed = measure(|| {
        runtime.block_on(async {
            run.abort();
            let _ = run.await;
            // The handlers of the consumer's own task go after it.
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        });
    });
    let each = -freed.bytes_current / MESSAGES as i64 - body(0).len() as i64;
    let blocks = -freed.count_current / MESSAGES as i64;
    assert!(each > 1000, "{each} bytes: they were not in flight");
    assert!(each <= 2560, "{each} bytes in {blocks} blocks a message");
}
