//! Section `identity_verdict`: what is poison, and what becomes of it on a queue.

use babelqueue::envelope::verdict;
use babelqueue::local::RawMessage;
use babelqueue::{Envelope, ReportKind};
use serde_json::json;

use super::poison::{is_splice_of, members};
use crate::case::Case;
use crate::compare::expect;
use crate::ensure;
use crate::run::Verdict;
use crate::world::World;

pub async fn run(case: &Case) -> Verdict {
    let body = case.text("body")?;
    let found = match verdict(body.as_bytes()) {
        Ok(()) => "ok",
        Err(_) => "poison",
    };
    expect("the verdict", &json!(found), &case.value["expect"])?;
    let decoded = Envelope::decode(body);
    ensure!(
        decoded.is_ok() == (found == "ok"),
        "decode says otherwise: {decoded:?}"
    );
    ensure!(
        decoded.is_ok_and(|it| !it.urn().is_empty()) == (found == "ok"),
        "no urn"
    );

    let world = World::new();
    world.deliver(RawMessage::new(body)).await?;
    let poisoned = world.reports() == [ReportKind::Poison];
    ensure!(
        poisoned == (found == "poison"),
        "reported {:?}",
        world.reports()
    );
    if !poisoned {
        return Ok(());
    }
    ensure!(world.handled().is_empty(), "a handler had it");
    ensure!(
        world.on(&world.queue).is_empty(),
        "it is still on the queue"
    );
    let record = world.only(&world.dead)?.body;
    let members = members(&record)?;
    let block: serde_json::Value = match members.get("dead_letter") {
        Some(block) => serde_json::from_str(block.get()).map_err(|error| error.to_string())?,
        None => return Err("no dead_letter".to_owned()),
    };
    expect("the reason", &block["reason"], &json!("poison"))?;
    let raw = members
        .get("raw")
        .map(|raw| serde_json::from_str::<String>(raw.get()));
    let wrapped = matches!(raw, Some(Ok(raw)) if raw == body);
    ensure!(wrapped || is_splice_of(&record, body), "{record}");
    // The same without a dead-letter queue: left, and never to the unknown-URN hook.
    let world = World::new();
    world.put(RawMessage::new(body));
    let consumer = world
        .hook_only()
        .build()
        .map_err(|error| error.to_string())?;
    consumer.poll().await.map_err(|error| error.to_string())?;
    ensure!(world.log.seen().hooked == 0, "the hook was called");
    ensure!(world.on(&world.queue).len() == 1, "it is gone");
    Ok(())
}
