//! Batch handlers behind Lambda: what comes together, and what fails alone.

use babelqueue::handler::{FromClient, Session};
use babelqueue::lambda::Invocation;
use babelqueue::middleware::{Next, Work};
use babelqueue::prelude::*;
use babelqueue::{LambdaConsumer, ReportKind};
use serde_json::json;

use crate::support::{
    Lab, OfClient, Task, body, consumer, does, event, failures, in_group, many_does, record,
    with_attribute,
};

fn many(all: &[(&str, &str)]) -> babelqueue::lambda::Event {
    event(
        all.iter()
            .map(|(name, what)| record("orders", name, &many_does(name, what))),
    )
}

#[tokio::test(start_paused = true)]
async fn b1_all_records_of_a_urn_come_in_one_call() {
    let lab = Lab::default();
    let consumer = consumer(&lab).build().unwrap();
    let records = [
        record("orders", "1", &many_does("a", "ok")),
        record("orders", "2", &does("x", "ok")),
        record("orders", "3", &many_does("b", "ok")),
        record("orders", "4", &many_does("c", "ok")),
    ];
    assert!(failures(&consumer, event(records)).await.is_empty());
    let mut calls = lab.calls();
    calls.sort();
    assert_eq!(calls, ["[a b c]", "x"]);
}

#[tokio::test(start_paused = true)]
async fn b6_single_records_of_a_batch_fail_alone() {
    let lab = Lab::default();
    let consumer = consumer(&lab).build().unwrap();
    let event = many(&[
        ("a", "ok"),
        ("b", "fail"),
        ("c", "report"),
        ("d", "discard"),
        ("e", "later=9"),
    ]);
    assert_eq!(failures(&consumer, event).await, ["b", "c", "e"]);
    assert_eq!(lab.kinds(), [ReportKind::Handler; 3]);
}

#[tokio::test(start_paused = true)]
async fn an_error_or_a_panic_of_a_batch_fails_its_call_and_no_other() {
    let lab = Lab::default();
    let consumer = consumer(&lab).build().unwrap();
    for what in ["all", "panic"] {
        lab.take();
        let mut records: Vec<_> = [("a", "ok"), ("b", what), ("c", "ok")]
            .map(|(name, what)| record("orders", name, &many_does(name, what)))
            .into();
        records.push(record("orders", "x", &does("x", "ok")));
        assert_eq!(failures(&consumer, event(records)).await, ["a", "b", "c"]);
        assert!(lab.calls().contains(&"x".to_owned()));
    }
}

