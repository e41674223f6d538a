//! What the documentation of the module tells users to set, held against what functions do.

use std::collections::BTreeSet;
use std::time::Duration;

use babelqueue::DeadLetterQueue;
use babelqueue::lambda::{RetryBackoff, retry_delay_seconds};
use serde_json::{Value, json};

use crate::support::{Bench, SECOND, failures};

const DOCS: &str = include_str!("../../babelqueue/src/lambda/mod.rs");

/// Every action that the documented policy allows.
fn allowed() -> BTreeSet<String> {
    let (_, policy) = DOCS.split_once("//! ```json\n").expect("a policy");
    let (policy, _) = policy.split_once("//! ```").expect("its end");
    let policy = policy.replace("//!", "");
    let policy: Value = serde_json::from_str(&policy).expect("JSON, as IAM takes it");
    let statements = policy["Statement"].as_array().unwrap();
    let actions = statements.iter().flat_map(|statement| {
        assert_eq!(statement["Effect"], "Allow");
        match &statement["Action"] {
            Value::Array(actions) => actions.clone(),
            action => vec![action.clone()],
        }
    });
    actions
        .map(|action| action.as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn b25_b35_the_documented_policy_allows_what_a_function_and_its_mapping_call() {
    let bench = Bench::new();
    let consumer = bench
        .consumer()
        .retry_backoff(true)
        .dead_letter_queue(DeadLetterQueue::default_name())
        .build()
        .unwrap();
    bench.put("a", "fail");
    bench.put("b", "permanent");
    let event = bench.receive().await;
    assert_eq!(failures(&consumer, event).await.len(), 1);
    let calls = bench.sqs.calls();
    let called = calls.iter().map(|call| {
        // A batch needs the permission of the single call.
        let operation = format!("{:?}", call.operation);
        format!("sqs:{}", operation.trim_end_matches("Batch"))
    });
    let called: BTreeSet<_> = called.collect();
    assert_eq!(called.len(), 2, "{called:?}");
    let allowed = allowed();
    assert!(allowed.is_superset(&called), "{called:?}");
    for needed in [
        "sqs:ReceiveMessage",
        "sqs:DeleteMessage",
        "sqs:GetQueueAttributes",
        "s3:GetObject",
    ] {
        assert!(allowed.contains(needed), "{needed}");
    }
    assert!(DOCS.contains("ReportBatchItemFailures"));
}

#[test]
fn b16_the_sum_of_the_delays_is_what_the_advice_on_retention_says() {
    // The longest that the defaults give: every delay lengthened by all of the jitter.
    let longest = RetryBackoff::new()
        .base_delay_seconds(72.0)
        .jitter_ratio(0.0);
    let delay = |attempt| retry_delay_seconds(attempt, Some(&longest), None).unwrap();
    let sum: f64 = (1..=5).map(delay).sum();
    assert_eq!(Duration::from_secs_f64(sum), 33 * 60 * SECOND);
    for advice in ["`MessageRetentionPeriod`", "`maxReceiveCount`", "33 min"] {
        assert!(DOCS.contains(advice), "{advice}");
    }
}

#[tokio::test(start_paused = true)]
async fn b16_the_queues_own_redrive_ends_a_message_that_never_succeeds() {
    let bench = Bench::new();
    let redrive = json!({
        "deadLetterTargetArn": bench.sqs.queue_arn("orders-dlq"),
        "maxReceiveCount": 3,
    });
    let client = bench.sqs.client();
    let set = client
        .set_queue_attributes()
        .queue_url(bench.sqs.queue_url("orders"));
    set.attributes("RedrivePolicy".into(), redrive.to_string())
        .send()
        .await
        .unwrap();
    let backoff = RetryBackoff::new().jitter_ratio(0.0);
    let consumer = bench.consumer().retry_backoff(backoff).build().unwrap();
    bench.put("a", "fail");
    for delay in [60, 120, 240] {
        let event = bench.receive().await;
        assert_eq!(failures(&consumer, event).await.len(), 1);
        assert_eq!(bench.changes(), [delay]);
        tokio::time::sleep(delay as u32 * SECOND).await;
    }
    assert!(bench.receive().await.is_empty());
    assert_eq!(bench.sqs.snapshot("orders-dlq").visible.len(), 1);
    assert_eq!(bench.lab.calls().len(), 3);
}
