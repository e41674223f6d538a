//! The names of spans, attributes and events: one place for all that dashboards rely on.

/// `messaging.system` of the family's spans.
pub(super) const FAMILY_SYSTEM: &str = "babelqueue";
/// `messaging.system` of OpenTelemetry's conventions.
pub(super) const SQS_SYSTEM: &str = "aws_sqs";

pub(super) const SYSTEM: &str = "messaging.system";
pub(super) const OPERATION: &str = "messaging.operation";
pub(super) const OPERATION_TYPE: &str = "messaging.operation.type";
pub(super) const OPERATION_NAME: &str = "messaging.operation.name";
pub(super) const DESTINATION: &str = "messaging.destination.name";
pub(super) const MESSAGE_ID: &str = "messaging.message.id";
pub(super) const CONVERSATION_ID: &str = "messaging.message.conversation_id";
pub(super) const ATTEMPTS: &str = "messaging.babelqueue.attempts";
pub(super) const BATCH_COUNT: &str = "messaging.batch.message_count";
pub(super) const ERROR_TYPE: &str = "error.type";

/// Of the invocation of a function.
#[cfg(feature = "lambda")]
pub(super) const INVOCATION_ID: &str = "faas.invocation_id";
#[cfg(feature = "lambda")]
pub(super) const TRIGGER: &str = "faas.trigger";

/// The URN, where the span's name does not say it, and of every metric by URN.
pub(super) const URN: &str = "babelqueue.urn";
/// What became of a message.
pub(super) const OUTCOME: &str = "babelqueue.outcome";

/// The event of a failure, and its attributes.
pub(super) const EXCEPTION: &str = "exception";
pub(super) const EXCEPTION_TYPE: &str = "exception.type";
pub(super) const EXCEPTION_MESSAGE: &str = "exception.message";
