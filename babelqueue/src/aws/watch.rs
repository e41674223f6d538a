//! Tells telemetry of every call of SQS, from inside of the SDK: one place for all of them.

use std::error::Error as StdError;

use aws_sdk_sqs::config::interceptors::{
    BeforeSerializationInterceptorContextRef, FinalizerInterceptorContextRef,
};
use aws_sdk_sqs::config::{ConfigBag, Intercept, RuntimeComponents, SharedInterceptor};
use aws_sdk_sqs::error::ProvideErrorMetadata;
use aws_sdk_sqs::operation::{
    change_message_visibility::ChangeMessageVisibilityError,
    change_message_visibility_batch::ChangeMessageVisibilityBatchError,
    delete_message::DeleteMessageError,
    delete_message_batch::DeleteMessageBatchError,
    get_queue_attributes::GetQueueAttributesError,
    get_queue_url::GetQueueUrlError,
    receive_message::{ReceiveMessageError, ReceiveMessageOutput},
    send_message::SendMessageError,
    send_message_batch::{SendMessageBatchError, SendMessageBatchInput},
};
use aws_sdk_sqs::types::{Message, SendMessageBatchRequestEntry};
use aws_smithy_runtime_api::client::interceptors::context::Error;
use aws_smithy_runtime_api::client::orchestrator::{Metadata, OrchestratorError};
use aws_smithy_types::config_bag::{Storable, StoreReplace};
use tokio::time::Instant;

use crate::BoxError;
use crate::telemetry::{Call, Observer};

/// Adds the watch to a client's configuration, if anybody wants to know.
pub(super) fn watched(
    mut config: aws_sdk_sqs::config::Builder,
    observer: &Observer,
) -> aws_sdk_sqs::config::Builder {
    if !observer.is_on() {
        return config;
    }
    // Nobody can name it to disable it: the SDK need not look for that.
    config.push_interceptor(SharedInterceptor::permanent(Watch(observer.clone())));
    config
}

#[derive(Debug)]
struct Watch(Observer);

/// When the call began, its retries included, and the `traceparent` of each message that it sends
/// in a batch.
#[derive(Debug)]
struct Begun {
    at: Instant,
    sent: Vec<Option<String>>,
}

impl Storable for Begun {
    type Storer = StoreReplace<Self>;
}

impl Intercept for Watch {
    fn name(&self) -> &'static str {
        "babelqueue"
    }

    fn read_before_execution(
        &self,
        context: &BeforeSerializationInterceptorContextRef<'_>,
        bag: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let batch = context.input().downcast_ref::<SendMessageBatchInput>();
        let entries = batch
            .filter(|_| self.0.has_spans_of_calls())
            .map(SendMessageBatchInput::entries)
            .unwrap_or_default();
        let begun = Begun {
            at: Instant::now(),
            sent: entries.iter().map(traceparent_of).collect(),
        };
        bag.interceptor_state().store_put(begun);
        Ok(())
    }

    fn read_after_execution(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        bag: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let (Some(begun), Some(metadata)) = (bag.load::<Begun>(), bag.load::<Metadata>()) else {
            return Ok(());
        };
        let mut error: Option<(_, &(dyn StdError + 'static))> = None;
        let mut messages: Vec<_> = begun
            .sent
            .iter()
            .map(|sent| [sent.as_deref(), None])
            .collect();
        match context.output_or_error() {
            Some(Ok(output)) => {
                if self.0.has_spans_of_calls()
                    && let Some(output) = output.downcast_ref::<ReceiveMessageOutput>()
                {
                    messages = output.messages().iter().map(trace_of).collect();
                }
            }
            Some(Err(failed)) => error = Some((kind_of(failed), failed)),
            None => {}
        }
        self.0.called(&Call {
            operation: metadata.name(),
            took: begun.at.elapsed(),
            error,
            messages,
        });
        Ok(())
    }
}

fn traceparent_of(entry: &SendMessageBatchRequestEntry) -> Option<String> {
    let attribute = entry.message_attributes()?.get("traceparent")?;
    attribute.string_value().map(str::to_owned)
}

/// Its attributes that name its trace: `traceparent` and `bq-trace-id`.
fn trace_of(message: &Message) -> [Option<&str>; 2] {
    ["traceparent", "bq-trace-id"].map(|name| {
        let attribute = message.message_attributes()?.get(name)?;
        attribute.string_value()
    })
}

/// The error's code, if SQS gave one; else where the call failed.
fn kind_of(error: &OrchestratorError<Error>) -> &str {
    if let Some(error) = error.as_operation_error() {
        return code_of(error).unwrap_or("service");
    }
    if error.is_timeout_error() {
        "timeout"
    } else if error.is_connector_error() {
        "connection"
    } else if error.is_response_error() {
        "response"
    } else {
        "request"
    }
}

fn code_of(error: &Error) -> Option<&str> {
    macro_rules! first_of {
        ($($operation:ty)*) => {
            $(if let Some(error) = error.downcast_ref::<$operation>() {
                return error.code();
            })*
        };
    }
    first_of![
        ReceiveMessageError
        DeleteMessageBatchError
        DeleteMessageError
        ChangeMessageVisibilityBatchError
        ChangeMessageVisibilityError
        SendMessageError
        SendMessageBatchError
        GetQueueAttributesError
        GetQueueUrlError
    ];
    None
}
