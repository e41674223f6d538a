//! Panics of user code around the handlers: each fails its own records at most, and the answer gets
//! out.

use babelqueue::decode::{Decode, Decoded, Foreign};
use babelqueue::handler::{FromClient, FromDelivery, Session};
use babelqueue::prelude::*;
use babelqueue::{BoxError, Delivery, LambdaConsumer};

use crate::support::{
    Bench, Lab, OfClient, SECOND, Task, body, consumer, does, event, failures, failures_within,
    record, tasks, with_attribute,
};

struct Shop(String);

impl<S> FromClient<S> for Shop {
    type Error = HandlerError;

    fn from_client(client: &str, _: &S) -> Result<Self, HandlerError> {
        match client {
            "panics" => panic!("no such shop"),
            "fails" => Err(HandlerError::new("no such shop")),
            client => Ok(Self(client.to_owned())),
        }
    }
}

#[babel_handler]
async fn single(task: Task, Session(shop): Session<Shop>, State(lab): State<Lab>) {
    let shop = shop.map_or("nobody".to_owned(), |shop| shop.0);
    lab.note(format!("{} of {shop}", task.name));
}

#[babel_handler(batch, per_attribute = "janis-client")]
async fn together(all: Batch<OfClient>, Session(shop): Session<Shop>, State(lab): State<Lab>) {
    let shop = shop.map_or("nobody".to_owned(), |shop| shop.0);
    lab.note(format!("{} of {shop}", all.len()));
}

#[tokio::test(start_paused = true)]
async fn b31_a_session_that_panics_or_fails_takes_only_its_clients_records_along() {
    let lab = Lab::default();
    let consumer = LambdaConsumer::builder(Router::from_handlers![single, together])
        .state(lab.clone())
        .build()
        .unwrap();
    let of_client = |id: &str| {
        let data = serde_json::json!({ "name": id, "does": "ok" });
        record("orders", id, &body("urn:test:client", id, &data))
    };
    let records = [
        with_attribute(
            "janis-client",
            "panics",
            record("orders", "1", &does("a", "")),
        ),
        with_attribute(
            "janis-client",
            "fine",
            record("orders", "2", &does("b", "")),
        ),
        with_attribute("janis-client", "panics", of_client("3")),
        with_attribute("janis-client", "fails", of_client("4")),
        with_attribute("janis-client", "fine", of_client("5")),
        with_attribute("janis-client", "", of_client("6")),
        with_attribute("janis-client", "panics", of_client("7")),
    ];
    assert_eq!(
        failures(&consumer, event(records)).await,
        ["1", "3", "4", "7"]
    );
    let mut calls = lab.calls();
    calls.sort();
    assert_eq!(calls, ["1 of fine", "1 of nobody", "b of fine"]);
}

/// Panics for the message of this name.
struct Picky;

impl<'d, S> FromDelivery<'d, S> for Picky {
    type Rejection = BoxError;

    fn from_delivery(delivery: &'d Delivery, _: &'d S) -> Result<Self, BoxError> {
        match delivery.context().meta().id() {
            Some("b") => panic!("not this one"),
            _ => Ok(Self),
        }
    }
}

#[babel_handler]
async fn picky(task: Task, _: Picky, State(lab): State<Lab>) {
    lab.note(task.name);
}

#[tokio::test(start_paused = true)]
async fn an_extractor_that_panics_fails_its_message() {
    let lab = Lab::default();
    let consumer = LambdaConsumer::builder(Router::from_handlers![picky])
        .state(lab.clone())
        .build()
        .unwrap();
    let event = tasks(&[("a", ""), ("b", ""), ("c", "")]);
    assert_eq!(failures(&consumer, event).await, ["b"]);
    assert_eq!(lab.calls(), ["a", "c"]);
}

struct Fragile;

impl Decode for Fragile {
    fn decode(&self, foreign: &Foreign<'_>) -> Result<Decoded, BoxError> {
        match foreign.body() {
            "panics" => panic!("what is this?"),
            "skipped" => Ok(Decoded::Skip),
            _ => Ok(Decoded::NotMine),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn b29_a_decoder_that_panics_fails_its_record() {
    let lab = Lab::default();
    let consumer = consumer(&lab).decoder(Fragile).build().unwrap();
    let records = [
        record("orders", "1", "skipped"),
        record("orders", "2", "panics"),
        record("orders", "3", &does("c", "ok")),
    ];
    assert_eq!(failures(&consumer, event(records)).await, ["2"]);
    assert_eq!(lab.calls(), ["c"]);
}

#[tokio::test(start_paused = true)]
async fn hooks_that_panic_or_hang_do_not_hold_the_answer_up() {
    let lab = Lab::default();
    let panics = consumer(&lab)
        .on_error(|_| panic!("in on_error"))
        .on_end(|_| async { panic!("in on_end") })
        .build()
        .unwrap();
    assert_eq!(failures(&panics, tasks(&[("a", "fail")])).await, ["a"]);
    let hangs = consumer(&lab)
        .on_start(|_| std::future::pending())
        .build()
        .unwrap();
    let begun = tokio::time::Instant::now();
    let failed = failures_within(&hangs, tasks(&[("a", "ok")]), Some(10 * SECOND)).await;
    assert_eq!(failed, ["a"]);
    assert!(begun.elapsed() < 10 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_retry_policy_that_panics_takes_no_other_delay_along() {
    let bench = Bench::new();
    for what in ["later=50", "report", "later=50"] {
        bench.put(what, what);
    }
    let consumer = bench
        .consumer()
        .release_delay(|_| panic!("no idea"))
        .build()
        .unwrap();
    assert_eq!(failures(&consumer, bench.receive().await).await.len(), 3);
    let mut changes = bench.changes();
    changes.sort_unstable();
    assert_eq!(changes, [30, 50, 50], "SQS's own default for the one");
}
