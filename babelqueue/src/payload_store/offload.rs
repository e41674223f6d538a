//! What a publisher offloads, and how: decided for a finished message by its size, before
//! anything is sent or stored.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::erased::{AnyStore, in_time};
use super::pointer::{EXTENDED_SIZE_ATTRIBUTES, Pointer, PointerFormat};
use super::policy::{check_location, object_name};
use super::retrieval::{MAX_BYTES, TIMEOUT};
use super::store::{Location, PayloadStore, StoreError};
use crate::digest::sha256_hex;
use crate::envelope::new_id;

/// Moves large messages to a store; given to a publisher's `.offload(…)`. A store alone will do.
///
/// ```no_run
/// # fn publisher(sqs: aws_sdk_sqs::Client, store: babelqueue::payload_store::MemoryPayloadStore)
/// #     -> Result<(), babelqueue::Error> {
/// use babelqueue::payload_store::{Offload, PointerFormat};
/// use babelqueue::prelude::*;
///
/// let offload = Offload::to(store)
///     .threshold(256 * 1024)
///     .pointer(PointerFormat::ExtendedClient);
/// let publisher = SqsPublisher::builder(sqs, "https://sqs.eu-west-1.amazonaws.com/1234/orders")
///     .offload(offload)
///     .build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Offload {
    store: Arc<dyn AnyStore>,
    pub(crate) threshold: Option<usize>,
    pub(crate) max_bytes: usize,
    pub(crate) format: PointerFormat,
    timeout: Duration,
}

impl<S: PayloadStore> From<S> for Offload {
    fn from(store: S) -> Self {
        Self::to(store)
    }
}

impl Offload {
    /// Offloads to the store what is larger than the queue takes.
    pub fn to(store: impl PayloadStore) -> Self {
        Self {
            store: Arc::new(store),
            threshold: None,
            max_bytes: MAX_BYTES,
            format: PointerFormat::default(),
            timeout: TIMEOUT,
        }
    }

    /// Offloads messages that take more bytes than this, attributes included: the publisher's
    /// `max_message_bytes` unless set, and no more than that. With 1, every message.
    #[must_use]
    pub fn threshold(mut self, bytes: usize) -> Self {
        self.threshold = Some(bytes);
        self
    }

    /// The largest body in bytes: 16 MiB unless set, which is also what consumers read.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// The shape of the pointers: [`PointerFormat::ContentLocation`] unless set.
    #[must_use]
    pub fn pointer(mut self, format: PointerFormat) -> Self {
        self.format = format;
        self
    }

    /// How long storing one body may take: 30 s unless set. The publish fails then.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// What is wrong with the store's own place, if anything is.
    pub(crate) fn check(&self) -> Result<(), (Location, &'static str)> {
        let sample = self.store.home().location(&object_name(&new_id(), ""));
        check_location(&sample).map_err(|reason| (sample, reason))
    }

    /// The attribute that goes with a pointer to this body: name, data type, value.
    pub(crate) fn attribute(&self, body: &str) -> Option<[String; 3]> {
        let [name, _] = EXTENDED_SIZE_ATTRIBUTES;
        let extended = self.format == PointerFormat::ExtendedClient;
        extended.then(|| [name.to_owned(), "Number".to_owned(), body.len().to_string()])
    }

    /// Replaces the body by a pointer to where it will be.
    pub(crate) fn replace(&self, body: &mut String) -> Offloading {
        let sha256 = sha256_hex(body.as_bytes());
        let name = object_name(&new_id(), &sha256);
        let pointer = Pointer {
            location: self.store.home().location(&name),
            length: Some(body.len() as u64),
            sha256: Some(sha256),
            format: self.format,
        };
        let content = std::mem::replace(body, pointer.to_body());
        Offloading {
            location: pointer.location,
            content,
            stored: OnceLock::new(),
        }
    }

    /// Stores the body, unless it is stored already. Needs a tokio runtime.
    pub(crate) async fn store(&self, offloading: &Offloading) -> Result<(), StoreError> {
        if offloading.stored.get().is_some() {
            return Ok(());
        }
        let put = self.store.put(&offloading.location, &offloading.content);
        in_time(self.timeout, put).await?;
        // Somebody else may have been first; it is the same.
        let _ = offloading.stored.set(());
        Ok(())
    }
}

impl std::fmt::Debug for Offload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Offload")
            .field("home", &self.store.home())
            .field("threshold", &self.threshold)
            .field("max_bytes", &self.max_bytes)
            .field("format", &self.format)
            .field("timeout", &self.timeout)
            .finish()
    }
}

impl Offloading {
    /// Lets go of a body that is in the store.
    pub(crate) fn forget_stored(&mut self) {
        if self.stored.get().is_some() {
            self.content = String::new();
        }
    }
}

/// A body on its way to the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Offloading {
    pub(crate) location: Location,
    content: String,
    stored: OnceLock<()>,
}
