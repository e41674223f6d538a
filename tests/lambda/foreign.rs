//! Bodies that are no envelopes: plain JSON for typed handlers, and decoders of one's own.

use babelqueue::decode::{Decoded, Foreign, PlainJson};
use babelqueue::prelude::*;
use babelqueue::{BoxError, LambdaConsumer, ReportKind};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::support::{Lab, event, failures, record};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:test:order"]
struct Order {
    order_id: u64,
}

#[babel_handler]
async fn order(order: Order, State(lab): State<Lab>) {
    lab.note(order.order_id.to_string());
}

fn plain(lab: &Lab) -> babelqueue::lambda::LambdaConsumerBuilder<impl Routes<Lab>, Lab> {
    LambdaConsumer::builder(Router::from_handlers![order])
        .state(lab.clone())
        .on_error(lab.hook())
}

#[tokio::test(start_paused = true)]
async fn b28_a_plain_queue_feeds_typed_handlers_and_what_is_no_json_fails_alone() {
    let lab = Lab::default();
    let consumer = plain(&lab)
        .decoder(PlainJson::of::<Order>())
        .build()
        .unwrap();
    let bodies = [
        r#"{"order_id":1}"#,
        "not json",
        r#"{"order_id":2}"#,
        r#"{"order_id":"three"}"#,
        "",
    ];
    let records = bodies.iter().enumerate();
    let records = records.map(|(i, body)| record("orders", &i.to_string(), body));
    assert_eq!(failures(&consumer, event(records)).await, ["1", "3", "4"]);
    assert_eq!(lab.calls(), ["1", "2"]);
    assert!(lab.kinds().contains(&ReportKind::Poison));
}

#[tokio::test(start_paused = true)]
async fn b28_any_json_value_can_be_a_body() {
    #[derive(Serialize, Deserialize, BabelMessage)]
    #[urn = "urn:test:any"]
    struct Any {
        body: Value,
    }
    #[babel_handler]
    async fn any(any: Any, State(lab): State<Lab>) {
        lab.note(any.body.to_string());
    }
    let lab = Lab::default();
    let consumer = LambdaConsumer::builder(Router::from_handlers![any])
        .state(lab.clone())
        .decoder(PlainJson::of::<Any>().value_in("body"))
        .build()
        .unwrap();
    let bodies = ["null", "7", "\"x\"", "[1]", "{\"a\":1}", "nothing"];
    let records = bodies.map(|body| record("orders", body, body));
    assert_eq!(failures(&consumer, event(records)).await, ["nothing"]);
    assert_eq!(lab.calls(), ["null", "7", "\"x\"", "[1]", "{\"a\":1}"]);
}

#[tokio::test(start_paused = true)]
async fn b29_parsing_of_ones_own_may_fail_or_skip_a_record() {
    let lab = Lab::default();
    let parse = |message: &Foreign<'_>| -> Result<Decoded, BoxError> {
        match message.body().split_once(' ') {
            Some(("order", id)) => {
                let data = json!({ "order_id": id.parse::<u64>()? });
                Ok(message
                    .envelope("urn:test:order")
                    .data(&data)
                    .build()?
                    .into())
            }
            Some(("panic", _)) => panic!("in the decoder"),
            _ if message.body() == "heartbeat" => Ok(Decoded::Skip),
            _ => Ok(Decoded::NotMine),
        }
    };
    let consumer = plain(&lab).decoder(parse).build().unwrap();
    let bodies = [
        "order 1",
        "order x",
        "heartbeat",
        "panic now",
        "order 2",
        "else",
    ];
    let records = bodies.map(|body| record("orders", body, body));
    assert_eq!(
        failures(&consumer, event(records)).await,
        ["order x", "panic now", "else"]
    );
    assert_eq!(lab.calls(), ["1", "2"]);
    assert_eq!(
        lab.kinds(),
        [ReportKind::Poison; 3],
        "what is skipped is not reported"
    );
}
