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

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use aws_sdk_sqs::Client;
use aws_sdk_sqs::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_sqs::types::{QueueAttributeName as Name, SendMessageBatchRequestEntry};
use babelqueue::local::LocalSqs;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::{attribute, receive, text};

const ROOM: usize = 10;

/// One call. Receipts are named by their number, counted over the whole sequence.
#[derive(Clone, Debug)]
enum Op {
    Send {
        fifo: bool,
        body: Body,
        group: u8,
        dedup: u8,
        attributes: u8,
    },
    SendBatch {
        fifo: bool,
        count: u8,
        group: u8,
    },
    Receive {
        fifo: bool,
    },
    Delete {
        receipt: usize,
    },
    Release {
        receipt: usize,
    },
    Extend {
        receipt: usize,
    },
    Garbage {
        fifo: bool,
    },
    Counts {
        fifo: bool,
    },
    ReceiveDead {
        fifo: bool,
    },
}

#[derive(Clone, Debug)]
enum Body {
    Fresh,
    Odd(String),
    Empty,
    Forbidden,
}

fn op() -> impl Strategy<Value = Op> {
    let body = prop_oneof![
        8 => Just(Body::Fresh),
        2 => "[a-zé😀<>&\"\\\\\t\n ]{1,20}".prop_map(Body::Odd),
        1 => Just(Body::Empty),
        1 => Just(Body::Forbidden),
    ];
    let fifo = any::<bool>;
    prop_oneof![
        6 => (fifo(), body, 0..3_u8, 0..6_u8, 0..4_u8).prop_map(
            |(fifo, body, group, dedup, attributes)| Op::Send { fifo, body, group, dedup, attributes }
        ),
        2 => (fifo(), 1..4_u8, 0..3_u8)
            .prop_map(|(fifo, count, group)| Op::SendBatch { fifo, count, group }),
        6 => fifo().prop_map(|fifo| Op::Receive { fifo }),
        4 => (0..12_usize).prop_map(|receipt| Op::Delete { receipt }),
        3 => (0..12_usize).prop_map(|receipt| Op::Release { receipt }),
        1 => (0..12_usize).prop_map(|receipt| Op::Extend { receipt }),
        1 => fifo().prop_map(|fifo| Op::Garbage { fifo }),
        2 => fifo().prop_map(|fifo| Op::Counts { fifo }),
        2 => fifo().prop_map(|fifo| Op::ReceiveDead { fifo }),
    ]
}

/// One side of the comparison.
struct Side {
    client: Client,
    /// A queue and its dead-letter queue.
    standard: [String; 2],
    fifo: [String; 2],
    receipts: Vec<Receipt>,
}

struct Receipt {
    url: String,
    handle: String,
    body: String,
    /// Whether the message was deleted or released through it, or received again since.
    spent: bool,
}

impl Side {
    async fn new(client: Client, tag: &str) -> Self {
        let standard = Self::queue(&client, tag, "").await;
        let fifo = Self::queue(&client, tag, ".fifo").await;
        Self {
            client,
            standard,
            fifo,
            receipts: Vec::new(),
        }
    }

