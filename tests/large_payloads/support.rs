//! Two queues, a store whose objects misbehave as told, and a log of what the handlers got.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use babelqueue::ReportKind;
use babelqueue::local::{LocalSqs, MessageSnapshot, RawMessage};
use babelqueue::payload_store::{
    Home, Location, MemoryPayloadStore, PayloadStore, Retrieval, StoreError,
};
use babelqueue::prelude::*;
use babelqueue::sqs::SqsConsumerBuilder;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::sleep;

pub const SECOND: Duration = Duration::from_secs(1);

/// A message that says how its handler ends, and how many seconds that takes.
#[derive(Debug, Serialize, Deserialize, BabelMessage)]
#[urn = "urn:test:note"]
pub struct Note {
    #[babel(group_id)]
    pub name: String,
    pub text: String,
    pub seconds: u32,
    pub permanent: bool,
}

impl Note {
    pub fn new(name: &str, text: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            text: text.into(),
            seconds: 0,
            permanent: false,
        }
    }
}

/// What the handlers got, in order, and what was reported.
#[derive(Clone, Default)]
pub struct Log {
    names: Arc<Mutex<Vec<String>>>,
    texts: Arc<Mutex<BTreeMap<String, String>>>,
    errors: Arc<Mutex<Vec<(ReportKind, String)>>>,
}

impl Log {
    pub fn names(&self) -> Vec<String> {
        self.names.lock().unwrap().clone()
    }

    pub fn sorted(&self) -> Vec<String> {
        let mut names = self.names();
        names.sort();
        names
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.texts.lock().unwrap().get(name).cloned()
    }

    pub fn errors(&self) -> Vec<(ReportKind, String)> {
        self.errors.lock().unwrap().clone()
    }

    /// The reports of this kind that name `what`.
    pub fn reports(&self, kind: ReportKind, what: &str) -> usize {
        let errors = self.errors.lock().unwrap();
        let about = |error: &&(ReportKind, String)| error.0 == kind && error.1.contains(what);
        errors.iter().filter(about).count()
    }
}

#[babel_handler]
pub async fn note(note: Note, State(log): State<Log>) -> Outcome {
    log.names.lock().unwrap().push(note.name.clone());
    sleep(note.seconds * SECOND).await;
    if note.permanent {
        return Outcome::dead_letter("it is no use");
    }
    log.texts.lock().unwrap().insert(note.name, note.text);
    Outcome::Done
}

/// How the store treats an object.
#[derive(Clone, Copy)]
pub enum Whim {
    /// As S3 answers to a 403.
    Refuse,
    Hang,
    Panic,
    Wait(Duration),
}

/// A store in memory with whims, which knows what was asked of it.
#[derive(Clone, Default)]
pub struct Store {
    pub memory: MemoryPayloadStore,
    whims: Arc<Mutex<BTreeMap<String, Whim>>>,
    /// Reads: how many, how many at present, the most at once.
    reads: Arc<Mutex<(usize, usize, usize)>>,
}

impl Store {
    pub fn whim(&self, name: &str, whim: Whim) {
        self.whims.lock().unwrap().insert(name.to_owned(), whim);
    }

    pub fn calm(&self) {
        self.whims.lock().unwrap().clear();
    }

    pub fn reads(&self) -> usize {
        self.reads.lock().unwrap().0
    }

    pub fn most_at_once(&self) -> usize {
        self.reads.lock().unwrap().2
    }

    /// Puts an object there and returns a stub that points to it.
    pub fn keep(&self, name: &str, content: &str) -> String {
        let key = format!("payloads/{name}");
        self.memory.insert("memory", &key, content);
        stub("memory", &key)
    }

    async fn humour(&self, key: &str) -> Result<(), StoreError> {
        let whim = {
            let whims = self.whims.lock().unwrap();
            let mut whims = whims.iter();
            whims
                .find(|(name, _)| key.contains(*name))
                .map(|(_, whim)| *whim)
        };
        match whim {
            None => Ok(()),
            Some(Whim::Refuse) => Err(StoreError::failed("AccessDenied")),
            Some(Whim::Hang) => std::future::pending().await,
            Some(Whim::Panic) => panic!("the store panicked"),
            Some(Whim::Wait(time)) => {
                sleep(time).await;
                Ok(())
            }
        }
    }
}

impl PayloadStore for Store {
    fn home(&self) -> Home {
        self.memory.home()
    }

