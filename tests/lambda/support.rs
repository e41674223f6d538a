//! Events, handlers that do what their messages say, and a log of what was handled.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use babelqueue::lambda::{Event, Invocation, LambdaConsumerBuilder, RetryOptions};
use babelqueue::local::{LocalSqs, RawMessage};
use babelqueue::prelude::*;
use babelqueue::{ErrorEvent, LambdaConsumer, ReportKind};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::sleep;

pub const SECOND: Duration = Duration::from_secs(1);

/// A message of an iterative handler: what its handler does, step by step.
#[derive(Debug, Serialize, Deserialize, BabelMessage)]
#[urn = "urn:test:task"]
pub struct Task {
    pub name: String,
    pub does: String,
}

/// The same for the batch handler.
#[derive(Debug, Serialize, Deserialize, BabelMessage)]
#[urn = "urn:test:many"]
pub struct Many {
    pub name: String,
    pub does: String,
}

/// And for the one that is called once for each client.
#[derive(Debug, Serialize, Deserialize, BabelMessage)]
#[urn = "urn:test:client"]
pub struct OfClient {
    pub name: String,
    pub does: String,
}

#[derive(Clone, Debug, Default)]
pub struct Lab {
    calls: Arc<Mutex<Vec<String>>>,
    errors: Arc<Mutex<Vec<(ReportKind, String)>>>,
    running: Arc<Mutex<(usize, usize)>>,
}

impl Lab {
    pub fn note(&self, call: impl Into<String>) {
        self.calls.lock().unwrap().push(call.into());
    }

    /// What was handled, in the order in which it began.
    pub fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }

    /// The same, and forgets it.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }

    pub fn kinds(&self) -> Vec<ReportKind> {
        let errors = self.errors.lock().unwrap();
        errors.iter().map(|(kind, _)| *kind).collect()
    }

    pub fn errors(&self) -> Vec<String> {
        let errors = self.errors.lock().unwrap();
        errors.iter().map(|(_, text)| text.clone()).collect()
    }

    pub fn most_at_once(&self) -> usize {
        self.running.lock().unwrap().1
    }

    pub fn hook(&self) -> impl Fn(&ErrorEvent<'_>) + Send + Sync + 'static {
        let errors = Arc::clone(&self.errors);
        move |event| {
            let error = (event.kind, event.to_string());
            errors.lock().unwrap().push(error);
        }
    }
}

struct Running(Lab);

impl Running {
    fn begin(lab: &Lab, name: &str) -> Self {
        lab.note(name);
        let mut running = lab.running.lock().unwrap();
        running.0 += 1;
        running.1 = running.1.max(running.0);
        Self(lab.clone())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.lock().unwrap().0 -= 1;
    }
}

/// Steps divided by blanks: `ok fail panic permanent discard later=<s> sleep=<s> report report=<s>
/// least=<s>`.
async fn perform(
    does: &str,
    ctx: &Context,
    invocation: Option<&Invocation>,
) -> Result<Outcome, HandlerError> {
    let report = |options| {
        let invocation = invocation.expect("an invocation");
        invocation.add_failed_message_with(&ctx.source().message_id, options);
    };
    for step in does.split_whitespace() {
        let (step, number) = step.split_once('=').unwrap_or((step, "0"));
        let number: u64 = number.parse().expect("a number");
        match step {
            "ok" => {}
            "sleep" => sleep(number as u32 * SECOND).await,
            "fail" => return Err(HandlerError::new("it failed")),
            "permanent" => return Err(HandlerError::permanent("no use")),
            "later" => {
                return Err(HandlerError::retry_after(
                    "later",
                    Duration::from_secs(number),
                ));
            }
            "panic" => panic!("it panicked"),
            "discard" => return Ok(Outcome::Discard),
            "report" if number == 0 => report(RetryOptions::new()),
            "report" => report(RetryOptions::new().delay(Duration::from_secs(number))),
            "least" => report(RetryOptions::new().min_delay(Duration::from_secs(number))),
            other => panic!("no such step: {other}"),
        }
    }
    Ok(Outcome::Done)
}

