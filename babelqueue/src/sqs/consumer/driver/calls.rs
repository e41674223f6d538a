//! The SQS calls of the loop, each a boxed future that ends in a value: the SDK's own futures are
//! large, and are boxed once per call. A panic inside of the client, whose credentials and
//! interceptors are the user's code, is an error of the call.

use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use aws_sdk_sqs::error::BuildError as SdkBuildError;
use aws_sdk_sqs::types::{
    BatchResultErrorEntry, ChangeMessageVisibilityBatchRequestEntry,
    DeleteMessageBatchRequestEntry, Message, MessageSystemAttributeName,
};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::flights::Key;
use crate::aws::calls::bury;
use crate::panics::fenced_async;
use crate::pipeline::{DeadLetterMessage, Record};
use crate::sqs::consumer::error::{RunError, SettleError};
use crate::sqs::consumer::facts::QueueFacts;
use crate::sqs::consumer::shared::Shared;
use crate::sqs::convert::{record, sort_answer, without_handle};
use crate::{BoxError, BoxFuture};

/// What an entry of a batch came to.
pub(super) type EntryResult = Result<(), SettleError>;

/// The answer of one long poll.
pub(super) struct Received {
    pub(super) asked: usize,
    pub(super) result: Result<Vec<Arrival>, ReceiveError>,
}

/// A received message.
pub(super) struct Arrival {
    pub(super) receipt_handle: Option<String>,
    pub(super) record: Box<Record>,
}

impl Arrival {
    fn of(mut message: Message) -> Self {
        let handle = message.receipt_handle.take();
        Self {
            receipt_handle: handle.filter(|handle| !handle.is_empty()),
            record: Box::new(record(message)),
        }
    }
}

/// A call under way, as a task of its own: its answer is read on the thread that it comes in on,
/// beside the loop, and not on the loop's. Dropping it cancels the call. Ends with `None` when it
/// was cancelled before it had its answer.
#[derive(Debug)]
pub(super) struct Call<T>(JoinHandle<T>);

impl<T: Send + 'static> Call<T> {
    pub(super) fn start(call: impl Future<Output = T> + Send + 'static) -> Self {
        Self(tokio::spawn(call))
    }
}

impl<T> Call<T> {
    /// Cancels it, unless its answer has come already. It ends when nothing is left of it.
    pub(super) fn cancel(&self) {
        self.0.abort();
    }
}

impl<T> Future for Call<T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        Poll::Ready(match ready!(Pin::new(&mut self.0).poll(cx)) {
            Ok(answer) => Some(answer),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                Err(_) => None,
            },
        })
    }
}

impl<T> Drop for Call<T> {
    fn drop(&mut self) {
        self.cancel();
    }
}

pub(super) struct ReceiveError {
    pub(super) queue_is_missing: bool,
    pub(super) source: BoxError,
}

/// The end of any other call.
pub(super) enum Done {
    Deleted(Vec<(Key, EntryResult)>),
    Released(Vec<(Key, EntryResult)>),
    Beaten(Beaten),
    Sent(Key, Result<(), BoxError>),
    Facts(Result<Option<QueueFacts>, RunError>),
}

/// What a heartbeat came to.
pub(super) struct Beaten {
    /// When its calls were made.
    pub(super) at: Instant,
    pub(super) results: Vec<(Key, EntryResult)>,
    /// Messages whose claims were lost to somebody else.
    pub(super) lost: Vec<Key>,
}

/// One entry of a visibility call.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) key: Key,
    pub(super) receipt_handle: String,
    pub(super) seconds: i32,
}

/// One poll of so many messages at most that waits so many seconds (SPEC §2.6).
pub(super) fn receive(
    shared: Arc<Shared>,
    asked: usize,
    wait_seconds: i32,
) -> BoxFuture<'static, Received> {
    Box::pin(async move {
        let config = &shared.config;
        let names = [
            MessageSystemAttributeName::ApproximateReceiveCount,
            MessageSystemAttributeName::MessageGroupId,
            MessageSystemAttributeName::SentTimestamp,
            MessageSystemAttributeName::ApproximateFirstReceiveTimestamp,
        ];
        let call = shared
            .clients
            .receive
            .receive_message()
            .queue_url(&config.queue_url)
            .max_number_of_messages(i32::try_from(asked).unwrap_or(1))
            .wait_time_seconds(wait_seconds)
            .set_visibility_timeout(config.visibility_seconds)
            .set_message_system_attribute_names(Some(names.into()))
            .message_attribute_names("All")
            .send();
        let result = match fenced_async(call).await {
            Ok(Ok(answer)) => {
                let messages = answer.messages.unwrap_or_default();
                Ok(messages.into_iter().map(Arrival::of).collect())
            }
            Err(panicked) => Err(ReceiveError {
                queue_is_missing: false,
                source: panicked.into(),
            }),
            Ok(Err(error)) => Err(ReceiveError {
                queue_is_missing: error
                    .as_service_error()
                    .is_some_and(|error| error.is_queue_does_not_exist()),
                source: error.into(),
            }),
        };
        Received { asked, result }
    })
}

