//! What a store must do. Implement it for any place that keeps texts, with plain `async fn`s.

use std::fmt;
use std::sync::Arc;

use crate::BoxError;

/// Where an object is. Displayed as `bucket/key`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// The bucket, or whatever the store divides itself into.
    pub bucket: String,
    /// The bucket's region, where the pointer names one.
    pub region: Option<String>,
    /// The object's key.
    pub key: String,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What a pointer says may be of any length.
        let short = |text: &str| text.chars().take(256).collect::<String>();
        write!(f, "{}/{}", short(&self.bucket), short(&self.key))
    }
}

/// Where a store writes: new objects get a key below the prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// The bucket.
    pub bucket: String,
    /// The bucket's region, to be named in pointers.
    pub region: Option<String>,
    /// What every key begins with; may be empty.
    pub prefix: String,
}

impl Home {
    /// The object of this name.
    pub(super) fn location(&self, name: &str) -> Location {
        Location {
            bucket: self.bucket.clone(),
            region: self.region.clone(),
            key: format!("{}{name}", self.prefix),
        }
    }
}

/// Keeps the bodies of large messages.
///
/// ```
/// use babelqueue::payload_store::{Home, Location, PayloadStore, StoreError};
/// # struct Disk;
/// # impl Disk {
/// #     async fn write(&self, _: &str, _: &str) -> Result<(), std::io::Error> { Ok(()) }
/// #     async fn read(&self, _: &str, _: usize) -> Result<Option<Vec<u8>>, std::io::Error> { Ok(None) }
/// #     async fn remove(&self, _: &str) -> Result<(), std::io::Error> { Ok(()) }
/// # }
/// struct MyStore {
///     disk: Disk,
/// }
///
/// impl PayloadStore for MyStore {
///     fn home(&self) -> Home {
///         Home { bucket: "disk".into(), region: None, prefix: "payloads/".into() }
///     }
///     async fn put(&self, to: &Location, payload: &str) -> Result<(), StoreError> {
///         self.disk.write(&to.key, payload).await.map_err(StoreError::failed)
///     }
///     async fn get(&self, from: &Location, max_bytes: usize) -> Result<Vec<u8>, StoreError> {
///         let read = self.disk.read(&from.key, max_bytes).await.map_err(StoreError::failed)?;
///         read.ok_or(StoreError::NotFound)
///     }
///     async fn delete(&self, location: &Location) -> Result<(), StoreError> {
///         self.disk.remove(&location.key).await.map_err(StoreError::failed)
///     }
/// }
/// ```
pub trait PayloadStore: Send + Sync + 'static {
    /// Where new objects go. Also what a [`Retrieval`](super::Retrieval) reads unless it is told
    /// of other places.
    fn home(&self) -> Home;

    /// Writes a new object. Done again with the same payload, it is the same.
    ///
    /// # Errors
    /// Any: the message is not published then.
    fn put(
        &self,
        to: &Location,
        payload: &str,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Reads an object of at most `max_bytes`, and no more of it than that.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there surely is no such object, [`StoreError::TooLarge`] when
    /// it is larger; the message is beyond help then. Anything else is [`StoreError::Failed`], and
    /// tried again.
    fn get(
        &self,
        from: &Location,
        max_bytes: usize,
    ) -> impl Future<Output = Result<Vec<u8>, StoreError>> + Send;

    /// Deletes an object. That there is none is no error.
    ///
    /// # Errors
    /// Any: it is logged, and the object stays.
    fn delete(&self, location: &Location) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// What a store may answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no such object.
    #[error("there is no such object")]
    NotFound,
    /// The object is larger than asked for.
    #[error("the object takes {} and the limit is {allowed} bytes", bytes(.actual))]
    TooLarge {
        /// Its size in bytes, if that is known.
        actual: Option<u64>,
        /// The limit in bytes.
        allowed: usize,
    },
    /// Access was refused, or the store could not answer.
    #[error("the store failed")]
    Failed(#[source] BoxError),
}

impl StoreError {
    /// The store could not do it, for whatever reason.
    pub fn failed(error: impl Into<BoxError>) -> Self {
        Self::Failed(error.into())
    }
}

fn bytes(actual: &Option<u64>) -> String {
    actual.map_or_else(|| "more".to_owned(), |bytes| format!("{bytes} bytes"))
}

impl<S: PayloadStore> PayloadStore for Arc<S> {
    fn home(&self) -> Home {
        S::home(self)
    }

    async fn put(&self, to: &Location, payload: &str) -> Result<(), StoreError> {
        S::put(self, to, payload).await
    }

    async fn get(&self, from: &Location, max_bytes: usize) -> Result<Vec<u8>, StoreError> {
        S::get(self, from, max_bytes).await
    }

    async fn delete(&self, location: &Location) -> Result<(), StoreError> {
        S::delete(self, location).await
    }
}
