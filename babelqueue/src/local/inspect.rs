//! What a test sees of a queue, and what it puts there past the protocol.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use super::LocalSqs;
use super::clock::{At, Wall};
use super::engine::attribute::{Attribute, AttributeRef, Value, ValueRef};
use super::engine::message::{Message, State, sequence_text};
use super::engine::packed::Packed;
use super::engine::queue::Queue;
use super::engine::raw::Raw;
use super::protocol::operation::Operation;

/// A message for [`LocalSqs::inject_raw`], which takes what SQS would refuse: any body, any
/// attributes, any counts.
///
/// ```
/// use std::time::Duration;
/// use babelqueue::local::RawMessage;
///
/// let poison = RawMessage::new("\u{0} not JSON")
///     .attribute("AWS.odd", "Whatever", "")
///     .receive_count(41)
///     .age(Duration::from_secs(3600));
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct RawMessage(Raw);

impl RawMessage {
    /// A message with this body and nothing else.
    pub fn new(body: impl Into<String>) -> Self {
        Self(Raw {
            body: body.into(),
            ..Raw::default()
        })
    }

    /// A message attribute with a text value.
    pub fn attribute(
        mut self,
        name: impl Into<String>,
        data_type: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        let value = Value::Text(value.into());
        let data_type = data_type.into();
        self.0
            .attributes
            .insert(name.into(), Attribute { data_type, value });
        self
    }

    /// A message attribute with a binary value.
    pub fn binary_attribute(
        mut self,
        name: impl Into<String>,
        data_type: impl Into<String>,
        value: impl Into<Vec<u8>>,
    ) -> Self {
        let value = Value::Binary(value.into());
        let data_type = data_type.into();
        self.0
            .attributes
            .insert(name.into(), Attribute { data_type, value });
        self
    }

    /// How often it has been received already.
    pub fn receive_count(mut self, count: u32) -> Self {
        self.0.receives = count;
        self
    }

    /// Its message group; on a FIFO queue the group with the empty id when not given.
    pub fn group_id(mut self, id: impl Into<String>) -> Self {
        self.0.group = Some(id.into());
        self
    }

    /// Its deduplication id. Nothing is deduplicated by it.
    pub fn deduplication_id(mut self, id: impl Into<String>) -> Self {
        self.0.dedup = Some(id.into());
        self
    }

    /// Its trace header.
    pub fn trace_header(mut self, header: impl Into<String>) -> Self {
        self.0.trace_header = Some(header.into());
        self
    }

    /// How long ago it was sent, at most 60 days. Retention counts from then.
    pub fn age(mut self, age: Duration) -> Self {
        self.0.age = age;
        self
    }

    /// How long it stays delayed from now.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.0.delay = delay;
        self
    }
}

/// A queue at one moment. Lists are in the order in which the messages came onto it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueSnapshot {
    /// Messages that can be received.
    pub visible: Vec<MessageSnapshot>,
    /// Messages that were received and are neither deleted nor visible again.
    pub in_flight: Vec<MessageSnapshot>,
    /// Messages whose delay is not over.
    pub delayed: Vec<MessageSnapshot>,
}

impl QueueSnapshot {
    /// How many messages there are, wherever they stand.
    #[must_use]
    pub fn len(&self) -> usize {
        self.visible.len() + self.in_flight.len() + self.delayed.len()
    }

    /// Whether there is no message at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A message at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageSnapshot {
    /// The id that SQS gave it.
    pub message_id: String,
    /// Its body.
    pub body: String,
    /// Its message attributes by name.
    pub attributes: BTreeMap<String, AttributeSnapshot>,
    /// How often it was received.
    pub receive_count: u32,
    /// Its message group.
    pub group_id: Option<String>,
    /// Its deduplication id.
    pub deduplication_id: Option<String>,
    /// Its sequence number, on a FIFO queue.
    pub sequence_number: Option<String>,
    /// When it was sent.
    pub sent: SystemTime,
    /// How long until it is visible; zero when it is.
    pub visible_in: Duration,
    /// The ARN of the queue that a redrive policy moved it from.
    pub dead_letter_source: Option<String>,
}

/// A message attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttributeSnapshot {
    /// `String`, `Number` or `Binary`, with or without a label.
    pub data_type: String,
    /// The value: the bytes of the text, or the bytes as they are.
    pub value: Vec<u8>,
}

impl AttributeSnapshot {
    /// The value as text, when it is UTF-8.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.value).ok()
    }
}

