//! Brings the delays of failed messages to SQS, and says what came of it (SPEC §4.7). Nothing here
//! can block or change the answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aws_sdk_sqs::error::ProvideErrorMetadata as _;
use aws_sdk_sqs::types::{BatchResultErrorEntry, ChangeMessageVisibilityBatchRequestEntry};
use futures_util::StreamExt as _;
use futures_util::stream;

use super::queues::{Place, Source};
use crate::aws::convert::{batches, sort_answer, without_handle};
use crate::fields;
use crate::telemetry::{Handled, Settled};

const OPERATION: &str = "ChangeMessageVisibilityBatch";

/// Most calls at a time.
const CALLS: usize = 10;

/// How many failures one warning names.
const NAMED: usize = 5;

/// One failed message with its delay.
pub(super) struct Change {
    pub(super) source: Arc<Source>,
    pub(super) handled: Handled,
    pub(super) message_id: String,
    pub(super) receipt_handle: String,
    pub(super) seconds: i32,
    pub(super) attempt: u64,
}

/// A message whose delay could not be set.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    pub(super) message_id: String,
    pub(super) code: String,
    pub(super) message: Option<String>,
}

impl Refused {
    pub(super) fn new(message_id: &str, code: &str) -> Self {
        Self {
            message_id: message_id.to_owned(),
            code: code.to_owned(),
            message: None,
        }
    }
}

/// Applies the changes, ten by ten of one queue. `denied` outlives the invocation: when SQS denies
/// access, no other call is made in this container.
pub(super) async fn apply(changes: Vec<Change>, mut refused: Vec<Refused>, denied: &AtomicBool) {
    let mut by_source: Vec<(Arc<Source>, Vec<Change>)> = Vec::new();
    for change in changes {
        match by_source
            .iter_mut()
            .find(|(source, _)| Arc::ptr_eq(source, &change.source))
        {
            Some((_, changes)) => changes.push(change),
            None => by_source.push((Arc::clone(&change.source), vec![change])),
        }
    }
    let mut calls = Vec::new();
    for (source, changes) in &mut by_source {
        let changes = std::mem::take(changes);
        let Some(place) = source.place().await else {
            let refuse =
                |change: &Change| Refused::new(&change.message_id, "InvalidEventSourceARN");
            refused.extend(changes.iter().map(refuse));
            source.counters.left.add(changes.len());
            continue;
        };
        calls.extend(batches(changes).map(|batch| call(place, batch, denied)));
    }
    let mut applied = Vec::new();
    let mut results = stream::iter(calls).buffer_unordered(CALLS);
    while let Some(result) = results.next().await {
        applied.extend(result.applied);
        refused.extend(result.refused);
    }
    tell(&applied, &refused);
}

#[derive(Default)]
struct Applied {
    applied: Vec<(u64, i32)>,
    refused: Vec<Refused>,
}

/// Code and text of a refusal.
type Refusal = (String, Option<String>);

async fn call(place: &Place, changes: Vec<Change>, denied: &AtomicBool) -> Applied {
    let results = if denied.load(Ordering::Relaxed) {
        vec![Err(("AccessDenied".to_owned(), None)); changes.len()]
    } else {
        send(place, &changes).await
    };
    let mut result = Applied::default();
    for (change, entry) in changes.into_iter().zip(results) {
        let counters = &change.source.counters;
        match entry {
            Ok(()) => {
                counters.released.one();
                result.applied.push((change.attempt, change.seconds));
            }
            Err((code, message)) => {
                counters.left.one();
                result.refused.push(Refused {
                    message_id: change.message_id,
                    code,
                    message,
                });
            }
        }
    }
    let is_denial = |code: &str| matches!(code, "AccessDenied" | "AccessDeniedException");
    let first_denial = result
        .refused
        .iter()
        .any(|refused| is_denial(&refused.code))
        && !denied.swap(true, Ordering::Relaxed);
    if first_denial {
        tracing::error!(
            "SQS denies sqs:ChangeMessageVisibility: failed messages come again after the queue's \
             visibility timeout, and no other change is tried in this container. Give the \
             function's role the permission."
        );
    }
    result
}

async fn send(place: &Place, changes: &[Change]) -> Vec<Result<(), Refusal>> {
    let entry = |(position, change): (usize, &Change)| {
        let entry = ChangeMessageVisibilityBatchRequestEntry::builder().id(position.to_string());
        let entry = entry.receipt_handle(&change.receipt_handle);
        entry.visibility_timeout(change.seconds).build().ok()
    };
    let entries = changes.iter().enumerate().filter_map(entry).collect();
    let settled = Settled::of(changes.iter().map(|change| &change.handled));
    match settled.scope(place.change(entries)).await {
        Err(error) => {
            let code = error.code().unwrap_or("CallFailed").to_owned();
            let message = crate::pipeline::error_text(&error);
            vec![Err((code, Some(message))); changes.len()]
        }
        Ok(answer) => {
            let failed = answer.failed.into_iter();
            let refusal = |entry: BatchResultErrorEntry| {
                let message = entry.message.as_deref().map(without_handle);
                (entry.id, Err((entry.code, message)))
            };
            let failed = failed.map(refusal);
            let successful = answer.successful.into_iter();
            let successful = successful.map(|entry| (entry.id, Ok(())));
            sort_answer(OPERATION, changes.len(), failed.chain(successful), || {
                Err(("NoResult".to_owned(), None))
            })
        }
    }
}

fn tell(applied: &[(u64, i32)], refused: &[Refused]) {
    let denied = |refused: &&Refused| !refused.code.starts_with("AccessDenied");
    let others: Vec<_> = refused.iter().filter(denied).collect();
    if !others.is_empty() {
        let named = others.iter().take(NAMED).map(|refused| {
            let message = refused.message.as_deref().unwrap_or_default();
            format!("{} {} {message}", refused.message_id, refused.code)
        });
        let named = named.collect::<Vec<_>>();
        tracing::warn!(
            { fields::MESSAGES } = named.join("; "),
            { fields::OMITTED } = others.len() - named.len(),
            "the retry backoff of some messages could not be set; they come again after the \
             queue's visibility timeout"
        );
    }
    if applied.is_empty() && refused.is_empty() {
        return;
    }
    let attempts = || applied.iter().map(|(attempt, _)| *attempt);
    let delays = || applied.iter().map(|(_, seconds)| *seconds);
    tracing::info!(
        { fields::APPLIED } = applied.len(),
        { fields::FAILURES } = refused.len(),
        { fields::MIN_ATTEMPT } = attempts().min(),
        { fields::MAX_ATTEMPT } = attempts().max(),
        { fields::MIN_DELAY } = delays().min(),
        { fields::MAX_DELAY } = delays().max(),
        "retry backoff"
    );
}
