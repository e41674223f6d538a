//! Sending: what SQS checks, in the order in which a careless client meets it,
//! and how a message comes onto its queue.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use uuid::Uuid;

use super::Engine;
use super::attribute::{self, RawAttribute, views};
use super::attributes::QueueAttributes;
use super::batch::{self, BatchResult};
use super::dedup::{DedupId, First, Key};
use super::error::{ApiResult, Kind, invalid_value, missing};
use super::limits;
use super::message::{Message, State, new_id, rare_of};
use super::packed::Packed;
use super::trace;
use crate::local::clock::At;

/// A message as a client sends it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Send {
    pub(crate) body: String,
    pub(crate) delay: Option<i64>,
    pub(crate) attributes: BTreeMap<String, RawAttribute>,
    pub(crate) system: BTreeMap<String, RawAttribute>,
    pub(crate) group: Option<String>,
    pub(crate) dedup: Option<String>,
    /// The trace header of the request; one among the system attributes goes before it.
    pub(crate) trace_header: Option<String>,
}

/// The answer to one message.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) id: Uuid,
    pub(crate) md5: [u8; 16],
    pub(crate) attributes_md5: Option<[u8; 16]>,
    pub(crate) system_md5: Option<[u8; 16]>,
    pub(crate) sequence: Option<u64>,
}

impl Send {
    /// The size that counts: body, and names, types and values of the attributes.
    fn bytes(&self) -> usize {
        let attributes: usize = self
            .attributes
            .iter()
            .map(|(name, it)| {
                name.len()
                    + it.data_type.as_ref().map_or(0, String::len)
                    + it.text.as_ref().map_or(0, String::len)
                    + it.binary.as_ref().map_or(0, Vec::len)
            })
            .sum();
        self.body.len() + attributes
    }
}

impl Engine {
    pub(crate) fn send(&mut self, queue: &str, send: Send, now: At) -> ApiResult<Sent> {
        let zero_delay = self.settings.fifo_takes_zero_delay;
        let id = new_id(&mut self.random);
        let queue = self.queue(queue, now)?;
        let fifo = queue.attributes.fifo;

        limits::check_body(&send.body)?;
        let limit = queue.attributes.max_bytes as usize;
        if send.bytes() > limit {
            return Err(limits::too_large(limit));
        }
        let delay = match send.delay {
            Some(delay) if fifo && !(delay == 0 && zero_delay) => {
                return Err(invalid_value("DelaySeconds", delay, WRONG_KIND));
            }
            Some(delay) => limits::in_range("DelaySeconds", delay, 0, limits::MAX_DELAY)?,
            None => queue.attributes.delay,
        };
        let delay = if fifo { queue.attributes.delay } else { delay };
        let attributes = attribute::check(send.attributes)?;
        let system = attribute::check_system(send.system)?;
        let trace_header = trace::header_of(&system, send.trace_header);
        if let Some(group) = &send.group {
            limits::check_token("MessageGroupId", group)?;
        }
        if let Some(dedup) = &send.dedup {
            if !fifo {
                return Err(invalid_value("MessageDeduplicationId", dedup, WRONG_KIND));
            }
            limits::check_token("MessageDeduplicationId", dedup)?;
        }
        if fifo && send.group.is_none() {
            return Err(missing("MessageGroupId"));
        }

        let md5 = attribute::md5_of(&send.body);
        let mut sent = Sent {
            id,
            md5,
            attributes_md5: (!attributes.is_empty()).then(|| attribute::md5(views(&attributes))),
            system_md5: (!system.is_empty()).then(|| attribute::md5(views(&system))),
            sequence: None,
        };
        let mut dedup = DedupId::None;
        let mut key = None;
        if fifo {
            dedup = dedup_id(send.dedup.as_deref(), &queue.attributes)?;
            let group = send.group.as_deref();
            let group = group.filter(|_| queue.attributes.dedup_per_group);
            let id = dedup.text(&send.body).unwrap_or_default();
            let its_key = Key::new(group, &id);
            if let Some(first) = queue.dedup.find(its_key, now) {
                sent.id = first.id;
                sent.sequence = Some(first.sequence);
                return Ok(sent);
            }
            key = Some(its_key);
        }
        let group: Option<Arc<str>> = send.group.map(|group| queue.intern_group(&group));
        let ticket = queue.put(Message {
            id,
            body: Arc::from(send.body),
            md5,
            attributes: Packed::of(&attributes),
            group,
            dedup,
            sent: now,
            first_received: now,
            receives: 0,
            receives_elsewhere: 0,
            state: match delay {
                0 => State::Visible,
                delay => State::Delayed {
                    due: now.plus_secs(delay),
                },
            },
            rare: rare_of(trace_header),
        });
        sent.sequence = queue.sequence(ticket);
        if let (Some(key), Some(sequence)) = (key, sent.sequence) {
            queue.dedup.remember(key, First { id, sequence }, now);
        }
        Ok(sent)
    }

    pub(crate) fn send_batch(
        &mut self,
        queue: &str,
        entries: Vec<(String, Send)>,
        skip: &BTreeSet<usize>,
        now: At,
    ) -> ApiResult<BatchResult<Sent>> {
        let attributes = &self.queue(queue, now)?.attributes;
        batch::check_ids(&entries)?;
        if attributes.fifo {
            // What every entry needs is asked of the batch, and with another code than alone.
            for (_, send) in &entries {
                if send.group.is_none() {
                    return Err(Kind::InvalidParameterValue.error(NO_GROUP));
                }
                dedup_id(send.dedup.as_deref(), attributes)?;
            }
        }
        let total: usize = entries.iter().map(|(_, send)| send.bytes()).sum();
        if total > limits::MAX_BYTES {
            return Err(Kind::BatchRequestTooLong.error(format!(
                "Batch requests cannot be longer than {} bytes. You have sent {total} bytes.",
                limits::MAX_BYTES
            )));
        }
        Ok(batch::each(entries, skip, |send| {
            self.send(queue, send, now)
        }))
    }
}

/// The deduplication id of a message on a FIFO queue.
fn dedup_id(given: Option<&str>, queue: &QueueAttributes) -> ApiResult<DedupId> {
    match given {
        Some(id) => Ok(DedupId::Given(id.into())),
        None if queue.content_dedup => Ok(DedupId::OfBody),
        None => Err(Kind::InvalidParameterValue.error(NO_DEDUP)),
    }
}

const WRONG_KIND: &str = "The request include parameter that is not valid for this queue type.";
const NO_GROUP: &str = "The request must contain the parameter MessageGroupId.";
const NO_DEDUP: &str = "The queue should either have ContentBasedDeduplication enabled or \
                        MessageDeduplicationId provided explicitly";
