//! The calls that a random sequence is made of.

use proptest::prelude::*;

/// One call. Receipts are named by their number, counted over the whole sequence; queues by
/// whether they are FIFO, or by their number among those that come and go.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Send {
        fifo: bool,
        body: Body,
        group: u8,
        dedup: u8,
        attributes: u8,
        delay: Option<i32>,
    },
    SendBatch {
        fifo: bool,
        count: u8,
        group: u8,
        delay: Option<i32>,
    },
    Receive {
        fifo: bool,
    },
    ReceiveDead {
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
    Purge {
        fifo: bool,
    },
    SetAttribute {
        fifo: bool,
        attribute: (&'static str, &'static str),
    },
    Attributes {
        fifo: bool,
    },
    Tag {
        fifo: bool,
        key: u8,
        value: u8,
    },
    Untag {
        fifo: bool,
        key: u8,
    },
    Tags {
        fifo: bool,
    },
    Create {
        queue: u8,
        attribute: (&'static str, &'static str),
    },
    DeleteQueue {
        queue: u8,
    },
    FindQueue {
        queue: u8,
    },
    ListQueues,
}

#[derive(Clone, Debug)]
pub(super) enum Body {
    Fresh,
    Odd(String),
    Empty,
    Forbidden,
}

/// Attributes as they are set, good ones and bad ones. No wait and no timeout of them is so short
/// that it would end before the sequence does.
const ATTRIBUTES: &[(&str, &str)] = &[
    ("VisibilityTimeout", "600"),
    ("VisibilityTimeout", "900"),
    ("VisibilityTimeout", "43201"),
    ("VisibilityTimeout", "soon"),
    ("DelaySeconds", "0"),
    ("DelaySeconds", "900"),
    ("DelaySeconds", "901"),
    ("MaximumMessageSize", "1024"),
    ("MaximumMessageSize", "1048576"),
    ("MaximumMessageSize", "1023"),
    ("MessageRetentionPeriod", "3600"),
    ("MessageRetentionPeriod", "59"),
    ("ReceiveMessageWaitTimeSeconds", "20"),
    ("ReceiveMessageWaitTimeSeconds", "21"),
    ("ContentBasedDeduplication", "true"),
    ("ContentBasedDeduplication", "false"),
    ("Colour", "red"),
];

pub(super) fn op() -> impl Strategy<Value = Op> {
    let body = prop_oneof![
        8 => Just(Body::Fresh),
        2 => "[a-zé😀<>&\"\\\\\t\n ]{1,20}".prop_map(Body::Odd),
        1 => Just(Body::Empty),
        1 => Just(Body::Forbidden),
    ];
    let delay = || {
        prop_oneof![
            6 => Just(None),
            2 => Just(Some(900)),
            1 => Just(Some(0)),
            1 => Just(Some(901)),
        ]
    };
    let attribute = || proptest::sample::select(ATTRIBUTES);
    let fifo = any::<bool>;
    let messages = prop_oneof![
        8 => (fifo(), body, 0..3_u8, 0..6_u8, 0..4_u8, delay()).prop_map(
            |(fifo, body, group, dedup, attributes, delay)| {
                Op::Send { fifo, body, group, dedup, attributes, delay }
            }
        ),
        3 => (fifo(), 1..4_u8, 0..3_u8, delay())
            .prop_map(|(fifo, count, group, delay)| Op::SendBatch { fifo, count, group, delay }),
        6 => fifo().prop_map(|fifo| Op::Receive { fifo }),
        4 => (0..12_usize).prop_map(|receipt| Op::Delete { receipt }),
        3 => (0..12_usize).prop_map(|receipt| Op::Release { receipt }),
        1 => (0..12_usize).prop_map(|receipt| Op::Extend { receipt }),
        1 => fifo().prop_map(|fifo| Op::Garbage { fifo }),
        2 => fifo().prop_map(|fifo| Op::Counts { fifo }),
        2 => fifo().prop_map(|fifo| Op::ReceiveDead { fifo }),
        1 => fifo().prop_map(|fifo| Op::Purge { fifo }),
    ];
    let queues = prop_oneof![
        4 => (fifo(), attribute())
            .prop_map(|(fifo, attribute)| Op::SetAttribute { fifo, attribute }),
        2 => fifo().prop_map(|fifo| Op::Attributes { fifo }),
        2 => (fifo(), 0..3_u8, 0..3_u8).prop_map(|(fifo, key, value)| Op::Tag { fifo, key, value }),
        1 => (fifo(), 0..3_u8).prop_map(|(fifo, key)| Op::Untag { fifo, key }),
        1 => fifo().prop_map(|fifo| Op::Tags { fifo }),
        3 => (0..3_u8, attribute()).prop_map(|(queue, attribute)| Op::Create { queue, attribute }),
        2 => (0..3_u8).prop_map(|queue| Op::DeleteQueue { queue }),
        1 => (0..3_u8).prop_map(|queue| Op::FindQueue { queue }),
        1 => Just(Op::ListQueues),
    ];
    prop_oneof![3 => messages, 1 => queues]
}
