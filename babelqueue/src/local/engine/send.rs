//! Sending: what SQS checks, in the order in which a careless client meets it,
//! and how a message comes onto its queue.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Engine;
use super::attribute::{self, RawAttribute};
use super::batch::{self, BatchResult};
use super::dedup::{First, Key};
use super::error::{ApiResult, Kind, invalid_value, missing};
use super::limits;
use super::message::{Attributes, Message, State};
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
    pub(crate) id: u128,
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
        let id = self.random.u128(..);
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
        let attributes = Attributes::of(attributes);
        let mut sent = Sent {
            id,
            md5,
            attributes_md5: attributes.as_ref().map(|it| it.md5),
            system_md5: (!system.is_empty()).then(|| attribute::md5(system.iter())),
            sequence: None,
        };
        let group: Option<Arc<str>> = send.group.map(|group| queue.intern_group(&group));
        let mut dedup = None;
        if fifo {
            let id = match send.dedup {
                Some(id) => id,
                None if queue.attributes.content_dedup => content_id(&send.body),
                None => return Err(Kind::InvalidParameterValue.error(NO_DEDUP)),
            };
            let key = Key {
                group: group.clone().filter(|_| queue.attributes.dedup_per_group),
                id: id.clone().into_boxed_str(),
            };
            if let Some(first) = queue.dedup.find(&key, now) {
                sent.id = first.id;
                sent.sequence = Some(first.sequence);
                return Ok(sent);
            }
            let sequence = queue.next_sequence();
            queue.dedup.remember(
                key,
                First {
                    id: sent.id,
                    sequence,
                },
                now,
            );
            sent.sequence = Some(sequence);
            dedup = Some(id.into_boxed_str());
        }
        queue.put(Message {
            id: sent.id,
            body: Arc::from(send.body),
            md5,
            attributes,
            trace_header,
            group,
            dedup,
            sequence: sent.sequence.unwrap_or(0),
            sent: now,
            enqueued: now,
            first_received: None,
            receives: 0,
            dead_letter_source: None,
            state: match delay {
                0 => State::Visible,
                delay => State::Delayed {
                    due: now.plus_secs(delay),
                },
            },
        });
        Ok(sent)
    }

    pub(crate) fn send_batch(
        &mut self,
        queue: &str,
        entries: Vec<(String, ApiResult<Send>)>,
        now: At,
    ) -> ApiResult<BatchResult<Sent>> {
        self.queue(queue, now)?;
        batch::check_ids(entries.iter().map(|(id, _)| id.as_str()))?;
        let total: usize = entries
            .iter()
            .filter_map(|(_, send)| send.as_ref().ok().map(Send::bytes))
            .sum();
        if total > limits::MAX_BYTES {
            return Err(Kind::BatchRequestTooLong.error(format!(
                "Batch requests cannot be longer than {} bytes. You have sent {total} bytes.",
                limits::MAX_BYTES
            )));
        }
        Ok(entries
            .into_iter()
            .map(|(id, send)| {
                let result = send.and_then(|send| self.send(queue, send, now));
                (id, result)
            })
            .collect())
    }
}

/// The deduplication id of a body: its SHA-256 in hexadecimal.
fn content_id(body: &str) -> String {
    use sha2::Digest as _;
    let digest: [u8; 32] = sha2::Sha256::digest(body.as_bytes()).into();
    crate::local::hex(&digest)
}

const WRONG_KIND: &str = "The request include parameter that is not valid for this queue type.";
const NO_DEDUP: &str = "The queue should either have ContentBasedDeduplication enabled or \
                        MessageDeduplicationId provided explicitly";
