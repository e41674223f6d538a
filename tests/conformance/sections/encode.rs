//! Sections `data_shape`, `extension_write` and `encode_reject`: what a producer makes, through
//! the publisher, and what it must not make.

use babelqueue::envelope::Patch;
use babelqueue::local::Operation;
use babelqueue::{Envelope, PublishError, SqsPublisher};
use serde_json::{Value, json};

use super::decode;
use crate::case::Case;
use crate::compare::{expect, parse, preserved};
use crate::ensure;
use crate::run::Verdict;
use crate::world::World;

pub async fn data_shape(case: &Case) -> Verdict {
    match case.text("mode")? {
        "encode" => {
            let body = published(case).await?.map_err(|error| error.to_string())?;
            let envelope = Envelope::decode(body).map_err(|error| error.to_string())?;
            // The publisher writes none of the whitespace that does not count.
            let data = envelope.data_json().unwrap_or_default();
            expect(
                "data",
                &json!(data),
                &case.value["expect_encoded_data_json"],
            )
        }
        "decode" => {
            let decoded = Envelope::decode_bytes(case.file()?);
            let accepted = decoded.is_ok_and(|envelope| envelope.accepts());
            ensure!(accepted == decode::valid(case)?, "accepted: {accepted}");
            Ok(())
        }
        other => Err(format!("unknown mode {other}")),
    }
}

pub async fn extension(case: &Case) -> Verdict {
    let body = published(case).await?.map_err(|error| error.to_string())?;
    preserved(&parse(&body)?, &case.value["expect_envelope"])?;
    let envelope = Envelope::decode(body).map_err(|error| error.to_string())?;
    let attempts = envelope.attempts().ok_or("no attempts")? + 1;
    let text = envelope
        .reemit(&Patch::new().attempts(attempts))
        .map_err(|e| e.to_string())?;
    let document = parse(&text)?;
    preserved(&document, &case.value["expect_envelope"])?;
    expect("attempts", &document["attempts"], &json!(1))
}

pub async fn reject(case: &Case) -> Verdict {
    ensure!(case.text("expect")? == "reject", "unknown expectation");
    let mut builder = Envelope::builder(case.text("urn")?.to_owned())
        .queue(case.text("queue")?.to_owned())
        .data(&case.value["data"]);
    for (key, value) in meta(case) {
        builder = builder.meta(key, &value);
    }
    for (key, value) in entries(&case.value["extras_top"]) {
        builder = builder.extra(key, value.to_string());
    }
    for (key, value) in entries(&case.value["extras_meta"]) {
        builder = builder.meta_extra(key, value.to_string());
    }
    let error = match builder.build() {
        Err(error) => error,
        Ok(envelope) => return Err(format!("made: {}", envelope.body())),
    };
    let key = &case.value["offending_key"];
    expect("the pointer", &json!(error.pointer()), key)?;
    if meta(case).is_empty() {
        // A publisher takes nothing from other messages.
        return Ok(());
    }
    match published(case).await? {
        Err(PublishError::Make(error)) => expect("the pointer", &json!(error.pointer()), key),
        Err(error) => Err(format!("another error: {error}")),
        Ok(body) => Err(format!("published: {body}")),
    }
}

/// Publishes what the case says: the body that arrived, or the error with nothing sent.
async fn published(case: &Case) -> Result<Result<String, PublishError>, String> {
    let world = World::with_queue(case.text("queue")?);
    let publisher = SqsPublisher::new(world.sqs.client(), &world.queue);
    let mut publish = publisher.publish_json(case.text("urn")?, &case.value["data"]);
    for (key, value) in meta(case) {
        publish = publish.meta(key, &value);
    }
    match publish.await {
        Ok(_) => Ok(Ok(world.only(&world.queue)?.body)),
        Err(error) => {
            ensure!(
                world.count(Operation::SendMessage) == 0,
                "something was sent"
            );
            Ok(Err(error))
        }
    }
}

/// The entries for the write API, one by one.
fn meta(case: &Case) -> Vec<(String, Value)> {
    let pairs = case.value["meta_entries"].as_array().into_iter().flatten();
    let pair = |pair: &Value| Some((pair[0].as_str()?.to_owned(), pair[1].clone()));
    entries(&case.value["meta"])
        .into_iter()
        .chain(pairs.filter_map(pair))
        .collect()
}

fn entries(value: &Value) -> Vec<(String, Value)> {
    let members = value.as_object().into_iter().flatten();
    members
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}
