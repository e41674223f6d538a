//! Sections `roundtrip` and `forbidden_keys`: what survives decode → attempts + 1 → re-emit, and
//! what must not.

use babelqueue::Envelope;
use babelqueue::envelope::{DeadLetter, Patch, Reason};
use babelqueue::local::RawMessage;
use serde_json::Value;

use crate::case::Case;
use crate::compare::{absent, expect, parse, preserved};
use crate::ensure;
use crate::run::Verdict;
use crate::world::{Answer, World};

pub async fn run(case: &Case) -> Verdict {
    let envelope = Envelope::decode_bytes(case.file()?).map_err(|error| error.to_string())?;
    envelope.accept().map_err(|error| error.to_string())?;
    ensure!(
        envelope.warnings().is_empty(),
        "warned: {:?}",
        envelope.warnings()
    );
    let attempts = envelope.attempts().ok_or("no attempts")? + 1;
    let move_to_dead_letters = &case.value["apply_dead_letter"];
    if move_to_dead_letters.is_null() {
        let text = envelope
            .reemit(&Patch::new().attempts(attempts))
            .map_err(|e| e.to_string())?;
        return check(case, &text);
    }
    let word = |name: &str| {
        move_to_dead_letters[name]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let block = DeadLetter::new(Reason::from(word("reason")), word("original_queue"), 0);
    let text = envelope
        .dead_letter_copy(&block, attempts)
        .map_err(|error| error.to_string())?;
    check(case, &text)?;
    // And by the consumer, whose handler fails for good.
    ensure!(word("reason") == "failed", "the consumer is told to fail");
    let world = World::with_queue(&word("original_queue"));
    world.log.seen().answer = Answer::GiveUp;
    world.deliver(RawMessage::new(case.body()?)).await?;
    check(case, &world.only(&world.dead)?.body)
}

fn check(case: &Case, text: &str) -> Verdict {
    let document = parse(text)?;
    expect(
        "attempts",
        &document["attempts"],
        &case.value["expect_attempts"],
    )?;
    preserved(&document, &case.value["expect_preserved"])?;
    absent(&document, &case.value["expect_absent_after_reencode"])?;
    for (name, expected) in case.value["expect_dead_letter"]
        .as_object()
        .into_iter()
        .flatten()
    {
        expect(name, &document["dead_letter"][name], expected)?;
    }
    Ok(())
}

pub fn forbidden_key(case: &Case) -> Verdict {
    ensure!(case.text("expect")? == "warn", "unknown expectation");
    let envelope = Envelope::decode_bytes(case.file()?).map_err(|error| error.to_string())?;
    envelope.accept().map_err(|error| error.to_string())?;
    let key = case.text("forbidden_key")?;
    let warned = envelope
        .warnings()
        .iter()
        .any(|warning| warning.pointer == key);
    ensure!(warned, "no warning names {key}: {:?}", envelope.warnings());
    let document: Value = parse(&envelope.encode().map_err(|error| error.to_string())?)?;
    absent(&document, &case.value["expect_absent_after_reencode"])?;
    preserved(&document, &case.value["expect_preserved"])
}