    /// A queue with a long visibility timeout and a dead-letter queue after two receives.
    async fn queue(client: &Client, tag: &str, suffix: &str) -> [String; 2] {
        let create = |name: &str| {
            let create = client
                .create_queue()
                .queue_name(format!("{name}-{tag}{suffix}"));
            let create = create.attributes(Name::VisibilityTimeout, "600");
            if suffix.is_empty() {
                create
            } else {
                create.attributes(Name::FifoQueue, "true")
            }
        };
        let dead = create("dead").send().await.unwrap().queue_url.unwrap();
        let arn = attribute(client, &dead, Name::QueueArn).await;
        let policy = format!(r#"{{"deadLetterTargetArn":"{arn}","maxReceiveCount":2}}"#);
        let alive = create("alive").attributes(Name::RedrivePolicy, policy);
        [alive.send().await.unwrap().queue_url.unwrap(), dead]
    }

    fn urls(&self, fifo: bool) -> &[String; 2] {
        if fifo { &self.fifo } else { &self.standard }
    }

    fn url(&self, fifo: bool) -> &str {
        &self.urls(fifo)[0]
    }

    /// Carries out a call and says what came of it, in words that both sides share.
    async fn call(&mut self, op: &Op, step: usize) -> String {
        match op {
            Op::Send {
                fifo,
                body,
                group,
                dedup,
                attributes,
            } => {
                let body = match body {
                    Body::Fresh => format!("body {step}"),
                    Body::Odd(text) => format!("{step} {text}"),
                    Body::Empty => String::new(),
                    Body::Forbidden => "a\0b".to_owned(),
                };
                let mut send = self
                    .client
                    .send_message()
                    .queue_url(self.url(*fifo))
                    .message_body(body);
                if *fifo {
                    // Few ids, so that there are duplicates.
                    send = send.message_group_id(format!("g{group}"));
                    send = send.message_deduplication_id(format!("d{dedup}"));
                }
                for n in 0..*attributes {
                    send = send.message_attributes(format!("k{n}"), text("v"));
                }
                said(send.send().await, |it| {
                    format!(
                        "{:?} {:?}",
                        it.md5_of_message_body, it.md5_of_message_attributes
                    )
                })
            }
            Op::SendBatch { fifo, count, group } => {
                let mut batch = self.client.send_message_batch().queue_url(self.url(*fifo));
                for n in 0..*count {
                    let id = format!("{step}-{n}");
                    let mut entry = SendMessageBatchRequestEntry::builder()
                        .id(&id)
                        .message_body(&id);
                    if *fifo {
                        entry = entry.message_group_id(format!("g{group}"));
                        entry = entry.message_deduplication_id(id);
                    }
                    batch = batch.entries(entry.build().unwrap());
                }
                said(batch.send().await, |it| {
                    let done: Vec<_> = it.successful.iter().map(|entry| entry.id.clone()).collect();
                    format!("{done:?} and {} failed", it.failed.len())
                })
            }
            Op::Receive { fifo } => self.receive(*fifo, false).await,
            Op::ReceiveDead { fifo } => self.receive(*fifo, true).await,
            Op::Delete { receipt } => match self.receipts.get_mut(*receipt) {
                None => "no such receipt".to_owned(),
                Some(it) => {
                    it.spent = true;
                    let delete = self.client.delete_message().queue_url(&it.url);
                    said(delete.receipt_handle(&it.handle).send().await, |_| {
                        "deleted".to_owned()
                    })
                }
            },
            Op::Release { receipt } => self.change(*receipt, 0).await,
            Op::Extend { receipt } => self.change(*receipt, 900).await,
            Op::Garbage { fifo } => {
                let delete = self.client.delete_message().queue_url(self.url(*fifo));
                said(delete.receipt_handle("garbage").send().await, |_| {
                    "deleted".to_owned()
                })
            }
            Op::Counts { fifo } => {
                let get = self
                    .client
                    .get_queue_attributes()
                    .queue_url(self.url(*fifo));
                let get = get
                    .attribute_names(Name::ApproximateNumberOfMessages)
                    .attribute_names(Name::ApproximateNumberOfMessagesNotVisible);
                said(get.send().await, |it| {
                    let sorted: BTreeMap<_, _> = it
                        .attributes
                        .unwrap_or_default()
                        .into_iter()
                        .map(|(name, value)| (name.to_string(), value))
                        .collect();
                    format!("{sorted:?}")
                })
            }
        }
    }

    async fn change(&mut self, receipt: usize, seconds: i32) -> String {
        let Some(it) = self.receipts.get_mut(receipt) else {
            return "no such receipt".to_owned();
        };
        it.spent |= seconds == 0;
        let change = self.client.change_message_visibility().queue_url(&it.url);
        let change = change
            .receipt_handle(&it.handle)
            .visibility_timeout(seconds);
        said(change.send().await, |_| "changed".to_owned())
    }

    /// Receives everything that can be, and numbers the receipts in an order both sides share.
    async fn receive(&mut self, fifo: bool, dead: bool) -> String {
        let url = self.urls(fifo)[usize::from(dead)].clone();
        let mut messages = receive(&self.client, &url, 10).await;
        let group = |it: &aws_sdk_sqs::types::Message| {
            let name = aws_sdk_sqs::types::MessageSystemAttributeName::MessageGroupId;
            it.attributes().and_then(|all| all.get(&name)).cloned()
        };
        if fifo {
            // Stable: inside a group the order is part of the answer.
            messages.sort_by_key(group);
        } else {
            messages.sort_by_key(|it| it.body.clone());
        }
        let mut lines = Vec::new();
        for message in messages {
            let body = message.body.clone().unwrap_or_default();
            let count = aws_sdk_sqs::types::MessageSystemAttributeName::ApproximateReceiveCount;
            let count = message
                .attributes()
                .and_then(|all| all.get(&count))
                .cloned();
            // The documentation does not say whether a dead letter keeps its count.
            let count = count.filter(|_| !dead);
            let md5 = &message.md5_of_message_attributes;
            lines.push(format!("{body} {:?} {count:?} {md5:?}", group(&message)));
            for receipt in &mut self.receipts {
                receipt.spent |= receipt.url == url && receipt.body == body;
            }
            let handle = message.receipt_handle.unwrap_or_default();
            self.receipts.push(Receipt {
                url: url.clone(),
                handle,
                body,
                spent: false,
            });
        }
        format!("{lines:?}")
    }
}

/// What came of a call: its answer or the code of its error.
fn said<T, E: ProvideErrorMetadata>(
    result: Result<T, SdkError<E>>,
    answer: impl FnOnce(T) -> String,
) -> String {
    match result {
        Ok(it) => answer(it),
        Err(error) => format!("error {}", error.code().unwrap_or("without a code")),
    }
}

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
        let local = LocalSqs::new();
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