    async fn put(&self, to: &Location, payload: &str) -> Result<(), StoreError> {
        self.humour("put").await?;
        self.memory.put(to, payload).await
    }

    async fn get(&self, from: &Location, max_bytes: usize) -> Result<Vec<u8>, StoreError> {
        {
            let mut reads = self.reads.lock().unwrap();
            reads.0 += 1;
            reads.1 += 1;
            reads.2 = reads.2.max(reads.1);
        }
        let humour = self.humour(&from.key).await;
        self.reads.lock().unwrap().1 -= 1;
        humour?;
        self.memory.get(from, max_bytes).await
    }

    async fn delete(&self, location: &Location) -> Result<(), StoreError> {
        self.humour("delete").await?;
        self.memory.delete(location).await
    }
}

pub fn stub(bucket: &str, key: &str) -> String {
    json!({ "contentS3Location": { "bucketName": bucket, "path": key } }).to_string()
}

/// An encoded envelope.
pub fn envelope(note: &Note) -> String {
    let meta = json!({
        "id": note.name, "queue": "orders", "lang": "php", "schema_version": 1, "created_at": 5,
    });
    json!({ "job": Note::URN, "trace_id": "t", "data": note, "meta": meta, "attempts": 0 })
        .to_string()
}

/// The queues, the store, the log.
pub struct Bench {
    pub sqs: LocalSqs,
    pub store: Store,
    pub log: Log,
    pub queue: &'static str,
    pub url: String,
}

impl Bench {
    pub fn new() -> Self {
        Self::of("orders", "orders-dlq", None)
    }

    pub fn fifo() -> Self {
        Self::of(
            "orders.fifo",
            "orders-dlq.fifo",
            Some(("FifoQueue", "true")),
        )
    }

    fn of(
        queue: &'static str,
        dlq: &'static str,
        fifo: Option<(&'static str, &'static str)>,
    ) -> Self {
        let sqs = LocalSqs::new();
        let url = sqs.create_queue_with(queue, fifo).unwrap();
        sqs.create_queue_with(dlq, fifo).unwrap();
        Self {
            sqs,
            store: Store::default(),
            log: Log::default(),
            queue,
            url,
        }
    }

    pub fn put(&self, body: impl Into<String>) {
        self.sqs.inject_raw(self.queue, RawMessage::new(body));
    }

    /// A consumer that does not follow pointers.
    pub fn plain(&self) -> SqsConsumerBuilder<impl Routes<Log>, Log> {
        let log = self.log.clone();
        SqsConsumer::builder(self.sqs.client(), &self.url, Router::from_handlers![note])
            .state(self.log.clone())
            .visibility_timeout(30 * SECOND)
            .retry(Backoff::fixed(60 * SECOND))
            .dead_letter_queue(DeadLetterQueue::default_name())
            .on_error(move |event| {
                let mut text = event.error.to_string();
                let mut cause = event.error.source();
                while let Some(error) = cause {
                    text = format!("{text}: {error}");
                    cause = error.source();
                }
                log.errors.lock().unwrap().push((event.kind, text));
            })
    }

    pub fn retrieval(&self) -> Retrieval {
        Retrieval::from_store(self.store.clone()).timeout(5 * SECOND)
    }

    pub fn consumer(&self) -> SqsConsumerBuilder<impl Routes<Log>, Log> {
        self.plain().payload_store(self.retrieval())
    }

    pub async fn run(&self, builder: SqsConsumerBuilder<impl Routes<Log>, Log>, time: Duration) {
        builder
            .build()
            .unwrap()
            .run_until(sleep(time))
            .await
            .unwrap();
    }

    /// What is on the queue in any state.
    pub fn left(&self) -> Vec<MessageSnapshot> {
        self.all(self.queue)
    }

    pub fn dead(&self) -> Vec<MessageSnapshot> {
        self.all(&babelqueue::policy::dead_letter_name(self.queue, None).unwrap())
    }

    /// The bodies on the dead-letter queue, parsed.
    pub fn dead_json(&self) -> Vec<Value> {
        let dead = self.dead();
        dead.iter()
            .map(|m| serde_json::from_str(&m.body).unwrap())
            .collect()
    }

    fn all(&self, queue: &str) -> Vec<MessageSnapshot> {
        let snapshot = self.sqs.snapshot(queue);
        let states = [snapshot.visible, snapshot.in_flight, snapshot.delayed];
        states.into_iter().flatten().collect()
    }
}
