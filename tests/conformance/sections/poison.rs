//! Section `poison_dlq`: the record of a poison body, from the pure function for every body, and
//! from the consumer for those that can be on a queue (SPEC §5.5).

use std::collections::BTreeMap;

use babelqueue::envelope::{DeadLetter, Reason, poison_record};
use babelqueue::local::RawMessage;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::case::Case;
use crate::compare::{expect, parse};
use crate::ensure;
use crate::run::Verdict;
use crate::world::World;

pub async fn run(case: &Case) -> Verdict {
    let queue = case
        .of_section("original_queue")
        .as_str()
        .ok_or("no original_queue")?;
    let body = match case.value["body"].as_str() {
        Some(text) => text.as_bytes().to_vec(),
        None => BASE64_STANDARD
            .decode(case.text("body_base64")?)
            .map_err(|e| e.to_string())?,
    };
    let block = DeadLetter::new(Reason::Poison, queue, 0);
    check(case, &body, queue, &poison_record(&body, &block))?;
    // SQS bodies are text.
    if let Ok(text) = String::from_utf8(body.clone()) {
        let world = World::with_queue(queue);
        world.deliver(RawMessage::new(text)).await?;
        ensure!(world.handled().is_empty(), "a handler had it");
        ensure!(
            world.on(&world.queue).is_empty(),
            "it is still on the queue"
        );
        check(case, &body, queue, &world.only(&world.dead)?.body)?;
    }
    Ok(())
}

fn check(case: &Case, body: &[u8], queue: &str, record: &str) -> Verdict {
    let mut members = members(record)?;
    let block = members.remove("dead_letter").ok_or("no dead_letter")?;
    let block = parse(block.get())?;
    expect("the reason", &block["reason"], &json!("poison"))?;
    expect("the queue", &block["original_queue"], &json!(queue))?;
    let expected = &case.value["expect"];
    let rest = || {
        let rest = members
            .iter()
            .map(|(name, value)| Ok((name.clone(), parse(value.get())?)));
        rest.collect::<Result<serde_json::Map<_, _>, String>>()
            .map(Value::Object)
    };
    match expected["shape"].as_str() {
        Some("wrapper") => expect("the wrapper", &rest()?, &expected["record"]),
        Some("splice") => {
            expect("the rest", &rest()?, &expected["record"])?;
            ensure!(is_splice_of(record, text(body)?), "no splice: {record}");
            Ok(())
        }
        Some("splice_or_wrapper") => {
            // The suite would take the wrapper; the contract of this SDK does not.
            expect(
                "the wrapper",
                &json!({ "raw": text(body)? }),
                &expected["record"],
            )?;
            for literal in expected["splice_literals"]
                .as_array()
                .ok_or("no literals")?
            {
                let literal = literal.as_str().ok_or("no text")?;
                ensure!(record.contains(literal), "{literal} is not in the record");
            }
            let names: Vec<_> = members.keys().map(|name| json!(name)).collect();
            let mut keys = expected["splice_keys"].as_array().ok_or("no keys")?.clone();
            keys.sort_by_key(ToString::to_string);
            expect("the names", &json!(names), &json!(keys))?;
            ensure!(is_splice_of(record, text(body)?), "no splice: {record}");
            Ok(())
        }
        other => Err(format!("unknown shape {other:?}")),
    }
}

fn text(body: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(body).map_err(|error| error.to_string())
}

/// Whether the record is the body, byte for byte, up to its closing brace.
pub fn is_splice_of(record: &str, body: &str) -> bool {
    let body = body.trim_matches([' ', '\t', '\r', '\n']);
    let inside = body.strip_suffix('}').unwrap_or("no object");
    record.starts_with(inside.trim_end_matches([' ', '\t', '\r', '\n']))
        && record.contains("\"dead_letter\":{")
        && record.ends_with("}}")
}

/// Top-level members of the record, unread: some hold what no parser here can represent.
pub fn members(record: &str) -> Result<BTreeMap<String, Box<RawValue>>, String> {
    serde_json::from_str(record).map_err(|error| format!("no object: {error}: {record}"))
}
