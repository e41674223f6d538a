//! One file a section, or for sections of one kind: what SPEC §5.4 says of each.

mod attributes;
mod decode;
mod delay;
mod encode;
mod idempotency;
mod identity;
mod poison;
mod retry_backoff;
mod roundtrip;
mod schema;
mod traceparent;
mod trim;
mod version_gate;

use crate::case::Case;
use crate::run::Verdict;

pub async fn run(case: &Case) -> Verdict {
    match case.section.as_str() {
        "cases" => decode::case(case).await,
        "job_type" => decode::job_type(case).await,
        "idempotency" => idempotency::run(case).await,
        "sqs" => attributes::run(case).await,
        "payload_schema" | "payload_schema_unicode" => schema::run(case).await,
        "roundtrip" => roundtrip::run(case).await,
        "forbidden_keys" => roundtrip::forbidden_key(case),
        "data_shape" => encode::data_shape(case).await,
        "extension_write" => encode::extension(case).await,
        "encode_reject" => encode::reject(case).await,
        "trim" => trim::run(case).await,
        "traceparent" => traceparent::run(case).await,
        "delay" => delay::run(case).await,
        "retry_backoff" => retry_backoff::run(case),
        "poison_dlq" => poison::run(case).await,
        "identity_verdict" => identity::run(case).await,
        "version_gate_sqs" => version_gate::run(case).await,
        other => Err(format!("nobody runs the section {other}")),
    }
}
