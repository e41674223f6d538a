//! What a handler may take.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use babelqueue::context::Source;
use babelqueue::handler::ErrorKind;
use babelqueue::prelude::*;
use babelqueue::{Delivery, Envelope};
use serde::{Deserialize, Serialize};

use crate::run;

const URN: &str = "urn:babel:orders:created";

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    order_id: u64,
}

#[derive(Clone, Default)]
struct Seen(Arc<AtomicU64>);

#[derive(Clone)]
struct Greeting(&'static str);

#[derive(Clone, FromRef)]
struct App {
    seen: Seen,
    greeting: Greeting,
}

fn app() -> App {
    App {
        seen: Seen::default(),
        greeting: Greeting("hello"),
    }
}

#[tokio::test]
async fn every_provided_extractor() {
    #[babel_handler]
    #[allow(clippy::too_many_arguments)]
    async fn created(
        order: OrderCreated,
        ctx: &Context,
        envelope: &Envelope,
        meta: &Meta,
        headers: &Headers,
        source: &Source,
        delivery: &Delivery,
        State(seen): State<Seen>,
        State(Greeting(greeting)): State<Greeting>,
        State(app): State<App>,
        trace_id: TraceId,
        Attempts(attempts): Attempts,
    ) {
        assert_eq!(order.order_id, 1042);
        assert_eq!(ctx.urn(), URN);
        assert_eq!(envelope.attempts(), Some(1));
        assert_eq!(
            (meta.id(), meta.queue(), meta.lang()),
            (Some("m-1"), Some("orders"), Some("php"))
        );
        assert_eq!(headers.get("tenant"), Some("acme"));
        assert_eq!(source.receive_count, Some(2));
        assert_eq!(delivery.context().trace_id(), "t-1");
        assert_eq!(greeting, app.greeting.0);
        assert_eq!((&*trace_id, attempts), ("t-1", 1));
        seen.0.fetch_add(1, Ordering::Relaxed);
    }
    let app = app();
    let router = Router::from_handlers![created];
    let outcome = run(router, &app, URN, r#"{"order_id":1042}"#)
        .await
        .unwrap();
    assert_eq!(outcome, Outcome::Done);
    assert_eq!(app.seen.0.load(Ordering::Relaxed), 1);
}

/// The user's own: the value of a header, for any state.
struct Header<'d>(&'d str);

impl<'d, S> FromDelivery<'d, S> for Header<'d> {
    type Rejection = HandlerError;

    fn from_delivery(delivery: &'d Delivery, _: &'d S) -> Result<Self, HandlerError> {
        let value = delivery.context().headers().get("tenant");
        value
            .map(Header)
            .ok_or_else(|| HandlerError::permanent("no tenant"))
    }
}

/// The user's own: always refused, for one state alone.
struct Never;

impl<'d> FromDelivery<'d, App> for Never {
    type Rejection = String;

    fn from_delivery(_: &'d Delivery, app: &'d App) -> Result<Self, String> {
        Err(format!("{}, never", app.greeting.0))
    }
}

#[tokio::test]
async fn extractors_of_the_users_own() {
    #[babel_handler]
    async fn created(_order: OrderCreated, Header(tenant): Header<'_>) -> Outcome {
        Outcome::dead_letter(tenant)
    }
    let outcome = run(
        Router::from_handlers![created],
        &app(),
        URN,
        r#"{"order_id":1}"#,
    )
    .await;
    assert_eq!(outcome.unwrap(), Outcome::dead_letter("acme"));
}

#[tokio::test]
async fn a_rejection_fails_the_delivery_before_the_handler() {
    #[babel_handler]
    async fn created(_order: OrderCreated, _never: Never) {
        panic!("must not run");
    }
    let error = run(
        Router::from_handlers![created],
        &app(),
        URN,
        r#"{"order_id":1}"#,
    )
    .await
    .unwrap_err();
    assert_eq!(error.to_string(), "hello, never");
    assert_eq!(error.kind(), ErrorKind::Extractor);
    assert!(!error.is_permanent());
}

#[tokio::test]
async fn an_option_or_a_result_takes_the_rejection_in() {
    #[babel_handler]
    async fn created(
        _order: OrderCreated,
        none: Option<Never>,
        some: Option<Header<'_>>,
        refused: Result<Never, String>,
        borrowed: Option<&Context>,
    ) -> Result<(), String> {
        assert!(none.is_none() && some.is_some() && borrowed.is_some());
        refused.map(drop)
    }
    let error = run(
        Router::from_handlers![created],
        &app(),
        URN,
        r#"{"order_id":1}"#,
    )
    .await
    .unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.kind()),
        ("hello, never", ErrorKind::Handler)
    );
}

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:shipped"]
struct Shipped<'a> {
    #[serde(borrow)]
    carrier: Cow<'a, str>,
}

