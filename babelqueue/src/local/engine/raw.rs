//! Messages that a test puts on a queue past every check.

use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::Engine;
use super::attribute::{self, AttributeMap};
use super::dedup::DedupId;
use super::error::ApiResult;
use super::message::{Message, State, new_id, rare_of};
use super::packed::Packed;
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
    pub(crate) fn inject(&mut self, queue: &str, raw: Raw, now: At) -> ApiResult<Uuid> {
        let id = new_id(&mut self.random);
        let queue = self.queue(queue, now)?;
        let fifo = queue.attributes.fifo;
        let group = raw.group.or_else(|| fifo.then(String::new));
        let sent = now.minus(raw.age);
        let message = Message {
            id,
            md5: attribute::md5_of(&raw.body),
            body: Arc::from(raw.body),
            attributes: Packed::of(&raw.attributes),
            group: group.map(|group| queue.intern_group(&group)),
            dedup: match raw.dedup {
                None => DedupId::None,
                Some(id) => DedupId::Given(id.into()),
            },
            sent,
            first_received: sent,
            receives: raw.receives,
            receives_elsewhere: 0,
            state: match raw.delay {
                Duration::ZERO => State::Visible,
                delay => State::Delayed {
                    due: now.plus(delay),
                },
            },
            rare: rare_of(raw.trace_header.map(String::into_boxed_str)),
        };
        queue.put(message);
        Ok(id)
    }
}
