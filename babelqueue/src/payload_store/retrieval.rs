//! Following a pointer: what a consumer may read, within which bounds, and why it cannot.

use std::sync::Arc;
use std::time::Duration;

use super::erased::{AnyStore, in_time};
use super::pointer::Pointer;
use super::policy::{Allowed, check_content, check_location};
use super::store::{Location, PayloadStore, StoreError};
use crate::BoxError;

/// How pointers are followed; given to a consumer's `.payload_store(…)`. A store alone will do.
///
/// ```no_run
/// # fn builder(sqs: aws_sdk_sqs::Client, store: babelqueue::payload_store::MemoryPayloadStore) {
/// use std::time::Duration;
/// use babelqueue::payload_store::Retrieval;
/// use babelqueue::prelude::*;
///
/// # let router = Router::from_handlers![];
/// let retrieval = Retrieval::from_store(store)
///     .allow("partner-payloads", "orders/")
///     .max_bytes(4 * 1024 * 1024)
///     .timeout(Duration::from_secs(10));
/// SqsConsumer::builder(sqs, "https://sqs.eu-west-1.amazonaws.com/1234/orders", router)
///     .payload_store(retrieval);
/// # }
/// ```
#[derive(Clone)]
pub struct Retrieval {
    store: Arc<dyn AnyStore>,
    default_bucket: String,
    allowed: Allowed,
    pub(crate) max_bytes: usize,
    pub(crate) timeout: Duration,
    pub(crate) concurrency: usize,
    pub(crate) deletes: bool,
}

/// Objects up to this size are read, and written, unless said otherwise.
pub(super) const MAX_BYTES: usize = 16 * 1024 * 1024;

/// How long one call of a store may take unless said otherwise.
pub(super) const TIMEOUT: Duration = Duration::from_secs(30);

/// How long a delete may take at most: a stopping consumer waits for it.
const DELETE: Duration = Duration::from_secs(5);

impl<S: PayloadStore> From<S> for Retrieval {
    fn from(store: S) -> Self {
        Self::from_store(store)
    }
}

impl Retrieval {
    /// Reads from the store, at its own bucket and prefix and nowhere else.
    pub fn from_store(store: impl PayloadStore) -> Self {
        let home = store.home();
        Self {
            store: Arc::new(store),
            default_bucket: home.bucket.clone(),
            allowed: Allowed::Places(vec![(home.bucket, home.prefix)]),
            max_bytes: MAX_BYTES,
            timeout: TIMEOUT,
            concurrency: 10,
            deletes: false,
        }
    }

    /// Reads objects of another bucket as well, whose keys begin with the prefix; an empty one
    /// stands for the whole bucket.
    #[must_use]
    pub fn allow(mut self, bucket: impl Into<String>, prefix: impl Into<String>) -> Self {
        if let Allowed::Places(places) = &mut self.allowed {
            places.push((bucket.into(), prefix.into()));
        }
        self
    }

    /// Reads whatever a message points to. Whoever can send to the queue then chooses what this
    /// service reads with its own credentials: only for queues whose senders are trusted.
    #[must_use]
    pub fn allow_anywhere(mut self) -> Self {
        self.allowed = Allowed::Anywhere;
        self
    }

    /// The largest object in bytes: 16 MiB unless set. A larger one is treated as poison.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// How long reading one object may take: 30 s unless set. A slower read is retried, as a
    /// delivery of its own.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How many objects a consumer reads at a time: 10 unless set, and never more than it has
    /// handlers, because the read takes a handler's place.
    #[must_use]
    pub fn concurrency(mut self, reads: usize) -> Self {
        self.concurrency = reads;
        self
    }

    /// Deletes the object after the delete of its message was confirmed, as well as may be: one
    /// that cannot be deleted is logged and stays. Off unless set.
    ///
    /// A copy of such a message that is delivered later, as SQS may do and as publishing twice
    /// does, finds nothing and is treated as poison. A rule of the bucket that expires objects
    /// after the queue's retention has no such effect; it should be there in any case, for objects
    /// whose message was never sent. In Lambda the service deletes the messages and nothing
    /// confirms it, so that objects stay.
    #[must_use]
    pub fn delete_when_handled(mut self, on: bool) -> Self {
        self.deletes = on;
        self
    }

    /// Recognises a pointer in a body: see [`Pointer::parse`].
    ///
    /// # Errors
    /// [`PayloadError::Malformed`].
    pub fn recognise(
        &self,
        body: &str,
        extended_size: Option<&str>,
    ) -> Result<Option<Pointer>, PayloadError> {
        Pointer::parse(body, &self.default_bucket, extended_size)
    }

