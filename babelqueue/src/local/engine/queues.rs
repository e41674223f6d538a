//! Queues as a whole: creating and deleting them, their attributes, purging.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Engine;
use super::attributes::{self, QueueAttributes};
use super::error::{ApiResult, Kind, no_such_queue};
use super::limits;
use super::queue::Queue;
use super::redrive::RedriveAllow;
use super::tags;
use crate::local::clock::At;

impl Engine {
    pub(crate) fn create_queue(
        &mut self,
        name: &str,
        mut wanted: BTreeMap<String, String>,
        new_tags: BTreeMap<String, String>,
        now: At,
    ) -> ApiResult<()> {
        limits::check_queue_name(name)?;
        let fifo = name.ends_with(".fifo");
        match wanted.remove("FifoQueue").as_deref() {
            Some("true") if !fifo => {
                return Err(Kind::InvalidParameterValue
                    .error("The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, must end with .fifo suffix and be 1 to 80 in length."));
            }
            Some("true") => {}
            None if !fifo => {}
            // A standard queue has no such attribute, not even a false one, and a FIFO name needs it.
            Some("false") if !fifo => return Err(attributes::unknown("FifoQueue")),
            Some("false") | None => {
                return Err(Kind::InvalidParameterValue.error(
                    "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length",
                ));
            }
            Some(_) => {
                return Err(
                    Kind::InvalidAttributeValue.error("Invalid value for the parameter FifoQueue.")
                );
            }
        }
        let pairs = || {
            wanted
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
        };
        if let Some(queue) = self.queues.get(name) {
            let mut with = queue.attributes.clone();
            with.set_all(pairs())?;
            let differs = wanted
                .keys()
                .find(|name| with.differ(&queue.attributes, name));
            if let Some(attribute) = differs {
                return Err(Kind::QueueNameExists.error(format!(
                    "A queue already exists with the same name and a different value for attribute {attribute}"
                )));
            }
            return Ok(());
        }
        if let Some(&deleted) = self.deleted.get(name) {
            if deleted.plus(self.settings.name_rest) > now {
                return Err(Kind::QueueDeletedRecently.error(
                    "You must wait 60 seconds after deleting a queue before you can create another with the same name.",
                ));
            }
            self.deleted.remove(name);
        }
        let mut attributes = QueueAttributes::new(fifo);
        attributes.set_all(pairs())?;
        let arn = self.arn(name);
        self.check_redrive(&attributes, &arn)?;
        let uid = self.random.u64(..);
        let mut queue = Queue::new(uid, arn, attributes, now);
        tags::add(&mut queue, new_tags)?;
        self.queues.insert(name.to_owned(), queue);
        Ok(())
    }

    /// A redrive policy must name a queue of the same kind that allows it.
    fn check_redrive(&self, attributes: &QueueAttributes, source: &Arc<str>) -> ApiResult<()> {
        let Some(policy) = &attributes.redrive else {
            return Ok(());
        };
        if *policy.target_arn == **source {
            // Its dead letters would come to life again at once, and for ever.
            return Err(policy.refuse("A queue cannot be its own dead-letter queue."));
        }
        let target = self
            .name_of_arn(&policy.target_arn)
            .and_then(|name| self.queues.get(name))
            .ok_or_else(|| policy.refuse("Dead letter target does not exist."))?;
        if target.attributes.fifo != attributes.fifo {
            return Err(
                policy.refuse("Dead-letter queue must be same type of queue as the source.")
            );
        }
        let allowed = target.attributes.redrive_allow.as_ref();
        if !allowed.is_none_or(|allow: &RedriveAllow| allow.allows(source)) {
            return Err(policy.refuse(
                "The dead-letter queue's RedriveAllowPolicy does not permit this source queue.",
            ));
        }
        Ok(())
    }

