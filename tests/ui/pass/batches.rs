//! Batch handlers in every form that is allowed.
#![deny(warnings)]

use std::borrow::Cow;

use babelqueue::handler::Session;
use babelqueue::prelude::*;
use babelqueue::Delivery;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:test:a"]
struct Borrows<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:test:b"]
struct Plain {}

type Many = Batch<Plain>;

#[derive(Clone, FromRef)]
struct App {
    name: String,
}

#[babel_handler(batch, per_attribute = "tenant", state = App)]
async fn borrowing<'a>(
    all: Batch<Borrows<'a>>,
    _deliveries: &[Delivery],
    State(_name): State<String>,
    _session: Option<Session<String>>,
) -> Result<Outcome, String> {
    for one in &all {
        if one.name.is_empty() {
            one.fail("it has no name");
        }
    }
    Ok(Outcome::Done)
}

#[babel_handler(batch)]
async fn alias(all: Many) {
    for one in all {
        let (Plain {}, ticket) = one.into_parts();
        ticket.settle(Outcome::Discard);
    }
}

fn main() {
    fn takes(_: impl Routes<App>) {}
    let router = Router::from_handlers![borrowing, alias];
    assert!(router.takes_batches());
    takes(router);
}
