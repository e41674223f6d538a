//! Deleting and changing visibility: what a receipt handle still opens.

use super::Engine;
use super::batch::{self, BatchResult};
use super::error::{ApiError, ApiResult, Kind, invalid_value};
use super::handles;
use super::limits::{self, MAX_VISIBILITY};
use super::message::State;
use super::queue::Queue;
use super::store::Ticket;
use crate::local::clock::At;

impl Engine {
    pub(crate) fn delete(&mut self, queue: &str, handle: &str, now: At) -> ApiResult<()> {
        let old_act = self.settings.old_handles_act;
        let queue = self.queue(queue, now)?;
        let (ticket, receive) = open(queue, handle)?;
        let Some(message) = queue.store.get(ticket) else {
            return Ok(()); // deleted before
        };
        let latest = message.receives == receive;
        if queue.attributes.fifo {
            if !latest || !matches!(message.state, State::InFlight { .. }) {
                return Err(expired(handle));
            }
        } else if !latest && !old_act {
            // SQS answers yes and keeps the message.
            return Ok(());
        }
        queue.remove(ticket);
        Ok(())
    }

    pub(crate) fn change_visibility(
        &mut self,
        queue: &str,
        handle: &str,
        seconds: i64,
        now: At,
    ) -> ApiResult<()> {
        let old_act = self.settings.old_handles_act;
        let queue = self.queue(queue, now)?;
        let seconds = limits::in_range("VisibilityTimeout", seconds, 0, MAX_VISIBILITY)?;
        let (ticket, receive) = open(queue, handle)?;
        let gone = || {
            invalid_value(
                "ReceiptHandle",
                handle,
                "Message does not exist or is not available for visibility timeout change.",
            )
        };
        let message = queue.store.get(ticket).ok_or_else(gone)?;
        if message.receives != receive {
            if queue.attributes.fifo {
                return Err(expired(handle));
            }
            if !old_act {
                return Err(gone());
            }
        }
        let State::InFlight { received, .. } = message.state else {
            return Err(Kind::MessageNotInflight.error(
                "The message referred to is not in flight: its visibility timeout has expired.",
            ));
        };
        let due = now.plus_secs(seconds);
        if due > received.plus_secs(MAX_VISIBILITY) {
            return Err(invalid_value(
                "VisibilityTimeout",
                seconds,
                "Total VisibilityTimeout for the message is beyond the limit [43200 seconds]",
            ));
        }
        if seconds == 0 {
            queue.surface(ticket);
            queue.ring();
        } else {
            queue.postpone(ticket, due, received, false);
        }
        Ok(())
    }

    pub(crate) fn delete_batch(
        &mut self,
        queue: &str,
        entries: Vec<(String, ApiResult<String>)>,
        now: At,
    ) -> ApiResult<BatchResult<()>> {
        self.queue(queue, now)?;
        batch::check_ids(entries.iter().map(|(id, _)| id.as_str()))?;
        Ok(entries
            .into_iter()
            .map(|(id, handle)| {
                let result = handle.and_then(|handle| self.delete(queue, &handle, now));
                (id, result)
            })
            .collect())
    }

    pub(crate) fn change_visibility_batch(
        &mut self,
        queue: &str,
        entries: Vec<(String, ApiResult<(String, i64)>)>,
        now: At,
    ) -> ApiResult<BatchResult<()>> {
        self.queue(queue, now)?;
        batch::check_ids(entries.iter().map(|(id, _)| id.as_str()))?;
        Ok(entries
            .into_iter()
            .map(|(id, change)| {
                let result = change.and_then(|(handle, seconds)| {
                    self.change_visibility(queue, &handle, seconds, now)
                });
                (id, result)
            })
            .collect())
    }
}

fn open(queue: &Queue, handle: &str) -> ApiResult<(Ticket, u32)> {
    handles::read(handle)
        .filter(|read| read.queue == queue.uid)
        .map(|read| (read.ticket, read.receive))
        .ok_or_else(|| {
            Kind::ReceiptHandleIsInvalid.error(format!(
                "The input receipt handle \"{handle}\" is not a valid receipt handle."
            ))
        })
}

fn expired(handle: &str) -> ApiError {
    invalid_value("ReceiptHandle", handle, "The receipt handle has expired.")
}
