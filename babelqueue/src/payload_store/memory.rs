//! A store in memory: for tests, and for examples.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::store::{Home, Location, PayloadStore, StoreError};

/// By bucket and key.
type Objects = BTreeMap<(String, String), Vec<u8>>;

/// Keeps objects in memory. Clones are one store. It writes to the bucket `memory` below
/// `payloads/`, and is lost with the process.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), babelqueue::BoxError> {
/// use babelqueue::payload_store::{MemoryPayloadStore, PayloadStore as _};
///
/// let store = MemoryPayloadStore::new();
/// store.insert("memory", "payloads/1", "text");
/// assert_eq!(store.keys(), ["memory/payloads/1"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryPayloadStore {
    objects: Arc<Mutex<Objects>>,
}

impl MemoryPayloadStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts an object anywhere in it, in place of one that may be there.
    pub fn insert(
        &self,
        bucket: impl Into<String>,
        key: impl Into<String>,
        content: impl Into<Vec<u8>>,
    ) {
        let at = (bucket.into(), key.into());
        self.objects().insert(at, content.into());
    }

    /// What is in it: `bucket/key` of every object, in order.
    pub fn keys(&self) -> Vec<String> {
        let objects = self.objects();
        let path = |(bucket, key): &(String, String)| format!("{bucket}/{key}");
        objects.keys().map(path).collect()
    }

    /// How many objects it keeps.
    pub fn len(&self) -> usize {
        self.objects().len()
    }

    /// Whether it keeps none.
    pub fn is_empty(&self) -> bool {
        self.objects().is_empty()
    }

    fn objects(&self) -> MutexGuard<'_, Objects> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PayloadStore for MemoryPayloadStore {
    fn home(&self) -> Home {
        Home {
            bucket: "memory".to_owned(),
            region: Some("local".to_owned()),
            prefix: "payloads/".to_owned(),
        }
    }

    async fn put(&self, to: &Location, payload: &str) -> Result<(), StoreError> {
        self.insert(to.bucket.clone(), to.key.clone(), payload);
        Ok(())
    }

    async fn get(&self, from: &Location, max_bytes: usize) -> Result<Vec<u8>, StoreError> {
        let objects = self.objects();
        let at = (from.bucket.clone(), from.key.clone());
        let content = objects.get(&at).ok_or(StoreError::NotFound)?;
        if content.len() > max_bytes {
            return Err(StoreError::TooLarge {
                actual: Some(content.len() as u64),
                allowed: max_bytes,
            });
        }
        Ok(content.clone())
    }

    async fn delete(&self, location: &Location) -> Result<(), StoreError> {
        let at = (location.bucket.clone(), location.key.clone());
        self.objects().remove(&at);
        Ok(())
    }
}