    pub(crate) fn delete_queue(&mut self, name: &str, now: At) -> ApiResult<()> {
        self.run_move_tasks(now);
        let queue = self.queues.remove(name).ok_or_else(no_such_queue)?;
        self.deleted.insert(name.to_owned(), now);
        queue.bell.notify_waiters();
        Ok(())
    }

    pub(crate) fn has_queue(&self, name: &str) -> bool {
        self.queues.contains_key(name)
    }

    /// The names that begin so, in their order, after `after`.
    pub(crate) fn queue_names<'a>(
        &'a self,
        prefix: &'a str,
        after: &'a str,
    ) -> impl Iterator<Item = &'a str> {
        self.queues
            .keys()
            .map(String::as_str)
            .filter(move |name| name.starts_with(prefix) && *name > after)
    }

    /// The names of the queues whose redrive policy names this one, after `after`.
    pub(crate) fn dead_letter_sources<'a>(
        &'a self,
        name: &str,
        after: &'a str,
    ) -> ApiResult<impl Iterator<Item = &'a str>> {
        let arn = Arc::clone(&self.queues.get(name).ok_or_else(no_such_queue)?.arn);
        Ok(self.queues.iter().filter_map(move |(name, queue)| {
            let policy = queue.attributes.redrive.as_ref()?;
            (*policy.target_arn == *arn && name.as_str() > after).then_some(name.as_str())
        }))
    }

    pub(crate) fn attributes(
        &mut self,
        name: &str,
        wanted: &[String],
        now: At,
    ) -> ApiResult<BTreeMap<String, String>> {
        let wall = self.wall;
        let queue = self.queue(name, now)?;
        let mut names: Vec<&str> = Vec::new();
        for name in wanted {
            if name == "All" {
                names.extend(attributes::NAMES);
            } else if attributes::NAMES.contains(&name.as_str()) {
                names.push(name);
            } else {
                return Err(attributes::unknown(name));
            }
        }
        let value = |name: &str| match name {
            "ApproximateNumberOfMessages" => Some(queue.counts.visible.to_string()),
            "ApproximateNumberOfMessagesNotVisible" => Some(queue.counts.in_flight.to_string()),
            "ApproximateNumberOfMessagesDelayed" => Some(queue.counts.delayed.to_string()),
            "CreatedTimestamp" => Some(wall.secs(queue.created).to_string()),
            "LastModifiedTimestamp" => Some(wall.secs(queue.modified).to_string()),
            "QueueArn" => Some(queue.arn.to_string()),
            name => queue.attributes.get(name),
        };
        Ok(names
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), value(name)?)))
            .collect())
    }

    pub(crate) fn set_attributes(
        &mut self,
        name: &str,
        wanted: &BTreeMap<String, String>,
        now: At,
    ) -> ApiResult<()> {
        let queue = self.queue(name, now)?;
        let mut attributes = queue.attributes.clone();
        let arn = Arc::clone(&queue.arn);
        let pairs = wanted
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        attributes.set_all(pairs)?;
        if wanted.contains_key("RedrivePolicy") {
            self.check_redrive(&attributes, &arn)?;
        }
        let queue = self.queue(name, now)?;
        let delay_changed = queue.attributes.delay != attributes.delay;
        queue.attributes = attributes;
        queue.modified = now;
        if queue.attributes.fifo && delay_changed {
            queue.delay_anew(now);
        }
        // A new retention period counts for what is here already.
        queue.advance(now);
        // Whoever waits must see the new dates.
        queue.bell.notify_waiters();
        Ok(())
    }

    pub(crate) fn purge(&mut self, name: &str, now: At) -> ApiResult<()> {
        let rest = self.settings.purge_rest;
        let queue = self.queue(name, now)?;
        if queue.purged.is_some_and(|at| at.plus(rest) > now) {
            return Err(Kind::PurgeQueueInProgress.error(format!(
                "Only one PurgeQueue operation on {name} is allowed every 60 seconds."
            )));
        }
        queue.purged = Some(now);
        queue.purge();
        Ok(())
    }
}
