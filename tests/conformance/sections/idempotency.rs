//! Section `idempotency`: one store, one consumer, messages delivered by the embedded SQS.

use babelqueue::SqsConsumer;
use babelqueue::idempotency::{Idempotency, IdempotencyStore as _, MemoryStore};
use babelqueue::local::RawMessage;
use serde_json::json;

use crate::case::Case;
use crate::compare::{expect, parse};
use crate::ensure;
use crate::run::Verdict;
use crate::world::{Answer, World};

pub async fn run(case: &Case) -> Verdict {
    // The same must hold for a seen-set and for claims.
    for claims in [false, true] {
        let store = MemoryStore::new();
        let guard = if claims {
            Idempotency::claims(store.clone())
        } else {
            Idempotency::new(store.clone())
        };
        let world = World::new();
        let consumer = world.consumer().idempotency(guard);
        let consumer = consumer.build().map_err(|error| error.to_string())?;
        match case.part() {
            "dedup_key" => key(case, &world, &consumer, &store).await?,
            "sequences" => sequence(case, &world, &consumer, &store).await?,
            other => return Err(format!("unknown part {other}")),
        }
    }
    Ok(())
}

async fn key(case: &Case, world: &World, consumer: &SqsConsumer, store: &MemoryStore) -> Verdict {
    let body = case.body()?;
    for _ in 0..2 {
        world.put(RawMessage::new(body.clone()));
        consumer.poll().await.map_err(|error| error.to_string())?;
    }
    ensure!(world.handled().len() == 1, "{} runs", world.handled().len());
    ensure!(
        world.on(&world.queue).is_empty(),
        "the second one was not acknowledged"
    );
    let seen = async |id: &str| store.seen(id).await.map_err(|error| error.to_string());
    let key = case.text("expected_key")?;
    ensure!(seen(key).await?, "{key} was not remembered");
    let trace_id = parse(&body)?["trace_id"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    ensure!(!seen(&trace_id).await?, "the trace_id was remembered");
    Ok(())
}

async fn sequence(
    case: &Case,
    world: &World,
    consumer: &SqsConsumer,
    store: &MemoryStore,
) -> Verdict {
    for (index, delivery) in case.value["deliveries"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let id = delivery["meta_id"].as_str().ok_or("no meta_id")?;
        if delivery["forget_before"] == true {
            store.forget(id).await.map_err(|error| error.to_string())?;
        }
        let throws = delivery["outcome"] == "throw";
        world.log.seen().answer = if throws { Answer::Fail } else { Answer::Done };
        let before = world.handled().len();
        world.put(RawMessage::new(body(id)));
        consumer.poll().await.map_err(|error| error.to_string())?;
        let effect = match world.handled().len() - before {
            0 => "skip",
            1 => "run",
            more => return Err(format!("delivery {index}: {more} runs")),
        };
        expect(
            &format!("delivery {index}"),
            &json!(effect),
            &delivery["expect_effect"],
        )?;
        // A failure leaves the message for another delivery, anything else acknowledges it.
        let left = world.on(&world.queue).len();
        ensure!(
            left == usize::from(throws),
            "delivery {index}: {left} messages left"
        );
        let purge = world
            .sqs
            .client()
            .purge_queue()
            .queue_url(&world.queue)
            .send()
            .await;
        purge.map_err(|error| error.to_string())?;
    }
    let effects = json!(world.handled().len());
    expect("runs in all", &effects, &case.value["expected_effects"])
}

fn body(id: &str) -> String {
    let envelope = json!({
        "job": "urn:babel:orders:created",
        // One trace for all: it is not the key.
        "trace_id": "7b3f9c2a-e41d-4f88-9b2a-1c0d5e6f7a8b",
        "data": {},
        "meta": {
            "id": id, "queue": "orders", "lang": "php", "schema_version": 1,
            "created_at": 1_749_132_727_000_i64,
        },
        "attempts": 0,
    });
    envelope.to_string()
}
