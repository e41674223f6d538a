//! How fast the codec is, as ratios that are taken in one run: against `serde_json` on one typed
//! struct, and against the family's Python SDK.
//!
//! ```text
//! cargo run --release --features bench --example codec_bench
//! ```
#![allow(clippy::print_stdout)]

#[path = "codec_bench/measure.rs"]
mod measure;
#[path = "codec_bench/payload.rs"]
mod payload;
#[path = "codec_bench/python.rs"]
mod python;

use std::hint::black_box;

use babelqueue::Envelope;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::measure::{compare, nanos, verdict};
use crate::payload::{Borrowed, Order, Owned, Small, Whole};

const URN: &str = "urn:babel:orders:created";

fn main() {
    println!(
        "{:<34} {:>11} {:>11} {:>6}  bound",
        "", "this", "reference", "ratio"
    );
    for (name, lines) in [("350 B", None), ("10 KB", Some(70)), ("200 KB", Some(1450))] {
        match lines {
            None => {
                codec::<Small<String>, Small<std::borrow::Cow<'_, str>>>(name, &Small::sample())
            }
            Some(lines) => codec::<Owned, Borrowed<'_>>(name, &Order::sample(lines)),
        }
    }
    make();
    overhead();
}

/// Decoding and encoding one body.
fn codec<'b, O, B>(name: &str, payload: &O)
where
    O: Serialize + DeserializeOwned + Clone,
    B: Deserialize<'b> + 'b,
{
    let body = envelope(payload).into_body();
    // Borrowed payloads borrow from an envelope that outlives the measurement.
    let kept: &'static Envelope = Box::leak(Box::new(
        Envelope::decode(body.clone()).expect("an envelope"),
    ));
    println!("\n{name} ({} bytes)", body.len());

    let whole =
        |body: &str| -> Whole<O> { serde_json::from_slice(body.as_bytes()).expect("the whole") };
    // Both sides are given a body of their own, as the SDK gives one.
    let [decode, reference] = compare([
        &mut || {
            let envelope = Envelope::decode(black_box(body.clone())).expect("an envelope");
            black_box(envelope.data::<O>().expect("the payload"));
        },
        &mut || {
            let body = black_box(body.clone());
            black_box(whole(&body));
        },
    ]);
    verdict("decode, owned payload", decode, reference, 1.0);

    let [decode, reference, scan] = compare([
        &mut || {
            let envelope = Envelope::decode(black_box(body.clone())).expect("an envelope");
            black_box(&envelope);
            black_box(kept.data::<B>().expect("the payload"));
        },
        &mut || {
            let body = black_box(body.clone());
            black_box(whole(&body));
        },
        &mut || {
            black_box(Envelope::decode(black_box(body.clone())).expect("an envelope"));
        },
    ]);
    verdict("decode, borrowed payload", decode, reference, 0.9);
    verdict("decode, envelope alone", scan, reference, f64::NAN);

    let parts: Whole<O> = whole(&body);
    let [encode, reference] = compare([
        &mut || {
            black_box(envelope(black_box(payload)));
        },
        &mut || {
            black_box(serde_json::to_vec(black_box(&parts)).expect("the whole"));
        },
    ]);
    verdict("encode", encode, reference, 1.1);
}

/// An envelope whose ids are given, so that only the writing is measured.
fn envelope<T: Serialize>(payload: &T) -> Envelope {
    Envelope::builder(URN)
        .queue("orders")
        .trace_id("7b3f9c2a-e41d-4f88-9b2a-1c0d5e6f7a8b")
        .id("f1e2d3c4-b5a6-4789-90ab-cdef01234567")
        .created_at(1_749_132_727_000)
        .data(payload)
        .build()
        .expect("an envelope")
}

/// A new message: two ids, a time, and the writing.
fn make() {
    let payload = Small::sample();
    println!("\nnew message");
    let [make, reference] = compare([
        &mut || {
            let envelope = Envelope::builder(URN)
                .queue("orders")
                .data(black_box(&payload));
            black_box(envelope.build().expect("an envelope"));
        },
        &mut || {
            let envelope = Envelope::builder(URN)
                .queue("orders")
                .id(Uuid::new_v4().to_string())
                .trace_id(Uuid::new_v4().to_string())
                .data(black_box(&payload));
            black_box(envelope.build().expect("an envelope"));
        },
    ]);
    verdict("make + encode, against OS ids", make, reference, 0.6);
}

/// The family's gate: what the codec adds to a bare JSON round trip of the payload.
fn overhead() {
    let payload = Small::sample();
    println!("\nmake + encode + decode, less a bare JSON round trip of the payload");
    let [all, bare] = compare([
        &mut || {
            let made = Envelope::builder(URN)
                .queue("orders")
                .data(black_box(&payload));
            let body = made.build().expect("an envelope").into_body();
            let envelope = Envelope::decode(black_box(body)).expect("an envelope");
            black_box(envelope.data::<Small<String>>().expect("the payload"));
        },
        &mut || {
            let text = serde_json::to_string(black_box(&payload)).expect("the payload");
            let payload: Small<String> = serde_json::from_str(black_box(&text)).expect("it");
            black_box(payload);
        },
    ]);
    let overhead = (all - bare).max(0.0);
    verdict("against the budget of 15 µs", overhead, 15_000.0, 1.0);
    match python::overhead(&serde_json::to_string(&payload).expect("the payload")) {
        Ok(python) => verdict("against the Python SDK", overhead, python, 0.1),
        Err(error) => println!("  the Python SDK was not measured: {error}"),
    }
    println!(
        "  ({} with the round trip, {} without)",
        nanos(all),
        nanos(overhead)
    );
}
