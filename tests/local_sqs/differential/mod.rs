//! The embedded SQS against an independent one: random sequences of calls go to both, and
//! where the answers differ, a reason is known or the test fails and shrinks the sequence.
//!
//! It needs ministack 1.5.33 (PyPI) and is therefore ignored by default:
//!
//! ```text
//! BIND_HOST=127.0.0.1 GATEWAY_PORT=4566 ministack &
//! MINISTACK_ENDPOINT=http://127.0.0.1:4566 \
//!     cargo test --features differential --test local_sqs -- --ignored differential
//! ```
//!
//! Both queues hold at most ten messages and every receive takes ten, so that neither the order
//! of a standard queue nor the choice between groups, which SQS leaves open, makes a difference.

mod op;
mod queues;
mod side;

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_sdk_sqs::Client;
use aws_sdk_sqs::config::{BehaviorVersion, Credentials, Region};
use babelqueue::local::LocalSqs;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use self::op::{Op, op};
use self::side::Side;

const ROOM: usize = 10;

/// Calls that are not made on both sides, and why: what ministack does with them is not what the
/// documentation of SQS says, and the two queues would not hold the same afterwards.
fn reason_to_skip(op: &Op, spent: bool) -> Option<&'static str> {
    match op {
        Op::Delete { .. } if spent => Some(
            "ministack refuses the handle of a message that is gone or visible; SQS answers yes, \
             or on FIFO queues that it has expired",
        ),
        Op::Release { .. } | Op::Extend { .. } if spent => Some(
            "ministack hides a visible message when its old handle is given; SQS says that it is \
             not in flight",
        ),
        Op::Send {
            fifo: false,
            delay: Some(901..),
            ..
        }
        | Op::SendBatch {
            fifo: false,
            delay: Some(901..),
            ..
        } => Some("ministack takes a delay of any length; SQS takes 15 minutes"),
        Op::SetAttribute {
            fifo: false,
            attribute: ("ContentBasedDeduplication", _),
        }
        | Op::Create {
            attribute: ("ContentBasedDeduplication", _),
            ..
        } => Some(
            "ministack stores what only FIFO queues have on standard queues; SQS says that there \
             is no such attribute",
        ),
        Op::SetAttribute {
            attribute: ("Colour", _),
            ..
        }
        | Op::Create {
            attribute: ("Colour", _),
            ..
        } => Some("ministack stores unknown attributes; SQS refuses them"),
        Op::SetAttribute {
            fifo: true,
            attribute: ("DelaySeconds", _),
        } => Some(
            "ministack leaves the messages on a FIFO queue as they are; SQS applies its new delay \
             to them",
        ),
        _ => None,
    }
}

async fn compare(ours: &mut Side, theirs: &mut Side, ops: &[Op]) -> Result<(), String> {
    let mut sent = BTreeMap::new();
    for (step, op) in ops.iter().enumerate() {
        let room = match op {
            Op::Send { fifo, .. } => Some((*fifo, 1)),
            Op::SendBatch { fifo, count, .. } => Some((*fifo, usize::from(*count))),
            _ => None,
        };
        if let Some((fifo, count)) = room {
            let total: &mut usize = sent.entry(fifo).or_default();
            if *total + count > ROOM {
                continue;
            }
            *total += count;
        }
        let spent = match op {
            Op::Delete { receipt } | Op::Release { receipt } | Op::Extend { receipt } => {
                ours.receipts.get(*receipt).is_some_and(|it| it.spent)
            }
            _ => false,
        };
        if reason_to_skip(op, spent).is_some() {
            continue;
        }
        let (one, other) = (ours.call(op, step).await, theirs.call(op, step).await);
        if one != other {
            return Err(format!(
                "step {step}, {op:?}:\n  ours:   {one}\n  theirs: {other}"
            ));
        }
    }
    Ok(())
}

#[test]
#[ignore = "needs ministack, see the top of this file"]
fn differential_against_an_independent_server() {
    let endpoint = std::env::var("MINISTACK_ENDPOINT")
        .expect("MINISTACK_ENDPOINT names a running ministack, such as http://127.0.0.1:4566");
    let config = aws_sdk_sqs::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .endpoint_url(endpoint)
        .credentials_provider(Credentials::new("test", "test", None, None, "test"));
    let theirs = Client::from_conf(config.build());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let run = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_millis();
    let case = std::cell::Cell::new(0);
    let config = Config {
        cases: 100,
        max_shrink_iters: 300,
        failure_persistence: None,
        ..Config::default()
    };
    let result = TestRunner::new(config).run(&proptest::collection::vec(op(), 1..40), |ops| {
        case.set(case.get() + 1);
        let tag = format!("{run}-{}", case.get());
        // Queues are purged and made anew at once, so that the sequence goes on.
        let local = LocalSqs::builder()
            .purge_rest(Duration::ZERO)
            .name_rest(Duration::ZERO)
            // Both are seen of SQS; ministack does it so.
            .fifo_takes_zero_delay(true)
            .build();
        runtime.block_on(async {
            let mut ours = Side::new(local.client(), &tag).await;
            let mut theirs = Side::new(theirs.clone(), &tag).await;
            compare(&mut ours, &mut theirs, &ops)
                .await
                .map_err(TestCaseError::fail)
        })
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
