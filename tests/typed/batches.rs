//! Batch handlers: what is in a batch, and how answers and single verdicts come together.

use std::borrow::Cow;
use std::time::Duration;

use babelqueue::FromBatch;
use babelqueue::handler::{Deliveries, Verdict};
use babelqueue::prelude::*;
use babelqueue::{Delivery, Outcome};
use serde::{Deserialize, Serialize};

use super::{delivery, run};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:test:order"]
#[babel(alias = "urn:test:old")]
struct Order<'a> {
    id: u64,
    #[serde(borrow)]
    say: Cow<'a, str>,
}

#[derive(Debug, thiserror::Error)]
#[error("all of them failed")]
struct AllFailed;

#[babel_handler(batch)]
async fn orders(
    orders: Batch<Order<'_>>,
    all: &[Delivery],
    State(log): State<std::sync::Arc<std::sync::Mutex<Vec<u64>>>>,
) -> Result<Outcome, AllFailed> {
    assert!(orders.len() <= all.len() && !orders.is_empty());
    let mut answer = Ok(Outcome::Done);
    for order in &orders {
        log.lock().unwrap().push(order.id);
        assert_eq!(order.context().urn(), "urn:test:order");
        match &*order.say {
            "fail" => order.fail("this one"),
            "later" => {
                order.fail(HandlerError::retry_after("later", Duration::from_secs(7)));
            }
            "discard" => order.settle(Outcome::Discard),
            "twice" => {
                order.fail("first");
                order.settle(Outcome::dead_letter("second"));
            }
            "all" => answer = Err(AllFailed),
            _ => {}
        }
    }
    answer
}

#[babel_handler(batch, per_attribute = "tenant")]
async fn per_tenant(_: Batch<Other>) {}

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:test:other"]
struct Other {}

type Log = std::sync::Arc<std::sync::Mutex<Vec<u64>>>;

async fn batch(says: &[&str]) -> (Vec<String>, Vec<u64>) {
    let log = Log::default();
    let data = says.iter().enumerate().map(|(id, say)| match *say {
        "bad" => r#"{"id":"none"}"#.to_owned(),
        say => format!(r#"{{"id":{id},"say":"{say}"}}"#),
    });
    let deliveries = data
        .map(|data| delivery("urn:test:order", &data))
        .collect::<Vec<_>>();
    let deliveries = Deliveries::new(deliveries);
    let router = Router::from_handlers![orders];
    let answer = dispatch(router, &deliveries, &log).await;
    let text = |result: &Result<Outcome, HandlerError>| match result {
        Ok(outcome) => format!("{outcome:?}"),
        Err(error) => format!("{error}/{:?}", error.verdict()),
    };
    let results = deliveries.results(answer).iter().map(text).collect();
    let handled = log.lock().unwrap().clone();
    (results, handled)
}

async fn dispatch<R: Routes<Log>>(
    _: R,
    deliveries: &Deliveries,
    log: &Log,
) -> Result<Outcome, HandlerError> {
    R::dispatch(0, deliveries.into(), log).await
}

#[tokio::test]
async fn single_messages_fail_on_their_own() {
    let (results, handled) = batch(&["ok", "fail", "later", "discard", "twice"]).await;
    assert_eq!(
        results,
        [
            "Done",
            "this one/Retry",
            "later/RetryAfter(7s)",
            "Discard",
            "DeadLetter { reason: \"second\" }",
        ]
    );
    assert_eq!(handled, [0, 1, 2, 3, 4]);
}

#[tokio::test]
async fn an_error_fails_all_and_what_was_said_of_single_ones_stays() {
    let (results, _) = batch(&["ok", "later", "discard", "all"]).await;
    let all = "all of them failed/Retry";
    assert_eq!(results, [all, "later/RetryAfter(7s)", all, all]);
}

#[tokio::test]
async fn a_payload_that_does_not_deserialise_fails_alone() {
    let (results, handled) = batch(&["ok", "bad", "ok"]).await;
    assert_eq!((results[0].as_str(), results[2].as_str()), ("Done", "Done"));
    assert!(
        results[1].starts_with("`data.id` of urn:test:order"),
        "{}",
        results[1]
    );
    assert!(results[1].ends_with("/Permanent"), "{}", results[1]);
    assert_eq!(handled, [0, 2]);
    let (results, handled) = batch(&["bad"]).await;
    assert!(
        results[0].ends_with("/Permanent") && handled.is_empty(),
        "{results:?}"
    );
}

#[tokio::test]
async fn a_batch_handler_takes_a_single_message_and_another_takes_no_batch() {
    let log = Log::default();
    let data = r#"{"id":4,"say":"fail"}"#;
    let error = run(Router::from_handlers![orders], &log, "urn:test:order", data)
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "this one");
    assert_eq!(*log.lock().unwrap(), [4]);

    #[babel_handler]
    async fn single(_: Other) {}
    let two = [(); 2].map(|()| delivery("urn:test:other", "{}"));
    let deliveries = Deliveries::new(two.into());
    let answer = dispatch(Router::from_handlers![single], &deliveries, &log).await;
    assert!(answer.unwrap_err().to_string().contains("a batch of 2"));
}

#[test]
fn the_router_knows_how_a_handler_takes_batches() {
    let router = Router::from_handlers![orders, per_tenant];
    let rule = |urn| router.batch_rule(router.find(urn).unwrap()).unwrap();
    assert_eq!(rule("urn:test:old").per_attribute, None);
    assert_eq!(rule("urn:test:other").per_attribute, Some("tenant"));

    #[babel_handler]
    async fn single(_: Other) {}
    assert_eq!(Router::from_handlers![single].batch_rule(0), None);
}

#[test]
fn a_common_error_keeps_its_type_and_what_it_asks_for() {
    let one = delivery("urn:test:order", "{}");
    let error = HandlerError::permanent(AllFailed);
    let results = Deliveries::new(vec![one.clone(), one]).results(Err(error));
    for result in results {
        let error = result.unwrap_err();
        assert!(error.downcast_ref::<AllFailed>().is_some());
        assert_eq!(error.verdict(), Verdict::Permanent);
        assert!(error.type_name().ends_with("AllFailed"));
    }
}

/// An argument of the user's own, which may refuse the batch.
struct Few;

impl<'d, S> FromBatch<'d, S> for Few {
    type Rejection = &'static str;

    fn from_batch(deliveries: &'d [Delivery], _: &'d S) -> Result<Self, &'static str> {
        if deliveries.len() < 2 {
            Ok(Self)
        } else {
            Err("too many")
        }
    }
}

#[tokio::test]
async fn a_rejected_argument_fails_the_call() {
    #[babel_handler(batch, state = Log)]
    async fn few(_: Batch<Other>, _: Few, maybe: Option<Few>) {
        assert!(maybe.is_some());
    }
    let log = Log::default();
    for (count, refused) in [(1, false), (2, true)] {
        let deliveries = (0..count).map(|_| delivery("urn:test:other", "{}"));
        let deliveries = Deliveries::new(deliveries.collect());
        let answer = dispatch(Router::from_handlers![few], &deliveries, &log).await;
        assert_eq!(answer.is_err(), refused);
    }
}
