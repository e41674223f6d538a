//! What became of a batch of which not every message was sent.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use super::batch::{PublishBatch, Settled, Slot};
use super::request::Request;
use super::send::SqsPublisher;
use crate::message::{PublishError, Published};

/// A batch of which not every message was sent: one result per message, in the order in which
/// they were given.
pub struct BatchError {
    publisher: SqsPublisher,
    results: Vec<Result<Published, PublishError>>,
    /// The requests of those that may be sent again.
    open: Vec<Option<Arc<Request>>>,
}

impl BatchError {
    pub(super) fn unless_all_sent(
        publisher: SqsPublisher,
        settled: Vec<Settled>,
    ) -> Result<Vec<Published>, Self> {
        let (results, open): (Vec<_>, _) = settled.into_iter().unzip();
        if results.iter().any(Result::is_err) {
            return Err(Self {
                publisher,
                results,
                open,
            });
        }
        Ok(results.into_iter().flatten().collect())
    }

    /// What became of each message.
    pub fn results(&self) -> &[Result<Published, PublishError>] {
        &self.results
    }

    /// What became of each message, to keep.
    pub fn into_results(self) -> Vec<Result<Published, PublishError>> {
        self.results
    }

    /// The messages that were not sent, or may not have been: place in the batch from 0, and why.
    pub fn failures(&self) -> impl Iterator<Item = (usize, &PublishError)> {
        let all = self.results.iter().enumerate();
        all.filter_map(|(place, result)| Some((place, result.as_ref().err()?)))
    }

    /// Whether [`retry`](Self::retry) has anything to send.
    pub fn is_retryable(&self) -> bool {
        self.open.iter().any(Option::is_some)
    }

    /// The batch once more, to be awaited: the very same messages with the same ids, without those
    /// that were sent and those that can never be. Its results are again one per message of the
    /// first batch. On a FIFO queue, messages that stood behind a refused one go out now.
    pub fn retry(self) -> PublishBatch {
        let begun = self.results.into_iter().zip(self.open);
        let begun = begun.map(|(result, request)| match (result, request) {
            (Err(error), Some(request)) => {
                let publishing = request.sent_again(self.publisher.observer());
                let unknown = error.is_unknown();
                (Slot::Open { request, unknown }, Some(publishing))
            }
            (result, _) => (Slot::Settled(result), None),
        });
        PublishBatch::begun(self.publisher.clone(), begun)
    }

    /// The failure that explains the others: messages that were only held back come last.
    fn first(&self) -> Option<(usize, &PublishError)> {
        let cause = |(_, error): &(usize, &PublishError)| {
            !matches!(error, PublishError::NotAttempted { .. })
        };
        self.failures()
            .find(cause)
            .or_else(|| self.failures().next())
    }
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (failed, all) = (self.failures().count(), self.results.len());
        write!(f, "{failed} of {all} messages of the batch were not sent")?;
        match self.first() {
            Some((place, error)) => write!(f, ", such as the one at place {place}: {error}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchError")
            .field("queue", &self.publisher.queue())
            .field("results", &self.results)
            .finish_non_exhaustive()
    }
}

impl StdError for BatchError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.first().and_then(|(_, error)| error.source())
    }
}
