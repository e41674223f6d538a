//! Tests of the wire contract as a whole, a file for each part of it. Tests of one function live
//! beside that function.

mod accept;
mod cases;
mod fold;
mod gate;
mod make;
mod model;
mod nesting;
mod poison_record;
mod projection;
mod properties;
mod reading;
mod reemit;
mod trace_context;
mod verdict;

use serde_json::Value;

use super::{DeadLetter, Envelope, Reason};

/// An envelope with everything in place.
const WHOLE: &str = r#"{"job":"urn:x","trace_id":"t","data":{"a":1},"meta":{"id":"i","queue":"q","lang":"php","schema_version":1,"created_at":5},"attempts":0}"#;

fn decode(body: &str) -> Envelope {
    Envelope::decode(body).unwrap_or_else(|error| panic!("{error}: {body}"))
}

fn parse(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

fn block() -> DeadLetter {
    DeadLetter {
        attempts: 3,
        ..DeadLetter::new(Reason::Poison, "orders", 1_749_132_727_000)
    }
}

/// The block as it is written.
const BLOCK: &str = r#"{"reason":"poison","error":null,"exception":null,"failed_at":1749132727000,"original_queue":"orders","attempts":3,"lang":"rust"}"#;
