//! Section `version_gate_sqs`: how a delivery of another version is settled (SPEC §5.6).

use babelqueue::ReportKind;
use babelqueue::local::{Operation, RawMessage, Refusal};
use babelqueue::policy::{Action, Event, Rules, settle};
use babelqueue::prelude::*;
use babelqueue::sqs::SqsConsumerBuilder;
use serde_json::json;

use crate::case::Case;
use crate::compare::expect;
use crate::ensure;
use crate::run::Verdict;
use crate::world::{Log, World};

pub async fn run(case: &Case) -> Verdict {
    let strategy = match case.value["on_unknown_urn"].as_str() {
        None => None,
        Some(text) => Some(
            text.parse::<UnknownUrn>()
                .map_err(|error| error.to_string())?,
        ),
    };
    let dead_letters = match case.text("dead_letter")? {
        "on" => true,
        "off" => false,
        other => return Err(format!("unknown dead_letter {other}")),
    };
    let expected = &case.value["expect"];
    if strategy == Some(UnknownUrn::DeadLetter) && !dead_letters {
        // Nobody writes without a dead-letter queue, and the builder says so.
        let refused = with(World::new().consumer(), strategy, false)
            .build()
            .is_err();
        ensure!(refused, "such a consumer was built");
        let rules = Rules {
            unknown_urn: strategy,
            ..Rules::default()
        };
        let decision = settle(&rules, Event::Gated);
        ensure!(
            decision.reports == [ReportKind::VersionGate],
            "{decision:?}"
        );
        let found = if decision.action == Action::Leave {
            "native"
        } else {
            "settled"
        };
        return expect("the outcome", &json!(found), &expected["outcome_no_writer"]);
    }
    let bodies = case
        .of_section("incoming_bodies")
        .as_array()
        .ok_or("no incoming_bodies")?;
    ensure!(bodies.len() == 3, "{} bodies", bodies.len());
    for body in bodies {
        let body = body["body"].as_str().ok_or("no body")?;
        for hook in [false, true] {
            let found = settled(case, strategy, dead_letters, body, hook).await?;
            expect("the outcome", &json!(found), &expected["outcome"])?;
            if let Some(record) = expected.get("record") {
                // Compared when the outcome was found.
                expect("the record", &json!("incoming_body"), record)?;
            }
        }
    }
    Ok(())
}

/// Delivers the body with another version; the name of what was done.
async fn settled(
    case: &Case,
    strategy: Option<UnknownUrn>,
    dead_letters: bool,
    body: &str,
    hook: bool,
) -> Result<&'static str, String> {
    let world = World::new();
    let mut message = RawMessage::new(body).attribute("bq-schema-version", "Number", "2");
    if let Some(attempts) = case.value["bq_attempts"].as_str() {
        // Received seven times before.
        message = message
            .attribute("bq-attempts", "Number", attempts)
            .receive_count(7);
    }
    world.put(message);
    if case.value["dlq_write"] == "fails" {
        let faults = world.sqs.faults();
        faults
            .on(Operation::SendMessage)
            .queue(&world.dead)
            .refuse(Refusal::InternalError);
    }
    let consumer = if hook {
        with(world.hook_only(), strategy, dead_letters).build()
    } else {
        with(world.consumer(), strategy, dead_letters).build()
    };
    let consumer = consumer.map_err(|error| error.to_string())?;
    consumer.poll().await.map_err(|error| error.to_string())?;

    ensure!(world.handled().is_empty(), "a handler had it");
    ensure!(world.log.seen().hooked == 0, "the hook was called");
    for operation in [
        Operation::ChangeMessageVisibility,
        Operation::ChangeMessageVisibilityBatch,
    ] {
        ensure!(world.count(operation) == 0, "its visibility was changed");
    }
    let sends = world.count(Operation::SendMessage);
    let deleted = world.on(&world.queue).is_empty();
    let copies = world.on(&world.dead);
    let reports = world.reports();
    ensure!(
        reports.first() == Some(&ReportKind::VersionGate),
        "reported {reports:?}"
    );
    Ok(match (copies.as_slice(), sends, deleted, &reports[1..]) {
        ([copy], 1, true, []) => {
            ensure!(copy.body == body, "another body: {}", copy.body);
            "dlq_raw"
        }
        ([], 0, true, []) => "ack",
        ([], 0, false, []) => "native",
        ([], 1.., false, [ReportKind::DeadLetter]) => "unsettled",
        other => return Err(format!("{other:?}")),
    })
}

fn with<R>(
    builder: SqsConsumerBuilder<R, Log>,
    strategy: Option<UnknownUrn>,
    dead_letters: bool,
) -> SqsConsumerBuilder<R, Log> {
    let builder = match strategy {
        Some(strategy) => builder.unknown_urn(strategy),
        None => builder,
    };
    if dead_letters {
        builder.dead_letter_queue(DeadLetterQueue::default_name())
    } else {
        builder
    }
}
