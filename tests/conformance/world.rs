//! An embedded SQS with one queue and its dead-letter queue, a consumer whose handler takes every
//! URN, and a log of what reached it.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use aws_sdk_sqs::Client;
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::context::BeforeDeserializationInterceptorContextMut;
use aws_smithy_runtime_api::client::interceptors::{Intercept, dyn_dispatch_hint};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::config_bag::ConfigBag;
use babelqueue::envelope::trace_context::RemoteParent;
use babelqueue::local::{LocalSqs, MessageSnapshot, Operation, RawMessage};
use babelqueue::policy::dead_letter_name;
use babelqueue::prelude::*;
use babelqueue::sqs::{PollSummary, SqsConsumerBuilder};
use babelqueue::{Delivery, ErrorEvent, ReportKind};
use serde_json::Value;

/// What the handler was given.
#[derive(Clone, Debug)]
pub struct Handled {
    pub urn: String,
    pub data: String,
    pub attempts: u64,
    pub parent: RemoteParent,
}

/// What happened, and what the handler shall answer.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Seen>>);

#[derive(Default)]
pub struct Seen {
    pub handled: Vec<Handled>,
    pub reports: Vec<ReportKind>,
    pub hooked: usize,
    pub answer: Answer,
}

#[derive(Clone, Copy, Debug, Default)]
pub enum Answer {
    #[default]
    Done,
    Fail,
    GiveUp,
    RetryAfter(Duration),
}

impl Log {
    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().expect("nobody panics while holding it")
    }
}

#[babel_handler(fallback)]
async fn any(
    envelope: &Envelope,
    ctx: &Context,
    State(log): State<Log>,
) -> Result<Outcome, HandlerError> {
    let mut seen = log.seen();
    seen.handled.push(Handled {
        urn: envelope.urn().to_owned(),
        data: envelope.data_json().unwrap_or_default().to_owned(),
        attempts: ctx.attempts(),
        parent: ctx.remote_parent(),
    });
    match seen.answer {
        Answer::Done => Ok(Outcome::Done),
        Answer::Fail => Err(HandlerError::new("told to fail")),
        Answer::GiveUp => Err(HandlerError::permanent("told to give up")),
        Answer::RetryAfter(delay) => Ok(Outcome::retry_after(delay)),
    }
}

pub struct World {
    pub sqs: LocalSqs,
    pub queue: String,
    pub dead: String,
    pub log: Log,
}

impl World {
    /// With the queue `orders`.
    pub fn new() -> Self {
        Self::with_queue("orders")
    }

    pub fn with_queue(name: &str) -> Self {
        let sqs = LocalSqs::builder()
            .record_requests(true)
            .purge_rest(Duration::ZERO)
            .build();
        Self {
            queue: sqs.create_queue(name),
            dead: sqs.create_queue(&dead_letter_name(name, None).expect("a legal name")),
            log: Log::default(),
            sqs,
        }
    }

    /// Puts a message on the queue, whatever SQS may say of it.
    pub fn put(&self, message: RawMessage) {
        self.sqs.inject_raw(&self.queue, message);
    }

    /// A consumer whose handler takes every URN.
    pub fn consumer(&self) -> SqsConsumerBuilder<impl Routes<Log> + use<>, Log> {
        self.consumer_of(self.sqs.client())
    }

    /// The same with another client of the same queues.
    pub fn consumer_of(&self, client: Client) -> SqsConsumerBuilder<impl Routes<Log> + use<>, Log> {
        let router = Router::from_handlers![any];
        self.settings(SqsConsumer::builder(client, &self.queue, router))
    }

    /// One without handlers, whose unknown-URN hook counts.
    pub fn hook_only(&self) -> SqsConsumerBuilder<impl Routes<Log> + use<>, Log> {
        let router = Router::from_handlers![];
        let log = self.log.clone();
        self.settings(SqsConsumer::builder(self.sqs.client(), &self.queue, router))
            .on_unknown_urn(move |_: Delivery| {
                log.seen().hooked += 1;
                std::future::ready(Ok::<_, HandlerError>(()))
            })
    }

    fn settings<R>(&self, builder: SqsConsumerBuilder<R>) -> SqsConsumerBuilder<R, Log> {
        let log = self.log.clone();
        builder
            .state(self.log.clone())
            .wait_time(Duration::ZERO)
            .startup_checks(false)
            .on_error(move |event: &ErrorEvent<'_>| log.seen().reports.push(event.kind))
    }

    /// Puts a message there and lets the consumer have it, with a dead-letter queue.
    pub async fn deliver(&self, message: RawMessage) -> Result<PollSummary, String> {
        self.put(message);
        let consumer = self
            .consumer()
            .dead_letter_queue(DeadLetterQueue::default_name());
        let consumer = consumer.build().map_err(|error| error.to_string())?;
        consumer.poll().await.map_err(|error| error.to_string())
    }

    pub fn handled(&self) -> Vec<Handled> {
        self.log.seen().handled.clone()
    }

    pub fn reports(&self) -> Vec<ReportKind> {
        self.log.seen().reports.clone()
    }

    /// Everything on a queue, wherever it stands.
    pub fn on(&self, queue: &str) -> Vec<MessageSnapshot> {
        let snapshot = self.sqs.snapshot(queue);
        [snapshot.visible, snapshot.in_flight, snapshot.delayed].concat()
    }

    /// The only message on a queue.
    pub fn only(&self, queue: &str) -> Result<MessageSnapshot, String> {
        match <[_; 1]>::try_from(self.on(queue)) {
            Ok([message]) => Ok(message),
            Err(all) => Err(format!("{} messages on {queue}", all.len())),
        }
    }

    /// The requests of one operation, as JSON.
    pub fn requests(&self, operation: Operation) -> Vec<Value> {
        let calls = self.sqs.calls();
        let requests = calls
            .of(operation)
            .filter_map(|call| call.request.as_deref());
        requests
            .filter_map(|text| serde_json::from_str(text).ok())
            .collect()
    }

    pub fn count(&self, operation: Operation) -> u64 {
        self.sqs.calls().count(operation)
    }
}

/// Puts another receive count into what SQS answers, or takes it away: the embedded SQS counts
/// correctly, and there is no other way to have a wrong one from the real client.
#[derive(Debug)]
pub struct ReceiveCount(pub Option<String>);

#[dyn_dispatch_hint]
impl Intercept for ReceiveCount {
    fn name(&self) -> &'static str {
        "ReceiveCount"
    }

    fn modify_before_deserialization(
        &self,
        context: &mut BeforeDeserializationInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let body = context.response_mut().body_mut();
        let bytes = body.bytes().ok_or("the answer is no plain body")?;
        let mut answer: Value = serde_json::from_slice(bytes)?;
        for message in answer["Messages"].as_array_mut().into_iter().flatten() {
            let attributes = message["Attributes"]
                .as_object_mut()
                .ok_or("no attributes")?;
            attributes
                .remove("ApproximateReceiveCount")
                .ok_or("no receive count")?;
            if let Some(count) = &self.0 {
                attributes.insert("ApproximateReceiveCount".to_owned(), count.clone().into());
            }
        }
        *body = SdkBody::from(serde_json::to_vec(&answer)?);
        Ok(())
    }
}