#[tokio::test]
async fn a_payload_borrows_from_the_body_where_it_can() {
    #[babel_handler]
    async fn shipped(shipped: Shipped<'_>, ctx: &Context) -> Outcome {
        let body = ctx.envelope().body().as_bytes().as_ptr_range();
        let is_borrowed = body.contains(&shipped.carrier.as_ptr());
        Outcome::dead_letter(format!("{} {is_borrowed}", shipped.carrier))
    }
    let router = Router::from_handlers![shipped];
    let outcome = run(router, &(), "urn:babel:shipped", r#"{"carrier":"Øresund"}"#).await;
    assert_eq!(outcome.unwrap(), Outcome::dead_letter("Øresund true"));
    // What JSON escapes has to be owned, and is.
    let outcome = run(
        router,
        &(),
        "urn:babel:shipped",
        r#"{"carrier":"\u00d8resund"}"#,
    )
    .await;
    assert_eq!(outcome.unwrap(), Outcome::dead_letter("Øresund false"));
}

#[tokio::test]
async fn a_payload_that_does_not_fit_names_urn_and_place() {
    #[derive(Serialize, Deserialize, BabelMessage)]
    #[urn = "urn:babel:orders:created"]
    struct Order {
        items: Vec<Item>,
    }
    #[derive(Serialize, Deserialize)]
    struct Item {
        price: u32,
    }
    #[babel_handler]
    async fn created(order: Order) {
        let _ = order.items.iter().map(|item| item.price).sum::<u32>();
    }
    let data = r#"{"items":[{"price":1},{"price":"much"}]}"#;
    let error = run(Router::from_handlers![created], &(), URN, data)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "`data.items[1].price` of urn:babel:orders:created does not deserialise: invalid type: \
         string, expected u32"
    );
    assert_eq!(error.kind(), ErrorKind::Payload);
    assert!(error.is_permanent());
}

#[tokio::test]
async fn a_unit_payload_takes_any_object() {
    #[derive(Serialize, Deserialize, BabelMessage)]
    #[urn = "urn:babel:ping"]
    struct Ping;
    #[babel_handler]
    async fn ping(_: Ping) {}
    let router = Router::from_handlers![ping];
    for data in ["{}", r#"{"later":"field"}"#] {
        assert_eq!(
            run(router, &(), "urn:babel:ping", data).await.unwrap(),
            Outcome::Done
        );
    }
}

#[tokio::test]
async fn a_newtype_of_a_unit_is_one_too() {
    #[derive(Serialize, Deserialize)]
    struct Ping;
    #[derive(Serialize, Deserialize, BabelMessage)]
    #[urn = "urn:babel:wrapped"]
    struct Wrapped(Ping);
    #[derive(Serialize, Deserialize, BabelMessage)]
    #[serde(transparent)]
    #[urn = "urn:babel:transparent"]
    struct Transparent {
        inner: (),
    }
    #[babel_handler]
    async fn wrapped(_: Wrapped) {}
    #[babel_handler]
    async fn transparent(message: Transparent) {
        message.inner
    }
    let router = Router::from_handlers![wrapped, transparent];
    for urn in ["urn:babel:wrapped", "urn:babel:transparent"] {
        assert_eq!(
            run(router, &(), urn, "{}").await.unwrap(),
            Outcome::Done,
            "{urn}"
        );
    }
}

#[tokio::test]
async fn c_071_an_optional_field_stays_optional() {
    mod seconds {
        pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<u64>, D::Error> {
            serde::Deserialize::deserialize(deserializer)
        }
    }
    // A field with its own (de)serialiser needs `default`, as serde's own documentation says; the
    // derive adds no serde attribute.
    #[derive(Deserialize, BabelMessage)]
    #[urn = "urn:babel:paid"]
    struct Paid {
        #[serde(default, deserialize_with = "seconds::deserialize")]
        paid_at: Option<u64>,
        note: Option<String>,
    }
    #[babel_handler]
    async fn paid(paid: Paid) -> Outcome {
        Outcome::dead_letter(format!("{:?} {:?}", paid.paid_at, paid.note))
    }
    let router = Router::from_handlers![paid];
    for (data, said) in [
        ("{}", "None None"),
        (r#"{"paid_at":null,"note":null}"#, "None None"),
        (r#"{"paid_at":3,"colour":"red"}"#, "Some(3) None"),
    ] {
        let outcome = run(router, &(), "urn:babel:paid", data).await.unwrap();
        assert_eq!(outcome, Outcome::dead_letter(said));
    }
}