#[tokio::test(start_paused = true)]
async fn layers_see_a_batch_as_one_work() {
    #[derive(Clone)]
    struct Counted(Next, Lab);
    impl tower_service::Service<Work> for Counted {
        type Response = babelqueue::middleware::Outcomes;
        type Error = babelqueue::BoxError;
        type Future = babelqueue::BoxFuture<'static, Result<Self::Response, Self::Error>>;

        fn poll_ready(
            &mut self,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Result<(), Self::Error>> {
            self.0.poll_ready(cx)
        }

        fn call(&mut self, work: Work) -> Self::Future {
            self.1
                .note(format!("{} x {}", work.urn(), work.deliveries().len()));
            self.0.call(work)
        }
    }
    let lab = Lab::default();
    let seen = lab.clone();
    let layer = tower_layer::layer_fn(move |next| Counted(next, seen.clone()));
    let consumer = consumer(&lab).layer(layer).build().unwrap();
    assert_eq!(
        failures(&consumer, many(&[("a", "ok"), ("b", "fail")])).await,
        ["b"]
    );
    assert_eq!(lab.calls(), ["urn:test:many x 2", "[a b]"]);
}

#[tokio::test(start_paused = true)]
async fn the_guard_takes_duplicates_out_of_a_batch() {
    let lab = Lab::default();
    let store = babelqueue::idempotency::MemoryStore::new();
    let consumer = consumer(&lab).idempotency(store).build().unwrap();
    assert_eq!(
        failures(
            &consumer,
            many(&[("a", "ok"), ("b", "fail"), ("c", "report")])
        )
        .await,
        ["b", "c"]
    );
    let again = many(&[("a", "ok"), ("b", "ok"), ("c", "ok"), ("d", "ok")]);
    assert!(failures(&consumer, again).await.is_empty());
    // What was reported as failed has not been remembered as handled.
    assert_eq!(lab.calls(), ["[a b c]", "[b c d]"]);
    assert!(
        failures(&consumer, many(&[("a", "ok"), ("d", "ok")]))
            .await
            .is_empty()
    );
    assert_eq!(lab.calls().len(), 2, "nothing is left to be handled");
}

#[tokio::test(start_paused = true)]
async fn b30_a_payload_that_violates_its_schema_fails_alone_before_its_handler() {
    let lab = Lab::default();
    let schema = r#"{"type":"object","properties":{"name":{"minLength":2}},"required":["name"]}"#;
    let schemas = [("urn:test:many", schema), ("urn:test:task", schema)];
    let schemas = babelqueue::schema::SchemaMap::from_json(schemas).unwrap();
    let consumer = consumer(&lab).validate_payloads(schemas).build().unwrap();
    let records = [
        record("orders", "1", &many_does("aa", "ok")),
        record("orders", "2", &many_does("b", "ok")),
        record("orders", "3", &does("c", "ok")),
        record("orders", "4", &does("dd", "ok")),
    ];
    assert_eq!(failures(&consumer, event(records)).await, ["2", "3"]);
    let mut calls = lab.calls();
    calls.sort();
    assert_eq!(calls, ["[aa]", "dd"]);
    let below = |text: &&String| text.contains("name: below_min_length");
    assert_eq!(lab.errors().iter().filter(below).count(), 2);
}

struct Shop(String);

impl<S> FromClient<S> for Shop {
    const ATTRIBUTE: &'static str = "shop";
    type Error = &'static str;

    fn from_client(client: &str, _: &S) -> Result<Self, Self::Error> {
        if client == "closed" {
            return Err("the shop is closed");
        }
        Ok(Self(client.to_uppercase()))
    }
}

#[babel_handler(batch, per_attribute = "shop")]
async fn per_shop(
    all: Batch<OfClient>,
    Session(shop): Session<Shop>,
    State(lab): State<Lab>,
    invocation: &Invocation,
) {
    let names: Vec<_> = all.payloads().map(|one| one.name.as_str()).collect();
    let shop = shop.map_or("nobody".to_owned(), |shop| shop.0);
    assert_eq!(invocation.request_id(), "req-1");
    lab.note(format!("{shop}: {}", names.join(" ")));
    for one in &all {
        if one.does == "fail" {
            one.fail("it failed");
        }
    }
}

#[babel_handler]
async fn of_client(task: Task, Session(client): Session<String>, State(lab): State<Lab>) {
    lab.note(format!("{}: {client:?}", task.name));
}

fn sessions(lab: &Lab) -> LambdaConsumer {
    LambdaConsumer::builder(Router::from_handlers![per_shop, of_client])
        .state(lab.clone())
        .on_error(lab.hook())
        .build()
        .unwrap()
}

fn order(queue: &str, name: &str, what: &str, shop: Option<&str>) -> serde_json::Value {
    let data = json!({ "name": name, "does": what });
    let record = record(queue, name, &body("urn:test:client", name, &data));
    match shop {
        Some(shop) => with_attribute("shop", shop, record),
        None => record,
    }
}

#[tokio::test(start_paused = true)]
async fn b31_a_session_comes_from_the_clients_attribute() {
    let lab = Lab::default();
    let consumer = sessions(&lab);
    let task = |name: &str| record("orders", name, &does(name, ""));
    let records = [
        with_attribute("janis-client", "acme", task("a")),
        task("b"),
        with_attribute("janis-client", "", task("c")),
    ];
    assert!(failures(&consumer, event(records)).await.is_empty());
    assert_eq!(lab.take(), ["a: Some(\"acme\")", "b: None", "c: None"]);

    // In batches: one call for each client, and one for those without.
    let records = [
        order("orders", "1", "ok", Some("x")),
        order("orders", "2", "ok", None),
        order("orders", "3", "ok", Some("closed")),
        order("orders", "4", "fail", Some("x")),
        order("orders", "5", "ok", Some("y")),
        order("orders", "6", "ok", None),
        order("orders", "7", "ok", Some("closed")),
    ];
    assert_eq!(failures(&consumer, event(records)).await, ["3", "4", "7"]);
    let mut calls = lab.calls();
    calls.sort();
    assert_eq!(calls, ["X: 1 4", "Y: 5", "nobody: 2 6"]);
    assert!(
        lab.errors()
            .iter()
            .any(|error| error.contains("the shop is closed"))
    );
}

#[tokio::test(start_paused = true)]
async fn b31_on_fifo_a_group_of_several_clients_is_cut_into_runs() {
    let lab = Lab::default();
    let consumer = sessions(&lab);
    let order = |name: &str, what: &str, shop| {
        in_group(&name[..1], order("orders.fifo", name, what, Some(shop)))
    };
    let records = [
        order("A1", "ok", "x"),
        order("A2", "ok", "y"),
        order("B1", "ok", "y"),
        order("A3", "ok", "y"),
        order("A4", "fail", "x"),
        order("B2", "ok", "y"),
        order("A5", "ok", "x"),
        order("A6", "ok", "y"),
    ];
    assert_eq!(
        failures(&consumer, event(records)).await,
        ["A4", "A5", "A6"]
    );
    let calls = lab.calls();
    let at = |call: &str| {
        calls
            .iter()
            .position(|one| one == call)
            .unwrap_or_else(|| panic!("{call} in {calls:?}"))
    };
    assert!(at("X: A1") < at("Y: A2 A3") && at("Y: A2 A3") < at("X: A4 A5"));
    at("Y: B1 B2");
    assert_eq!(calls.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_session_of_a_batch_with_several_clients_is_refused() {
    #[babel_handler(batch)]
    async fn mixed(_: Batch<OfClient>, Session(_): Session<Shop>) {}
    let lab = Lab::default();
    let consumer = LambdaConsumer::builder(Router::from_handlers![mixed])
        .on_error(lab.hook())
        .build()
        .unwrap();
    let records = [
        order("orders", "1", "ok", Some("x")),
        order("orders", "2", "ok", Some("y")),
    ];
    assert_eq!(failures(&consumer, event(records)).await, ["1", "2"]);
    assert!(
        lab.errors()[0].contains("per_attribute = \"shop\""),
        "{:?}",
        lab.errors()
    );
}
