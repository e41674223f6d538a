//! A queue with its dead-letter queue, messages whose handlers do what the message says, and a
//! log of what happened when.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use aws_sdk_sqs::Client;
use babelqueue::local::{LocalSqs, MessageSnapshot, RawMessage};
use babelqueue::prelude::*;
use babelqueue::sqs::SqsConsumerBuilder;
use babelqueue::{ErrorEvent, ReportKind};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

pub const SECOND: Duration = Duration::from_secs(1);

/// A message that says what its handler does: one step list per attempt, the last one repeated.
/// Steps are divided by blanks: `ok fail panic permanent discard retry retry=<ms> dead sleep=<ms>`.
#[derive(Clone, Debug, Serialize, Deserialize, BabelMessage)]
#[urn = "urn:test:task"]
pub struct Task {
    pub name: String,
    pub attempts: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
#[error("{0} failed")]
pub struct TaskError(String);

/// What the handlers did.
#[derive(Clone, Debug)]
pub struct Lab {
    start: Instant,
    log: Arc<Mutex<Vec<Entry>>>,
    gauge: Arc<Mutex<(usize, usize)>>,
    errors: Arc<Mutex<Vec<(ReportKind, String, String)>>>,
    handled: Arc<Mutex<BTreeSet<String>>>,
    watcher: Arc<OnceLock<Watcher>>,
}

/// Is told of each handler's begin, with the name of its message.
pub struct Watcher(Box<dyn Fn(&str) + Send + Sync>);

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watcher")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub at: Duration,
    pub name: String,
    pub what: &'static str,
    pub attempt: u64,
}

impl Lab {
    fn new() -> Self {
        Self {
            start: Instant::now(),
            log: Arc::default(),
            gauge: Arc::default(),
            errors: Arc::default(),
            handled: Arc::default(),
            watcher: Arc::default(),
        }
    }

    /// Looks on as each handler begins.
    pub fn watch(&self, look: impl Fn(&str) + Send + Sync + 'static) {
        let watcher = Watcher(Box::new(look));
        assert!(self.watcher.set(watcher).is_ok(), "one looks on");
    }

    fn note(&self, name: &str, what: &'static str, attempt: u64) {
        let at = self.start.elapsed();
        self.log.lock().unwrap().push(Entry {
            at,
            name: name.to_owned(),
            what,
            attempt,
        });
    }

    /// Notes a call of another handler than `task`.
    pub fn begin(&self, name: &str) {
        self.note(name, "begin", 0);
    }

    /// Messages whose handler said that they are done with, or to be discarded.
    pub fn handled(&self) -> BTreeSet<String> {
        self.handled.lock().unwrap().clone()
    }

    pub fn log(&self) -> Vec<Entry> {
        self.log.lock().unwrap().clone()
    }

    /// `name/attempt` of every handler call, in order.
    pub fn calls(&self) -> Vec<String> {
        let begins = self.log().into_iter().filter(|entry| entry.what == "begin");
        begins
            .map(|entry| format!("{}/{}", entry.name, entry.attempt))
            .collect()
    }

    /// When each handler call of the message began.
    pub fn begins(&self, name: &str) -> Vec<Duration> {
        let log = self.log().into_iter();
        log.filter(|e| e.name == name && e.what == "begin")
            .map(|e| e.at)
            .collect()
    }

    pub fn ends(&self, name: &str) -> Vec<Duration> {
        let log = self.log().into_iter();
        log.filter(|e| e.name == name && e.what == "end")
            .map(|e| e.at)
            .collect()
    }

    /// The most handlers that ran at one time.
    pub fn most_at_once(&self) -> usize {
        self.gauge.lock().unwrap().1
    }

    pub fn running(&self) -> usize {
        self.gauge.lock().unwrap().0
    }

    pub fn kinds(&self) -> Vec<ReportKind> {
        self.errors
            .lock()
            .unwrap()
            .iter()
            .map(|(kind, ..)| *kind)
            .collect()
    }

    pub fn errors(&self) -> Vec<(ReportKind, String, String)> {
        self.errors.lock().unwrap().clone()
    }

    pub fn hook(&self) -> impl Fn(&ErrorEvent<'_>) + Send + Sync + 'static {
        let errors = Arc::clone(&self.errors);
        move |event| {
            let error = (
                event.kind,
                event.message_id.to_owned(),
                event.error.to_string(),
            );
            errors.lock().unwrap().push(error);
        }
    }
}

/// Counts a running handler, also one that is dropped in the middle.
struct Running(Lab, String, u64);

impl Running {
    fn begin(lab: &Lab, name: &str, attempt: u64) -> Self {
        let mut gauge = lab.gauge.lock().unwrap();
        gauge.0 += 1;
        gauge.1 = gauge.1.max(gauge.0);
        drop(gauge);
        lab.note(name, "begin", attempt);
        if let Some(Watcher(look)) = lab.watcher.get() {
            look(name);
        }
        Self(lab.clone(), name.to_owned(), attempt)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(mut gauge) = self.0.gauge.lock() {
            gauge.0 -= 1;
        }
        self.0.note(&self.1, "end", self.2);
    }
}

#[babel_handler]
pub async fn task(
    task: Task,
    Attempts(attempt): Attempts,
    State(lab): State<Lab>,
) -> Result<Outcome, HandlerError> {
    let _running = Running::begin(&lab, &task.name, attempt);
    let result = work(&task, attempt).await;
    if matches!(result, Ok(Outcome::Done | Outcome::Discard)) {
        lab.handled.lock().unwrap().insert(task.name);
    }
    result
}

async fn work(task: &Task, attempt: u64) -> Result<Outcome, HandlerError> {
    let last = task.attempts.len().saturating_sub(1);
    let steps = task
        .attempts
        .get((attempt as usize).min(last))
        .cloned()
        .unwrap_or_default();
    let fail = || TaskError(task.name.clone());
    for step in steps.split_whitespace() {
        let (step, number) = step.split_once('=').unwrap_or((step, "0"));
        let time = Duration::from_millis(number.parse().unwrap());
        match step {
            "ok" => {}
            "sleep" => sleep(time).await,
            "fail" => return Err(fail().into()),
            "permanent" => return Err(HandlerError::permanent(fail())),
            "later" => return Err(HandlerError::retry_after(fail(), time)),
            "panic" => panic!("{} panicked", task.name),
            "discard" => return Ok(Outcome::Discard),
            "retry" if number == "0" => return Ok(Outcome::retry()),
            "retry" => return Ok(Outcome::retry_after(time)),
            "now" => return Ok(Outcome::retry_after(Duration::ZERO)),
            "dead" => return Ok(Outcome::dead_letter("no use")),
            other => panic!("no such step: {other}"),
        }
    }
    Ok(Outcome::Done)
}

/// The bench: queues, lab, and what a test needs of them.
pub struct Bench {
    pub sqs: LocalSqs,
    pub lab: Lab,
    pub queue: String,
    pub url: String,
}

/// A router with the one handler.
pub fn router() -> impl Routes<Lab> {
    Router::from_handlers![task]
}

impl Bench {
    pub fn new() -> Self {
        Self::named("orders", [("VisibilityTimeout", "30")])
    }

