//! Python publishes, Rust handles.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::peer::Meeting;

#[derive(Debug, PartialEq, Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    order_id: u64,
    balance: i64,
    price: f64,
    name: String,
    tags: Vec<String>,
    note: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Seen {
    message_id: Option<String>,
    trace_id: String,
    lang: Option<String>,
    queue: Option<String>,
    tenant: Option<String>,
    job_header: Option<String>,
    attempts: u64,
}

type Orders = Arc<Mutex<Vec<(OrderCreated, Seen)>>>;

#[derive(Clone, Default, FromRef)]
struct App {
    orders: Orders,
    tries: Arc<Mutex<Vec<u64>>>,
}

#[babel_handler]
async fn order_created(order: OrderCreated, ctx: &Context, State(orders): State<Orders>) {
    let text = |text: Option<&str>| text.map(str::to_owned);
    let seen = Seen {
        message_id: text(ctx.meta().id()),
        trace_id: ctx.trace_id().to_owned(),
        lang: text(ctx.meta().lang()),
        queue: text(ctx.meta().queue()),
        tenant: text(ctx.headers().get("tenant")),
        job_header: text(ctx.headers().get("bq-job")),
        attempts: ctx.attempts(),
    };
    orders.lock().unwrap().push((order, seen));
}

const NAME: &str = "Zoë \u{1F380} \"quoted\" back\\slash \u{1}\t\r\n\u{2028} \u{0} 漢字";

fn message(queue: &str, order_id: u64) -> serde_json::Value {
    json!({
        "queue": queue, "urn": "urn:babel:orders:created", "trace_id": format!("trace {order_id} é"),
        "headers": {"tenant": "acme ☕"},
        "data": {"order_id": order_id, "balance": i64::MIN, "price": 0.1, "name": NAME,
                 "tags": ["", "é"], "note": null},
    })
}

fn order(order_id: u64) -> OrderCreated {
    OrderCreated {
        order_id,
        balance: i64::MIN,
        price: 0.1,
        name: NAME.to_owned(),
        tags: vec![String::new(), "é".to_owned()],
        note: None,
    }
}

#[tokio::test]
async fn messages_of_the_python_sdk_arrive_as_structs() {
    for meeting in Meeting::all().await {
        take_from(&meeting, "from-python").await;
        take_from(&meeting, "from-python.fifo").await;
    }
}

async fn take_from(meeting: &Meeting, queue: &str) {
    let url = meeting.create_queue(queue).await;
    // Beyond 2^53, where a double would round.
    let ids = [1042, 9_007_199_254_740_993, u64::MAX];
    let published = meeting.publish(&ids.map(|id| message(queue, id))).await;

    let app = App::default();
    let router = Router::from_handlers![order_created];
    let consumer = SqsConsumer::builder(meeting.sqs.clone(), &url, router)
        .state(app.clone())
        .wait_time(Duration::ZERO)
        .concurrency(1)
        .build()
        .unwrap();
    while app.orders.lock().unwrap().len() < ids.len() {
        consumer.poll().await.unwrap();
    }

    let orders = std::mem::take(&mut *app.orders.lock().unwrap());
    for ((id, message_id), (got, seen)) in ids.into_iter().zip(published).zip(orders.iter()) {
        assert_eq!(*got, order(id));
        let expected = Seen {
            message_id: Some(message_id),
            trace_id: format!("trace {id} é"),
            lang: Some("python".to_owned()),
            queue: Some(queue.to_owned()),
            tenant: Some("acme ☕".to_owned()),
            job_header: Some("urn:babel:orders:created".to_owned()),
            attempts: 0,
        };
        assert_eq!(*seen, expected);
    }
    meeting.assert_empty(&url).await;
}

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:flaky"]
struct Flaky {}

#[babel_handler]
async fn flaky(
    _flaky: Flaky,
    Attempts(attempts): Attempts,
    State(tries): State<Arc<Mutex<Vec<u64>>>>,
) -> Result<(), &'static str> {
    tries.lock().unwrap().push(attempts);
    Err("not yet")
}

#[tokio::test]
async fn a_failed_message_shows_its_attempts_to_rust_and_then_to_python() {
    for meeting in Meeting::all().await {
        fail_and_hand_on(&meeting).await;
    }
}

async fn fail_and_hand_on(meeting: &Meeting) {
    let url = meeting.create_queue("flaky").await;
    let sent = json!({"queue": "flaky", "urn": "urn:babel:orders:flaky", "trace_id": "t",
                      "headers": {}, "data": {}});
    let ids = meeting.publish(&[sent]).await;

    let app = App::default();
    let consumer = SqsConsumer::builder(meeting.sqs.clone(), &url, Router::from_handlers![flaky])
        .state(app.clone())
        .wait_time(Duration::ZERO)
        .build()
        .unwrap();
    for _ in 0..3 {
        consumer.poll().await.unwrap();
    }
    assert_eq!(*app.tries.lock().unwrap(), [0, 1, 2]);

    let seen = meeting.consume("flaky", 1).await;
    assert_eq!(seen[0]["envelope"]["attempts"], 3);
    assert_eq!(seen[0]["envelope"]["meta"]["id"], ids[0]);
    meeting.assert_empty(&url).await;
}
