//! The names of the fields of this crate's `tracing` events and spans: dashboards and alerts rely
//! on them, so they are kept stable and in one place. No field ever holds a body.
//!
//! Every message that a handler has runs in the span `process`, with [`URN`], [`HANDLER`],
//! [`QUEUE`], [`MESSAGE_ID`], [`TRACE_ID`] and [`ATTEMPTS`], so that whatever a handler logs
//! carries them. Every failure is one event of level `ERROR`, "message error", with [`KIND`],
//! [`QUEUE`], [`MESSAGE_ID`], [`RECEIVE_COUNT`], [`URN`], [`TRACE_ID`], [`ATTEMPTS`],
//! [`SETTLEMENT`], sometimes [`CODE`], and [`ERROR`], whose text is cut to 1,024 bytes and goes
//! through the consumer's `redact` hook.

/// Name of the queue.
pub const QUEUE: &str = "queue";
/// URL of the queue.
pub const QUEUE_URL: &str = "queue_url";
/// The URN of the message.
pub const URN: &str = "urn";
/// Name of the handler's fn.
pub const HANDLER: &str = "handler";
/// `MessageId` as SQS assigned it.
pub const MESSAGE_ID: &str = "message_id";
/// `meta.id` of the envelope: what consumers deduplicate on.
pub const ID: &str = "id";
/// The trace id of the envelope.
pub const TRACE_ID: &str = "trace_id";
/// How often the message was tried before this delivery (SPEC §2.9).
pub const ATTEMPTS: &str = "attempts";
/// `ApproximateReceiveCount`, this delivery included.
pub const RECEIVE_COUNT: &str = "receive_count";
/// What a failure is about: [`ReportKind::as_str`](crate::ReportKind::as_str).
pub const KIND: &str = "kind";
/// What becomes of the message: `delete`, `release`, `dead_letter` or `leave`.
pub const SETTLEMENT: &str = "settlement";
/// The text of an error and its causes.
pub const ERROR: &str = "error";
/// The code of an error that has one: `S3_ERROR` for a large message that cannot be read.
pub const CODE: &str = "code";
/// The request id of the Lambda invocation.
pub const REQUEST_ID: &str = "request_id";
/// How many messages; in the warning that delays could not be set, which of them.
pub const MESSAGES: &str = "messages";
/// The ending of a message that its handler did not have again.
pub const ENDING: &str = "ending";
/// The unknown-URN strategy in force.
pub const STRATEGY: &str = "strategy";
/// A delay, in seconds.
pub const SECONDS: &str = "seconds";
/// How many handlers run.
pub const RUNNING: &str = "running";
/// The call of SQS, as SQS names it.
pub const OPERATION: &str = "operation";
/// Name of a message attribute.
pub const HEADER: &str = "header";
/// Where in an envelope, as a JSON pointer.
pub const POINTER: &str = "pointer";
/// Where the object of a large message is.
pub const LOCATION: &str = "location";
/// The ARN of a queue, as the event has it.
pub const ARN: &str = "arn";
/// The X-Ray trace of the Lambda invocation.
pub const XRAY_TRACE_ID: &str = "xray_trace_id";
/// How many records the Lambda event has.
pub const RECORDS: &str = "records";
/// How many delays of failed messages were set.
pub const APPLIED: &str = "applied";
/// How many delays could not be set.
pub const FAILURES: &str = "failures";
/// How many more there are of what is listed.
pub const OMITTED: &str = "omitted";
/// The smallest attempt among the delays that were set.
pub const MIN_ATTEMPT: &str = "min_attempt";
/// The largest attempt among them.
pub const MAX_ATTEMPT: &str = "max_attempt";
/// The shortest of these delays, in seconds.
pub const MIN_DELAY: &str = "min_delay";
/// The longest of them, in seconds.
pub const MAX_DELAY: &str = "max_delay";

/// All of them.
pub const ALL: [&str; 33] = [
    QUEUE,
    QUEUE_URL,
    URN,
    HANDLER,
    MESSAGE_ID,
    ID,
    TRACE_ID,
    ATTEMPTS,
    RECEIVE_COUNT,
    KIND,
    SETTLEMENT,
    ERROR,
    CODE,
    REQUEST_ID,
    MESSAGES,
    ENDING,
    STRATEGY,
    SECONDS,
    RUNNING,
    OPERATION,
    HEADER,
    POINTER,
    LOCATION,
    ARN,
    XRAY_TRACE_ID,
    RECORDS,
    APPLIED,
    FAILURES,
    OMITTED,
    MIN_ATTEMPT,
    MAX_ATTEMPT,
    MIN_DELAY,
    MAX_DELAY,
];
