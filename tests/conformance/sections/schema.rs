//! Sections `payload_schema` and `payload_schema_unicode`: the validator on its own, and in front
//! of a handler.

use babelqueue::ReportKind;
use babelqueue::local::RawMessage;
use babelqueue::schema::{SchemaMap, SchemaProvider as _};
use serde_json::json;

use super::decode::valid;
use crate::case::Case;
use crate::ensure;
use crate::run::Verdict;
use crate::world::World;

const URN: &str = "urn:babel:orders:created";

pub async fn run(case: &Case) -> Verdict {
    let valid = valid(case)?;
    let schema = case.of_section("schema").to_string();
    let schemas = SchemaMap::from_json([(URN, schema)]).map_err(|error| error.to_string())?;
    let data = case.value["data"].to_string();
    let violation = schemas
        .check(URN, &data)
        .map_err(|error| error.to_string())?;
    ensure!(violation.is_none() == valid, "{violation:?}");
    let all = schemas
        .check_all(URN, &data)
        .map_err(|error| error.to_string())?;
    ensure!(
        violation.is_none_or(|first| all.contains(&first)),
        "{all:?}"
    );

    let world = World::new();
    let envelope = json!({
        "job": URN, "trace_id": "t", "data": case.value["data"],
        "meta": { "schema_version": 1 }, "attempts": 0,
    });
    world.put(RawMessage::new(envelope.to_string()));
    let consumer = world.consumer().validate_payloads(schemas);
    let consumer = consumer.build().map_err(|error| error.to_string())?;
    consumer.poll().await.map_err(|error| error.to_string())?;
    let expected: &[ReportKind] = if valid { &[] } else { &[ReportKind::Handler] };
    ensure!(
        world.reports() == expected,
        "reported {:?}",
        world.reports()
    );
    ensure!(
        (world.handled().len() == 1) == valid,
        "handled: {:?}",
        world.handled()
    );
    Ok(())
}
