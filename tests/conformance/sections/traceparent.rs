//! Section `traceparent`: the header rides beside the envelope, from publisher to handler.

use babelqueue::SqsPublisher;
use babelqueue::envelope::trace_context::{RemoteParent, extract};
use babelqueue::local::RawMessage;
use serde_json::{Value, json};

use crate::case::Case;
use crate::compare::expect;
use crate::ensure;
use crate::run::Verdict;
use crate::world::World;

pub async fn run(case: &Case) -> Verdict {
    ensure!(case.text("mode")? == "extract", "unknown mode");
    let header = case.value["traceparent"].as_str();
    let trace_id = case.text("trace_id")?;
    check(case, extract(header, trace_id))?;

    // Published with the header as a rider; an empty one is not sent.
    let world = World::new();
    let publisher = SqsPublisher::new(world.sqs.client(), &world.queue);
    let mut publish = publisher
        .publish_json("urn:babel:orders:created", &json!({}))
        .trace_id(trace_id);
    if let Some(header) = header {
        publish = publish.header("traceparent", header);
    }
    publish.await.map_err(|error| error.to_string())?;
    let body = world.only(&world.queue)?.body;
    ensure!(
        !body.contains("traceparent"),
        "it rides inside the envelope"
    );
    let consumer = world
        .consumer()
        .build()
        .map_err(|error| error.to_string())?;
    consumer.poll().await.map_err(|error| error.to_string())?;

    // And as it is, put past the checks of SQS.
    let mut message = RawMessage::new(body);
    if let Some(header) = header {
        message = message.attribute("traceparent", "String", header);
    }
    world.put(message);
    consumer.poll().await.map_err(|error| error.to_string())?;
    let handled = world.handled();
    ensure!(handled.len() == 2, "{handled:?}");
    handled
        .iter()
        .try_for_each(|handled| check(case, handled.parent))
}

fn check(case: &Case, parent: RemoteParent) -> Verdict {
    let found = json!({
        "source": parent.source.as_str(),
        "trace_id_hex": hex(&parent.trace_id),
        "parent_span_id": hex(&parent.span_id),
        "flags": hex(&[parent.flags]),
    });
    let expected = case.value["expect"].as_object().ok_or("no `expect`")?;
    ensure!(expected.contains_key("source"), "no source is expected");
    let check = |(name, expected): (&String, &Value)| expect(name, &found[name], expected);
    expected.iter().try_for_each(check)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
