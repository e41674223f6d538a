//! Section `trim`: the blank set on make, decode, acceptance and re-emit.

use babelqueue::Envelope;
use babelqueue::SqsPublisher;
use babelqueue::envelope::Patch;
use babelqueue::local::Operation;
use serde_json::json;

use super::decode;
use crate::case::Case;
use crate::compare::{expect, parse, preserved};
use crate::ensure;
use crate::run::Verdict;
use crate::world::World;

pub async fn run(case: &Case) -> Verdict {
    match case.text("mode")? {
        "make" => make(case).await,
        "decode" => decode::identity(case, decode::valid(case)?),
        "accepts" => accepts(case),
        "reemit" => reemit(case),
        other => Err(format!("unknown mode {other}")),
    }
}

/// Through the publisher: what arrives on the queue counts.
async fn make(case: &Case) -> Verdict {
    let world = World::new();
    let publisher = SqsPublisher::new(world.sqs.client(), &world.queue);
    let mut publish = publisher.publish_json(case.text("urn")?, &json!({}));
    if let Some(trace_id) = case.value["trace_id"].as_str() {
        publish = publish.trace_id(trace_id);
    }
    let sent = publish.await;
    if let Some(word) = case.value["expect"].as_str() {
        ensure!(word == "reject", "unknown expectation {word}");
        ensure!(sent.is_err(), "it was sent");
        ensure!(world.count(Operation::SendMessage) == 0, "a call was made");
        return Ok(());
    }
    sent.map_err(|error| error.to_string())?;
    let body = parse(&world.only(&world.queue)?.body)?;
    for (name, expected) in case.value["expect"].as_object().ok_or("no `expect`")? {
        expect(name, &body[name], expected)?;
    }
    Ok(())
}

fn accepts(case: &Case) -> Verdict {
    let decoded = Envelope::decode_bytes(case.file()?);
    expect(
        "decode",
        &json!(decoded.is_ok()),
        &case.value["expect_decode_ok"],
    )?;
    let accepts = decoded.is_ok_and(|envelope| envelope.accepts());
    expect("accepts", &json!(accepts), &case.value["expect_accepts"])
}

fn reemit(case: &Case) -> Verdict {
    let envelope = Envelope::decode_bytes(case.file()?).map_err(|error| error.to_string())?;
    let attempts = envelope.attempts().ok_or("no attempts")? + 1;
    let text = envelope
        .reemit(&Patch::new().attempts(attempts))
        .map_err(|e| e.to_string())?;
    let document = parse(&text)?;
    expect(
        "attempts",
        &document["attempts"],
        &case.value["expect_attempts"],
    )?;
    preserved(&document, &case.value["expect_preserved"])
}