#[babel_handler]
pub async fn task(
    task: Task,
    ctx: &Context,
    invocation: Option<&Invocation>,
    State(lab): State<Lab>,
) -> Result<Outcome, HandlerError> {
    let _running = Running::begin(&lab, &task.name);
    perform(&task.does, ctx, invocation).await
}

#[babel_handler(batch)]
pub async fn many(
    many: Batch<Many>,
    invocation: Option<&Invocation>,
    State(lab): State<Lab>,
) -> Result<(), HandlerError> {
    let names: Vec<_> = many.payloads().map(|one| one.name.as_str()).collect();
    let _running = Running::begin(&lab, &format!("[{}]", names.join(" ")));
    for one in &many {
        if one.does == "all" {
            return Err(HandlerError::new("all of them failed"));
        }
        match perform(&one.does, one.context(), invocation).await {
            Ok(outcome) => one.settle(outcome),
            Err(error) => one.fail(error),
        }
    }
    Ok(())
}

pub fn router() -> impl Routes<Lab> {
    Router::from_handlers![task, many]
}

/// A consumer with the test's handlers, state and error hook.
pub fn consumer(lab: &Lab) -> LambdaConsumerBuilder<impl Routes<Lab>, Lab> {
    LambdaConsumer::builder(router())
        .state(lab.clone())
        .on_error(lab.hook())
}

pub fn body(urn: &str, id: &str, data: &Value) -> String {
    let meta =
        json!({ "id": id, "queue": "orders", "lang": "php", "schema_version": 1, "created_at": 5 });
    json!({ "job": urn, "trace_id": "trace-1", "data": data, "meta": meta, "attempts": 0 })
        .to_string()
}

/// The body of a message of this name for `task`.
pub fn does(name: &str, does: &str) -> String {
    body(
        "urn:test:task",
        name,
        &json!({ "name": name, "does": does }),
    )
}

/// The same for the batch handler.
pub fn many_does(name: &str, does: &str) -> String {
    body(
        "urn:test:many",
        name,
        &json!({ "name": name, "does": does }),
    )
}

/// A record as Lambda sends it; the name is its message id.
pub fn record(queue: &str, name: &str, body: &str) -> Value {
    json!({
        "messageId": name,
        "receiptHandle": format!("handle-{name}"),
        "body": body,
        "attributes": {
            "ApproximateReceiveCount": "1",
            "SentTimestamp": "1764520000000",
            "SenderId": "AIDAEXAMPLE",
            "ApproximateFirstReceiveTimestamp": "1764520000007",
        },
        "messageAttributes": {},
        "md5OfBody": "d41d8cd98f00b204e9800998ecf8427e",
        "eventSource": "aws:sqs",
        "eventSourceARN": format!("arn:aws:sqs:eu-west-1:123456789012:{queue}"),
        "awsRegion": "eu-west-1",
    })
}

pub fn in_group(group: &str, mut record: Value) -> Value {
    record["attributes"]["MessageGroupId"] = json!(group);
    record
}

pub fn with_attribute(name: &str, value: &str, mut record: Value) -> Value {
    record["messageAttributes"][name] = json!({
        "stringValue": value,
        "stringListValues": [],
        "binaryListValues": [],
        "dataType": "String",
    });
    record
}

pub fn event(records: impl IntoIterator<Item = Value>) -> Event {
    let records: Vec<_> = records.into_iter().collect();
    Event::try_from(json!({ "Records": records })).expect("an SQS event")
}

/// Tasks of a standard queue.
pub fn tasks(tasks: &[(&str, &str)]) -> Event {
    event(
        tasks
            .iter()
            .map(|(name, what)| record("orders", name, &does(name, what))),
    )
}

/// Tasks of a FIFO queue; the first letter of the name is the group.
pub fn fifo_tasks(tasks: &[(&str, &str)]) -> Event {
    event(
        tasks.iter().map(|(name, what)| {
            in_group(&name[..1], record("orders.fifo", name, &does(name, what)))
        }),
    )
}

