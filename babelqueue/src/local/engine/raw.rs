//! Messages that a test puts on a queue past every check.

use std::sync::Arc;
use std::time::Duration;

use super::Engine;
use super::attribute::{self, AttributeMap};
use super::error::ApiResult;
use super::message::{Attributes, Message, State};
use crate::local::clock::At;

#[derive(Clone, Debug, Default)]
pub(crate) struct Raw {
    pub(crate) body: String,
    pub(crate) attributes: AttributeMap,
    pub(crate) trace_header: Option<String>,
    pub(crate) group: Option<String>,
    pub(crate) dedup: Option<String>,
    pub(crate) receives: u32,
    pub(crate) age: Duration,
    pub(crate) delay: Duration,
}

impl Engine {
    pub(crate) fn inject(&mut self, queue: &str, raw: Raw, now: At) -> ApiResult<u128> {
        let id = self.random.u128(..);
        let queue = self.queue(queue, now)?;
        let fifo = queue.attributes.fifo;
        let group = raw.group.or_else(|| fifo.then(String::new));
        let sent = now.minus(raw.age);
        let message = Message {
            id,
            md5: attribute::md5_of(&raw.body),
            body: Arc::from(raw.body),
            attributes: Attributes::of(raw.attributes),
            trace_header: raw.trace_header.map(String::into_boxed_str),
            group: group.map(|group| queue.intern_group(&group)),
            dedup: raw.dedup.map(String::into_boxed_str),
            sequence: if fifo { queue.next_sequence() } else { 0 },
            sent,
            enqueued: sent,
            first_received: (raw.receives > 0).then_some(sent),
            receives: raw.receives,
            dead_letter_source: None,
            state: match raw.delay {
                Duration::ZERO => State::Visible,
                delay => State::Delayed {
                    due: now.plus(delay),
                },
            },
        };
        queue.put(message);
        Ok(id)
    }
}
