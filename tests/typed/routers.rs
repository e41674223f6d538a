//! Routing: which handler a URN finds.

use babelqueue::handler::HandlerResult;
use babelqueue::prelude::*;
use babelqueue::{Delivery, Route};
use serde::{Deserialize, Serialize};

use crate::{delivery, run};

macro_rules! messages {
    ($($name:ident $handler:ident $urn:literal $($alias:literal)*;)*) => {$(
        #[derive(Serialize, Deserialize, BabelMessage)]
        #[urn = $urn]
        $(#[babel(alias = $alias)])*
        struct $name {}

        #[babel_handler]
        async fn $handler(_: $name) -> Outcome {
            Outcome::dead_letter(stringify!($handler))
        }
    )*};
}

messages! {
    A a "urn:babel:a" "urn:babel:a:old" "urn:babel:a:older";
    B b "urn:babel:b";
    C c "urn:babel:c";
}

#[babel_handler(fallback)]
async fn rest(envelope: &Envelope, ctx: &Context) -> Outcome {
    assert_eq!(envelope.urn(), ctx.urn());
    Outcome::dead_letter(format!("rest of {}", envelope.urn()))
}

Router::from_handlers![struct First;, a];
Router::from_handlers![struct Second;, b, rest];

async fn said<R: Routes<()>>(router: R, urn: &str) -> String {
    match run(router, &(), urn, "{}").await.unwrap() {
        Outcome::DeadLetter { reason } => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_urn_finds_its_handler_and_aliases_find_it_too() {
    let router = Router::from_handlers![a, b, c];
    assert_eq!(size_of_val(&router), 0);
    for urn in ["urn:babel:a", "urn:babel:a:old", "urn:babel:a:older"] {
        assert_eq!(said(router, urn).await, "a");
    }
    assert_eq!(said(router, "urn:babel:c").await, "c");
    for urn in [
        "",
        "urn:babel:d",
        "urn:babel:A",
        "urn:babel:a ",
        "urn:babel:a:ol",
    ] {
        assert_eq!(router.find(urn), None, "{urn:?}");
    }
}

#[tokio::test]
async fn a_fallback_takes_what_is_left_and_nothing_else() {
    let router = Router::from_handlers![rest, a];
    assert_eq!(said(router, "urn:babel:a").await, "a");
    assert_eq!(said(router, "urn:nobody").await, "rest of urn:nobody");
}

#[tokio::test]
async fn routers_merge() {
    let merged = Router::from_handlers![a]
        .merge(Router::from_handlers![b])
        .merge(Router::from_handlers![c, rest]);
    assert_eq!(size_of_val(&merged), 0);
    for (urn, handler) in [
        ("urn:babel:a", "a"),
        ("urn:babel:b", "b"),
        ("urn:babel:c", "c"),
    ] {
        assert_eq!(said(merged, urn).await, handler);
        assert_eq!(merged.handler_name(merged.find(urn).unwrap()), handler);
    }
    assert_eq!(said(merged, "urn:nobody").await, "rest of urn:nobody");

    let named = Router::merge![First, Second];
    assert_eq!(said(named, "urn:babel:b").await, "b");
    // The first router's missing URN must not fall to the second one's fallback too early.
    assert_eq!(said(Second.merge(First), "urn:babel:a").await, "a");
}

#[test]
fn a_router_reads_as_a_table() {
    let router = Router::from_handlers![a, rest];
    let table: Vec<(&str, &str)> = router
        .routes()
        .iter()
        .map(|Route { urn, handler, .. }| (*urn, *handler))
        .collect();
    assert_eq!(
        table,
        [
            ("urn:babel:a", "a"),
            ("urn:babel:a:old", "a"),
            ("urn:babel:a:older", "a"),
            ("*", "rest"),
        ]
    );
    assert_eq!(
        format!("{:?}", Router::from_handlers![b]),
        r#"{"urn:babel:b": "b"}"#
    );
}

#[test]
fn the_empty_list_finds_nothing() {
    let router = Router::from_handlers![];
    assert_eq!(router.find("urn:babel:a"), None);
    assert!(router.routes().is_empty());
    fn takes<S>(_: impl Routes<S>) {}
    takes::<String>(router);
}

#[tokio::test]
async fn an_index_that_no_handler_has_is_an_error() {
    async fn dispatch<R: Routes<()>>(_: R, delivery: &Delivery) -> HandlerResult {
        R::dispatch(7, delivery.into(), &()).await
    }
    let error = dispatch(Router::from_handlers![a], &delivery("urn:x", "{}"))
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "the handler of urn:x is not compiled in");
}