/// The ids that the answer to an event lists.
pub async fn failures(consumer: &LambdaConsumer, event: Event) -> Vec<String> {
    failures_within(consumer, event, None).await
}

pub async fn failures_within(
    consumer: &LambdaConsumer,
    event: Event,
    time: Option<Duration>,
) -> Vec<String> {
    let answer = consumer.invoke(event, Invocation::new("req-1", time)).await;
    let failures = answer.batch_item_failures.into_iter();
    failures.map(|failure| failure.item_identifier).collect()
}

/// Messages that are on a queue of the embedded SQS.
pub struct Bench {
    pub sqs: LocalSqs,
    pub lab: Lab,
    pub queue: String,
}

impl Bench {
    pub fn new() -> Self {
        Self::named("orders", &[("VisibilityTimeout", "43000")])
    }

    pub fn fifo() -> Self {
        Self::named(
            "orders.fifo",
            &[("FifoQueue", "true"), ("VisibilityTimeout", "43000")],
        )
    }

    fn named(queue: &str, attributes: &[(&str, &str)]) -> Self {
        let sqs = LocalSqs::builder().record_requests(true).build();
        sqs.create_queue_with(queue, attributes.iter().copied())
            .unwrap();
        let dlq = babelqueue::policy::dead_letter_name(queue, None).unwrap();
        let fifo = queue.ends_with(".fifo").then_some(("FifoQueue", "true"));
        sqs.create_queue_with(&dlq, fifo).unwrap();
        Self {
            sqs,
            lab: Lab::default(),
            queue: queue.to_owned(),
        }
    }

    pub fn consumer(&self) -> LambdaConsumerBuilder<impl Routes<Lab>, Lab> {
        consumer(&self.lab).client(self.sqs.client())
    }

    pub fn put(&self, name: &str, what: &str) {
        self.put_raw(RawMessage::new(does(name, what)));
    }

    pub fn put_raw(&self, message: RawMessage) {
        let message = if self.queue.ends_with(".fifo") {
            let group = message.group_id("g");
            group.deduplication_id(format!("d-{}", fastrand::u64(..)))
        } else {
            message
        };
        self.sqs.inject_raw(&self.queue, message);
    }

    /// Receives all that is visible, as an event source mapping does. The records' order is that
    /// of the queue.
    pub async fn receive(&self) -> Event {
        self.receive_as(&self.sqs.queue_arn(&self.queue)).await
    }

    pub async fn receive_as(&self, arn: &str) -> Event {
        let mut records = Vec::new();
        loop {
            let answer = self
                .sqs
                .client()
                .receive_message()
                .queue_url(self.sqs.queue_url(&self.queue))
                .max_number_of_messages(10)
                .message_system_attribute_names("All".into())
                .message_attribute_names("All")
                .send()
                .await
                .unwrap();
            let messages = answer.messages.unwrap_or_default();
            if messages.is_empty() {
                self.sqs.clear_calls();
                return event(records);
            }
            for message in messages {
                let mut record = record(&self.queue, "", message.body().unwrap());
                record["messageId"] = json!(message.message_id().unwrap());
                record["receiptHandle"] = json!(message.receipt_handle().unwrap());
                record["eventSourceARN"] = json!(arn);
                for (name, value) in message.attributes().into_iter().flatten() {
                    record["attributes"][name.as_str()] = json!(value);
                }
                records.push(record);
            }
        }
    }

    /// The visibility timeouts that were asked for, in the order of the calls' ends.
    pub fn changes(&self) -> Vec<i64> {
        use babelqueue::local::Operation;
        let calls = self.sqs.calls();
        let calls = calls.of(Operation::ChangeMessageVisibilityBatch);
        let entries = calls.flat_map(|call| {
            let request: Value = serde_json::from_str(call.request.as_deref().unwrap()).unwrap();
            request["Entries"].as_array().unwrap().clone()
        });
        entries
            .map(|entry| entry["VisibilityTimeout"].as_i64().unwrap())
            .collect()
    }
}
