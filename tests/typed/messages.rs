//! What the derive says of a struct, and what its publish hands over.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use babelqueue::message::Draft;
use babelqueue::prelude::*;
use babelqueue::{BoxFuture, PublishError, Published};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
#[babel(alias = "urn:babel:orders:new", alias = "urn:babel:orders:v0")]
struct OrderCreated {
    #[babel(group_id)]
    customer: Option<String>,
    #[babel(dedup_id)]
    order_id: u64,
}

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:unit"]
struct Unit;

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:list"]
struct List(Items);

/// Not known to be written as an array, and written as one.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Items(Vec<u64>);

#[derive(Debug, PartialEq, Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:map"]
struct Map(HashMap<String, f64>);

/// Keeps what it is given.
#[derive(Default)]
struct Recorder(Mutex<Vec<Draft>>);

impl Publish for Recorder {
    fn send(&self, draft: Draft) -> BoxFuture<'_, Result<Published, PublishError>> {
        self.0.lock().unwrap().push(draft);
        Box::pin(async { Ok(Published::new("m-1", "t-1")) })
    }
}

impl Recorder {
    fn only(&self) -> Draft {
        let drafts = self.0.lock().unwrap();
        assert_eq!(drafts.len(), 1);
        drafts[0].clone()
    }
}

#[test]
fn the_derive_carries_urn_and_aliases() {
    assert_eq!(OrderCreated::URN, "urn:babel:orders:created");
    assert_eq!(
        OrderCreated::ALIASES,
        ["urn:babel:orders:new", "urn:babel:orders:v0"]
    );
}

#[test]
fn an_id_field_that_is_none_falls_through() {
    let mut order = OrderCreated {
        customer: Some("é 1".into()),
        order_id: 7,
    };
    assert_eq!(order.group_id().as_deref(), Some("é 1"));
    assert_eq!(order.deduplication_id().as_deref(), Some("7"));
    order.customer = None;
    assert_eq!(order.group_id(), None);
}

#[tokio::test]
async fn a_publish_hands_over_everything_that_was_said() {
    let recorder = Recorder::default();
    let publisher: &dyn Publish = &recorder;
    let published = OrderCreated {
        customer: Some("c".into()),
        order_id: 7,
    }
    .publish(publisher)
    .trace_id("t-9")
    .header("tenant", "acme")
    .meta("ext", &serde_json::json!({"acme": 1}))
    .delay(Duration::from_millis(1500))
    .await
    .unwrap();
    assert_eq!(
        (published.message_id.as_str(), published.trace_id.as_str()),
        ("m-1", "t-1")
    );

    let draft = recorder.only();
    assert_eq!(draft.urn, "urn:babel:orders:created");
    assert_eq!(draft.data, r#"{"customer":"c","order_id":7}"#);
    assert_eq!(draft.trace_id.as_deref(), Some("t-9"));
    assert_eq!(draft.headers, [("tenant".to_owned(), "acme".to_owned())]);
    assert_eq!(draft.meta, [("ext".to_owned(), r#"{"acme":1}"#.to_owned())]);
    assert_eq!(draft.delay, Some(Duration::from_millis(1500)));
    assert_eq!(draft.group_id.as_deref(), Some("c"));
    assert_eq!(draft.deduplication_id.as_deref(), Some("7"));
}

#[tokio::test]
async fn what_is_said_at_the_call_wins_over_the_field() {
    let recorder = Recorder::default();
    let order = OrderCreated {
        customer: Some("c".into()),
        order_id: 7,
    };
    order
        .publish(&recorder)
        .group_id("g")
        .deduplication_id("d")
        .await
        .unwrap();
    let draft = recorder.only();
    assert_eq!(draft.group_id.as_deref(), Some("g"));
    assert_eq!(draft.deduplication_id.as_deref(), Some("d"));
}

#[tokio::test]
async fn a_builder_outlives_its_message() {
    let recorder = Recorder::default();
    let publish = {
        let order = OrderCreated {
            customer: None,
            order_id: 1,
        };
        order.publish(&recorder)
    };
    publish.await.unwrap();
    assert_eq!(recorder.only().data, r#"{"customer":null,"order_id":1}"#);
}

#[tokio::test]
async fn data_is_an_object_or_nothing_is_sent() {
    let recorder = Recorder::default();
    let error = List(Items(vec![1])).publish(&recorder).await.unwrap_err();
    assert!(matches!(error, PublishError::Make(_)), "{error}");
    let nan = Map(HashMap::from([("x".to_owned(), f64::NAN)]));
    let error = nan.publish(&recorder).header("a", "b").await.unwrap_err();
    assert!(error.to_string().contains("/data/x"), "{error}");
    let order = OrderCreated {
        customer: None,
        order_id: 1,
    };
    let error = order.publish(&recorder).meta("ts", &1).await.unwrap_err();
    assert!(error.to_string().contains("/meta/ts"), "{error}");
    assert!(error.is_refused() && !error.is_retryable());
    assert!(recorder.0.lock().unwrap().is_empty());

    Unit.publish(&recorder).await.unwrap();
    assert_eq!(recorder.only().data, "{}");
}

#[tokio::test]
async fn a_trace_is_carried_on_from_a_delivery() {
    let delivery = crate::delivery("urn:babel:x", "{}");
    let recorder = Recorder::default();
    Unit.publish(&recorder)
        .continue_trace(delivery.context())
        .await
        .unwrap();
    assert_eq!(recorder.only().trace_id.as_deref(), Some("t-1"));
}