impl LocalSqs {
    /// Puts a message on a queue (name or URL) without any check, and gives its id.
    ///
    /// # Panics
    ///
    /// When there is no such queue.
    #[track_caller]
    pub fn inject_raw(&self, queue: &str, message: RawMessage) -> String {
        let name = name_of(queue);
        match self
            .service
            .with(|engine, now| engine.inject(name, message.0, now))
        {
            Ok(id) => id.to_string(),
            Err(_) => panic!("there is no queue {name:?} to put a message on"),
        }
    }

    /// What is on a queue (name or URL) at this moment.
    ///
    /// # Panics
    ///
    /// When there is no such queue.
    #[must_use]
    #[track_caller]
    pub fn snapshot(&self, queue: &str) -> QueueSnapshot {
        let name = name_of(queue);
        match self.try_snapshot(name) {
            Some(snapshot) => snapshot,
            None => panic!("there is no queue {name:?} to look at"),
        }
    }

    /// Waits until a queue (name or URL) looks as wanted, and gives what it looked like then.
    /// It waits for changes and for what is due on the queue, and does not poll; put it into
    /// `tokio::time::timeout` when the condition may never come.
    ///
    /// # Panics
    ///
    /// When there is no such queue, or it is deleted meanwhile.
    pub async fn wait_until(
        &self,
        queue: &str,
        mut wanted: impl FnMut(&QueueSnapshot) -> bool,
    ) -> QueueSnapshot {
        let name = name_of(queue);
        loop {
            let mut changed = std::pin::pin!(self.service.changed().notified());
            changed.as_mut().enable();
            let snapshot = self.snapshot(name);
            if wanted(&snapshot) {
                return snapshot;
            }
            let due = self.service.look(|engine, _| engine.next_due(name));
            match due.map(|due| self.service.instant(due)) {
                None => changed.await,
                Some(due) => tokio::select! {
                    biased;
                    () = changed => {}
                    () = tokio::time::sleep_until(due) => {}
                },
            }
        }
    }

    /// Waits until a queue (name or URL) holds no message: all were handled and deleted.
    ///
    /// # Panics
    ///
    /// When there is no such queue, or it is deleted meanwhile.
    pub async fn wait_until_empty(&self, queue: &str) {
        self.wait_until(queue, QueueSnapshot::is_empty).await;
    }

    /// Waits until an operation has been called so often in all, whether or not the calls are
    /// answered yet: a receive that waits counts.
    pub async fn wait_until_called(&self, operation: Operation, times: u64) {
        loop {
            let mut changed = std::pin::pin!(self.service.changed().notified());
            changed.as_mut().enable();
            if self.service.calls().count(operation) >= times {
                return;
            }
            changed.await;
        }
    }

    fn try_snapshot(&self, name: &str) -> Option<QueueSnapshot> {
        let wall = self.service.wall();
        self.service
            .look(|engine, now| engine.queue(name, now).ok().map(|it| take(it, wall, now)))
    }
}

/// Queues are given by name or by URL.
fn name_of(queue: &str) -> &str {
    queue.rsplit('/').next().unwrap_or(queue)
}

fn take(queue: &Queue, wall: Wall, now: At) -> QueueSnapshot {
    let mut snapshot = QueueSnapshot::default();
    for ticket in queue.store.tickets() {
        let Some(message) = queue.store.get(ticket) else {
            continue;
        };
        let (list, due) = match message.state {
            State::Visible => (&mut snapshot.visible, now),
            State::InFlight { due, .. } => (&mut snapshot.in_flight, due),
            State::Delayed { due } => (&mut snapshot.delayed, due),
        };
        let mut it = of_message(message, wall, due.since(now));
        it.sequence_number = queue.sequence(ticket).map(sequence_text);
        list.push(it);
    }
    snapshot
}

fn of_message(message: &Message, wall: Wall, visible_in: Duration) -> MessageSnapshot {
    let of_attribute = |it: AttributeRef<'_>| {
        let snapshot = AttributeSnapshot {
            data_type: it.data_type.to_owned(),
            value: match it.value {
                ValueRef::Text(text) => text.as_bytes().to_vec(),
                ValueRef::Binary(bytes) => bytes.to_vec(),
            },
        };
        (it.name.to_owned(), snapshot)
    };
    let attributes = message.attributes.iter().flat_map(Packed::iter);
    MessageSnapshot {
        message_id: message.id.to_string(),
        body: message.body.to_string(),
        attributes: attributes.map(of_attribute).collect(),
        receive_count: message.receives,
        group_id: message.group.as_deref().map(str::to_owned),
        deduplication_id: message.dedup.text(&message.body).map(Cow::into_owned),
        sequence_number: None,
        sent: wall.time(message.sent),
        visible_in,
        dead_letter_source: message.dead_letter_source().map(|it| it.to_string()),
    }
}