    /// Reads what the pointer points to, if it may, and checks that it is what the pointer says.
    /// Needs a tokio runtime.
    ///
    /// # Errors
    /// [`PayloadError`], which tells what is worth another try.
    pub async fn fetch(&self, pointer: &Pointer) -> Result<String, PayloadError> {
        let location = || pointer.location.clone();
        let allowed = self.max_bytes;
        if let Err(reason) = check_location(&pointer.location) {
            let location = &pointer.location;
            let reason = format!("{reason} ({location})");
            return Err(PayloadError::Malformed { reason });
        }
        if !self.allowed.contains(&pointer.location) {
            let location = location();
            return Err(PayloadError::NotAllowed { location });
        }
        let too_large = |actual| PayloadError::TooLarge {
            location: location(),
            actual,
            allowed,
        };
        if pointer.length.is_some_and(|length| length > allowed as u64) {
            return Err(too_large(pointer.length));
        }
        let get = self.store.get(&pointer.location, allowed);
        let content = in_time(self.timeout, get)
            .await
            .map_err(|error| match error {
                StoreError::NotFound => PayloadError::Missing {
                    location: location(),
                },
                StoreError::TooLarge { actual, .. } => too_large(actual),
                StoreError::Failed(source) => PayloadError::Unavailable {
                    location: location(),
                    source,
                },
            })?;
        if content.len() > allowed {
            return Err(too_large(Some(content.len() as u64)));
        }
        let altered = |what| PayloadError::Altered {
            location: location(),
            what,
        };
        check_content(&content, pointer).map_err(altered)?;
        String::from_utf8(content).map_err(|error| altered(format!("it is no text: {error}")))
    }

    /// Deletes an object, in no more than the timeout and 5 s. Needs a tokio runtime.
    ///
    /// # Errors
    /// What the store says.
    pub async fn delete(&self, location: &Location) -> Result<(), StoreError> {
        let delete = self.store.delete(location);
        in_time(self.timeout.min(DELETE), delete).await
    }
}

impl std::fmt::Debug for Retrieval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Retrieval")
            .field("allowed", &self.allowed)
            .field("max_bytes", &self.max_bytes)
            .field("timeout", &self.timeout)
            .field("concurrency", &self.concurrency)
            .field("deletes", &self.deletes)
            .finish_non_exhaustive()
    }
}

/// Why the body of a large message could not be had. Each names the object it is about.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// The body means to be a pointer and is none.
    #[error("the body is no usable pointer: {reason}")]
    Malformed {
        /// What is wrong with it.
        reason: String,
    },
    /// The consumer was not told of this place.
    #[error(
        "the pointer leads to `{location}`, which this consumer may not read: add the bucket and \
         prefix by `Retrieval::allow`, if it should"
    )]
    NotAllowed {
        /// Where the pointer leads.
        location: Location,
    },
    /// There is no such object.
    #[error("there is no object `{location}`: it was deleted, or has expired")]
    Missing {
        /// Where the pointer leads.
        location: Location,
    },
    /// The object is larger than the consumer reads.
    #[error("the object `{location}` is larger than the limit of {allowed} bytes{}", size(.actual))]
    TooLarge {
        /// Where the pointer leads.
        location: Location,
        /// Its size in bytes, if that is known.
        actual: Option<u64>,
        /// The limit in bytes.
        allowed: usize,
    },
    /// The object is not what the pointer says.
    #[error("the object `{location}` is not what its message points to: {what}")]
    Altered {
        /// Where the pointer leads.
        location: Location,
        /// What is different.
        what: String,
    },
    /// The store refused, failed or was too slow; another try may succeed.
    #[error("the object `{location}` could not be read; the message will come again")]
    Unavailable {
        /// Where the pointer leads.
        location: Location,
        /// What the store said.
        source: BoxError,
    },
}

fn size(actual: &Option<u64>) -> String {
    actual.map_or_else(String::new, |bytes| format!(": it takes {bytes}"))
}

impl PayloadError {
    /// The code that every one of them has in logs and for hooks, whatever the store (SPEC §4.3).
    pub const CODE: &'static str = "S3_ERROR";

    /// Whether another try may succeed. What may not is treated as poison.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Unavailable { .. })
    }

    /// What was read in the place of a pointer can be no message.
    pub(crate) fn not_json(location: Location) -> Self {
        let what = "it is no JSON".to_owned();
        Self::Altered { location, what }
    }

    /// What was read in the place of a pointer is one itself.
    pub(crate) fn nested() -> Self {
        let reason = "it leads to another pointer".to_owned();
        Self::Malformed { reason }
    }

    /// A stable name, for dead letters.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Malformed { .. } => "MalformedPointer",
            Self::NotAllowed { .. } => "PayloadNotAllowed",
            Self::Missing { .. } => "PayloadMissing",
            Self::TooLarge { .. } => "PayloadTooLarge",
            Self::Altered { .. } => "PayloadAltered",
            Self::Unavailable { .. } => "PayloadUnavailable",
        }
    }
}
