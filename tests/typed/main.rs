//! The typed layer without a queue: messages, handlers, extractors, routers, on deliveries made
//! by hand.

mod batches;
mod extractors;
mod messages;
mod outcomes;
mod routers;

use babelqueue::context::Source;
use babelqueue::handler::HandlerResult;
use babelqueue::prelude::*;
use babelqueue::{Delivery, Envelope};

/// A delivery of `data` under `urn`, with one earlier attempt and a `tenant` header.
fn delivery(urn: &str, data: &str) -> Delivery {
    let body = format!(
        r#"{{"job":"{urn}","trace_id":"t-1","data":{data},"meta":{{"id":"m-1","queue":"orders",
        "lang":"php","schema_version":1,"created_at":1749132727000}},"attempts":1}}"#
    );
    let envelope = Envelope::decode(body).expect("a valid envelope");
    let headers = [("tenant", "acme"), ("bq-job", urn)].into_iter().collect();
    let mut source = Source::new("orders");
    source.receive_count = Some(2);
    Delivery::new(Context::new(envelope, 1, headers, source))
}

/// Routes and runs a delivery as a consumer does.
async fn run<S, R: Routes<S>>(router: R, state: &S, urn: &str, data: &str) -> HandlerResult {
    let handler = router.find(urn).expect("a handler");
    R::dispatch(handler, (&delivery(urn, data)).into(), state).await
}
