//! Section `sqs`: the attributes of a publish, the reconciliation of attempts, the version gate.

use std::collections::BTreeMap;

use babelqueue::envelope::{Patch, reconcile_attempts};
use babelqueue::local::RawMessage;
use babelqueue::{Envelope, ReportKind, SqsConsumer, SqsPublisher};
use serde_json::{Value, json};

use crate::case::Case;
use crate::compare::expect;
use crate::ensure;
use crate::run::Verdict;
use crate::world::{ReceiveCount, World};

pub async fn run(case: &Case) -> Verdict {
    match case.part() {
        "attribute_projection" => projection(case).await,
        "attempts_reconciliation" => attempts(case).await,
        "schema_version_gate" => gate(case).await,
        other => Err(format!("unknown part {other}")),
    }
}

/// A relay carries foreign bytes, and with them the attributes projected from them.
async fn projection(case: &Case) -> Verdict {
    let world = World::new();
    let publisher = SqsPublisher::new(world.sqs.client(), &world.queue);
    let body = case.body()?;
    publisher
        .relay(body.clone())
        .await
        .map_err(|error| error.to_string())?;
    let message = world.only(&world.queue)?;
    ensure!(message.body == body, "the body was changed");
    let found: BTreeMap<_, _> = message
        .attributes
        .iter()
        .map(|(name, attribute)| {
            let value = attribute.text();
            (
                name,
                json!({ "DataType": attribute.data_type, "StringValue": value }),
            )
        })
        .collect();
    expect(
        "the attributes",
        &json!(found),
        &case.value["message_attributes"],
    )
}

/// Through the consumer, whose client is told the count that the case wants.
async fn attempts(case: &Case) -> Verdict {
    let wire = case.value["body_attempts"]
        .as_i64()
        .ok_or("no body_attempts")?;
    let count = case.value["approximate_receive_count"].as_str();
    let expected = &case.value["expected_attempts"];
    expect(
        "attempts",
        &json!(reconcile_attempts(wire, count)),
        expected,
    )?;

    let body = case.suite.file("fixtures/order-created.json")?;
    let envelope = Envelope::decode_bytes(body).map_err(|error| error.to_string())?;
    let body = envelope
        .reemit(&Patch::new().attempts(wire))
        .map_err(|error| error.to_string())?;
    let world = World::new();
    world.put(RawMessage::new(body));
    let count = ReceiveCount(count.map(str::to_owned));
    let config = world.sqs.client_config().interceptor(count);
    let consumer = world.consumer_of(aws_sdk_sqs::Client::from_conf(config.build()));
    poll(consumer.build().map_err(|error| error.to_string())?).await?;
    let handled: Vec<_> = world
        .handled()
        .iter()
        .map(|handled| json!(handled.attempts))
        .collect();
    expect(
        "the handler's attempts",
        &Value::Array(handled),
        &json!([expected]),
    )
}

async fn gate(case: &Case) -> Verdict {
    let world = World::new();
    let mut message = RawMessage::new(case.body()?);
    if case.value["absent"] != true {
        message = message.attribute("bq-schema-version", "Number", case.text("value")?);
    }
    world.put(message);
    poll(
        world
            .consumer()
            .build()
            .map_err(|error| error.to_string())?,
    )
    .await?;
    let (handled, reports) = (world.handled(), world.reports());
    let found = match (handled.as_slice(), reports.as_slice()) {
        ([handled], []) if handled.data.contains("order_id") => "decode",
        ([], [ReportKind::VersionGate]) => "reject",
        other => return Err(format!("{other:?}")),
    };
    expect("the gate", &json!(found), &case.value["expect"])
}

async fn poll(consumer: SqsConsumer) -> Verdict {
    consumer
        .poll()
        .await
        .map(drop)
        .map_err(|error| error.to_string())
}
