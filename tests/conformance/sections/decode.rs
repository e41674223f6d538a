//! Sections `cases` and `job_type`: decoding and acceptance, on the codec and through a consumer.

use babelqueue::Envelope;
use babelqueue::local::RawMessage;
use serde_json::{Value, json};

use crate::case::Case;
use crate::compare::{expect, parse};
use crate::ensure;
use crate::run::Verdict;
use crate::world::World;

pub async fn case(case: &Case) -> Verdict {
    let valid = valid(case)?;
    through_a_consumer(case, valid).await?;
    let decoded = Envelope::decode_bytes(case.file()?);
    if !valid {
        ensure!(
            decoded.is_err() || decoded.is_ok_and(|envelope| !envelope.accepts()),
            "decoded and accepted"
        );
        return Ok(());
    }
    let envelope = decoded.map_err(|error| error.to_string())?;
    envelope.accept().map_err(|error| error.to_string())?;
    let meta = envelope.meta();
    ensure!(meta.id().is_some_and(|id| !id.is_empty()), "no meta.id");
    ensure!(
        envelope.trace_id().is_some_and(|id| !id.is_empty()),
        "no trace_id"
    );
    for (name, expected) in case.value["expect"].as_object().ok_or("no `expect`")? {
        let found = match name.as_str() {
            "urn" => json!(envelope.urn()),
            "data" => parse(envelope.data_json().unwrap_or("null"))?,
            "attempts" => json!(envelope.attempts()),
            "lang" => json!(meta.lang()),
            "schema_version" => json!(meta.schema_version()),
            "dead_letter" => {
                let block = envelope.dead_letter().ok_or("no dead_letter")?;
                let known = json!({
                    "reason": block.reason.as_str(),
                    "original_queue": block.original_queue,
                    "error": block.error,
                    "exception": block.exception,
                    "failed_at": block.failed_at,
                    "attempts": block.attempts,
                    "lang": block.lang,
                });
                for (name, expected) in expected.as_object().into_iter().flatten() {
                    expect(name, &known[name], expected)?;
                }
                continue;
            }
            other => return Err(format!("unknown expectation {other}")),
        };
        expect(name, &found, expected)?;
    }
    Ok(())
}

pub async fn job_type(case: &Case) -> Verdict {
    let valid = valid(case)?;
    identity(case, valid)?;
    through_a_consumer(case, valid).await
}

/// Decodes the file and compares identity and warnings.
pub fn identity(case: &Case, valid: bool) -> Verdict {
    let decoded = Envelope::decode_bytes(case.file()?);
    if !valid {
        ensure!(decoded.is_err(), "decoded");
        return Ok(());
    }
    let envelope = decoded.map_err(|error| error.to_string())?;
    expect("urn", &json!(envelope.urn()), &case.value["expect"]["urn"])?;
    let warned = !envelope.warnings().is_empty();
    expect("warning", &json!(warned), &case.value["expect_warning"])
}

pub fn valid(case: &Case) -> Result<bool, String> {
    case.value["valid"]
        .as_bool()
        .ok_or_else(|| "no `valid`".to_owned())
}

/// A valid body reaches the handler under its URN, and no other one does.
async fn through_a_consumer(case: &Case, valid: bool) -> Verdict {
    let world = World::new();
    world.deliver(RawMessage::new(case.body()?)).await?;
    let urns: Vec<_> = world
        .handled()
        .into_iter()
        .map(|handled| json!(handled.urn))
        .collect();
    if !valid {
        ensure!(urns.is_empty(), "a handler had it");
        return Ok(());
    }
    expect(
        "the handler's urn",
        &Value::Array(urns),
        &json!([case.value["expect"]["urn"]]),
    )
}