/// Deletes up to ten messages by one call.
pub(super) fn delete(shared: Arc<Shared>, entries: Vec<(Key, String)>) -> BoxFuture<'static, Done> {
    const OPERATION: &str = "DeleteMessageBatch";
    Box::pin(async move {
        let (keys, handles): (Vec<_>, Vec<_>) = entries.into_iter().unzip();
        let entry = |(position, handle): (usize, String)| {
            // Positions, not message ids: one message may stand in a batch twice.
            let entry = DeleteMessageBatchRequestEntry::builder().id(position.to_string());
            entry.receipt_handle(handle).build()
        };
        let entries: Result<Vec<_>, _> = handles.into_iter().enumerate().map(entry).collect();
        let results = match entries {
            Err(error) => all_failed(OPERATION, keys.len(), error.into()),
            Ok(entries) => {
                let call = shared.clients.settle.delete_message_batch();
                let call = call
                    .queue_url(&shared.config.queue_url)
                    .set_entries(Some(entries));
                match answer(call.send()).await {
                    Ok(answer) => {
                        let ids = answer.successful().iter().map(|entry| entry.id.as_str());
                        entry_results(OPERATION, keys.len(), ids, answer.failed())
                    }
                    Err(error) => all_failed(OPERATION, keys.len(), error),
                }
            }
        };
        Done::Deleted(keys.into_iter().zip(results).collect())
    })
}

/// Changes the visibility of as many messages as one call takes.
pub(super) async fn change_visibility(
    shared: Arc<Shared>,
    changes: Vec<Change>,
) -> Vec<(Key, EntryResult)> {
    const OPERATION: &str = "ChangeMessageVisibilityBatch";
    let entry = |(position, change): (usize, &Change)| {
        ChangeMessageVisibilityBatchRequestEntry::builder()
            .id(position.to_string())
            .receipt_handle(&change.receipt_handle)
            .visibility_timeout(change.seconds)
            .build()
    };
    let entries: Result<Vec<_>, SdkBuildError> = changes.iter().enumerate().map(entry).collect();
    let results = match entries {
        Err(error) => all_failed(OPERATION, changes.len(), error.into()),
        Ok(entries) => {
            shared.counters().visibility_calls.one();
            let call = shared.clients.settle.change_message_visibility_batch();
            let call = call
                .queue_url(&shared.config.queue_url)
                .set_entries(Some(entries));
            match answer(call.send()).await {
                Ok(answer) => {
                    let ids = answer.successful().iter().map(|entry| entry.id.as_str());
                    entry_results(OPERATION, changes.len(), ids, answer.failed())
                }
                Err(error) => all_failed(OPERATION, changes.len(), error),
            }
        }
    };
    changes
        .iter()
        .map(|change| change.key)
        .zip(results)
        .collect()
}

/// Sends a copy to the dead-letter queue.
pub(super) fn send(
    shared: Arc<Shared>,
    key: Key,
    message: DeadLetterMessage,
) -> BoxFuture<'static, Done> {
    Box::pin(async move {
        let url = shared.config.dead_letter_url.clone();
        Done::Sent(
            key,
            answer(bury(&shared.clients.settle, url, message)).await,
        )
    })
}

/// The answer of a call. What the user has put into the client may panic: then the call has failed.
async fn answer<T, E: Into<BoxError>>(
    call: impl Future<Output = Result<T, E>>,
) -> Result<T, BoxError> {
    match fenced_async(call).await {
        Ok(answer) => answer.map_err(Into::into),
        Err(panicked) => Err(panicked.into()),
    }
}

/// What the answer of a batch call says of each entry.
fn entry_results<'a>(
    operation: &'static str,
    entries: usize,
    successful: impl Iterator<Item = &'a str>,
    failed: &[BatchResultErrorEntry],
) -> Vec<EntryResult> {
    let refused = |entry: &BatchResultErrorEntry| SettleError::Refused {
        operation,
        code: entry.code.clone(),
        message: without_handle(entry.message.as_deref().unwrap_or_default()),
        sender_fault: entry.sender_fault,
    };
    let failed = failed
        .iter()
        .map(|entry| (entry.id.as_str(), Err(refused(entry))));
    let answer = successful.map(|id| (id, Ok(()))).chain(failed);
    sort_answer(operation, entries, answer, || {
        Err(SettleError::NoResult { operation })
    })
}

fn all_failed(operation: &'static str, entries: usize, error: BoxError) -> Vec<EntryResult> {
    let source: Arc<dyn std::error::Error + Send + Sync> = error.into();
    let failed = |_| {
        Err(SettleError::Call {
            operation,
            source: Arc::clone(&source),
        })
    };
    (0..entries).map(failed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_046_a_list_is_missing_from_a_batch_answer() {
        let failed = |id: &str, sender_fault| {
            let entry = BatchResultErrorEntry::builder()
                .id(id)
                .code("InternalError");
            entry.sender_fault(sender_fault).build().expect("complete")
        };
        let outcome = |results: Vec<EntryResult>| {
            let letter = |result| match result {
                Ok(()) => 'o',
                Err(SettleError::Refused {
                    sender_fault: true, ..
                }) => 's',
                Err(SettleError::Refused { .. }) => 'f',
                Err(_) => '?',
            };
            results.into_iter().map(letter).collect::<String>()
        };
        let results = entry_results("x", 3, ["0", "2"].into_iter(), &[]);
        assert_eq!(outcome(results), "o?o");
        let results = entry_results("x", 3, [].into_iter(), &[failed("1", true)]);
        assert_eq!(outcome(results), "?s?");
        assert_eq!(outcome(entry_results("x", 2, [].into_iter(), &[])), "??");
        // Ids that were never sent are no entries.
        let odd = ["9", "x", "-1", "0"].into_iter();
        assert_eq!(
            outcome(entry_results("x", 2, odd, &[failed("1", false)])),
            "of"
        );
    }
}