    pub fn fifo() -> Self {
        Self::named(
            "orders.fifo",
            [("FifoQueue", "true"), ("VisibilityTimeout", "30")],
        )
    }

    pub fn named<const N: usize>(queue: &str, attributes: [(&str, &str); N]) -> Self {
        let sqs = LocalSqs::new();
        let url = sqs.create_queue_with(queue, attributes).unwrap();
        let dlq = babelqueue::policy::dead_letter_name(queue, None).unwrap();
        let fifo = queue.ends_with(".fifo").then_some(("FifoQueue", "true"));
        sqs.create_queue_with(&dlq, fifo).unwrap();
        sqs.clear_calls();
        Self {
            sqs,
            lab: Lab::new(),
            queue: queue.to_owned(),
            url,
        }
    }

    /// A consumer of the queue with the test's router, state and error hook.
    pub fn consumer(&self) -> SqsConsumerBuilder<impl Routes<Lab>, Lab> {
        self.consumer_of(self.sqs.client())
    }

    /// A consumer with a client of the test's own.
    pub fn consumer_of(&self, client: Client) -> SqsConsumerBuilder<impl Routes<Lab>, Lab> {
        SqsConsumer::builder(client, &self.url, router())
            .state(self.lab.clone())
            .on_error(self.lab.hook())
    }

    pub fn dlq(&self) -> String {
        babelqueue::policy::dead_letter_name(&self.queue, None).unwrap()
    }

    /// Puts a task on the queue: what its handler does, per attempt.
    pub fn put(&self, name: &str, attempts: &[&str]) -> String {
        self.put_raw(RawMessage::new(envelope(name, attempts)))
    }

    /// The same in a FIFO group.
    pub fn put_in(&self, group: &str, name: &str, attempts: &[&str]) -> String {
        let message = RawMessage::new(envelope(name, attempts));
        self.put_raw(message.group_id(group).deduplication_id(name))
    }

    pub fn put_raw(&self, message: RawMessage) -> String {
        self.sqs.inject_raw(&self.queue, message)
    }

    /// Runs a consumer for so long.
    pub async fn run(&self, builder: SqsConsumerBuilder<impl Routes<Lab>, Lab>, time: Duration) {
        builder
            .build()
            .unwrap()
            .run_until(sleep(time))
            .await
            .unwrap();
    }

    /// What is on the queue in any state.
    pub fn left(&self) -> Vec<MessageSnapshot> {
        self.all(&self.queue)
    }

    /// What is on the dead-letter queue.
    pub fn dead(&self) -> Vec<MessageSnapshot> {
        self.all(&self.dlq())
    }

    fn all(&self, queue: &str) -> Vec<MessageSnapshot> {
        all_of(&self.sqs, queue)
    }

    /// The bodies on the dead-letter queue, parsed.
    pub fn dead_json(&self) -> Vec<Value> {
        self.dead()
            .iter()
            .map(|message| serde_json::from_str(&message.body).unwrap())
            .collect()
    }
}

/// What is on a queue in any state.
pub fn all_of(sqs: &LocalSqs, queue: &str) -> Vec<MessageSnapshot> {
    let snapshot = sqs.snapshot(queue);
    [snapshot.visible, snapshot.in_flight, snapshot.delayed]
        .into_iter()
        .flatten()
        .collect()
}

pub fn envelope(name: &str, attempts: &[&str]) -> String {
    let data = json!({ "name": name, "attempts": attempts });
    body("urn:test:task", &data)
}

pub fn body(urn: &str, data: &Value) -> String {
    let meta = json!({ "id": "m-1", "queue": "orders", "lang": "php", "schema_version": 1, "created_at": 5 });
    json!({ "job": urn, "trace_id": "trace-1", "data": data, "meta": meta, "attempts": 0 })
        .to_string()
}

/// The text attributes of a message.
pub fn attributes(message: &MessageSnapshot) -> BTreeMap<&str, &str> {
    let pairs = message.attributes.iter();
    pairs
        .map(|(name, value)| (name.as_str(), value.text().unwrap_or("binary")))
        .collect()
}

/// Whole seconds, rounded to the nearest.
pub fn seconds(times: &[Duration]) -> Vec<u64> {
    times
        .iter()
        .map(|time| (time.as_millis() as u64 + 500) / 1000)
        .collect()
}
