//! Large messages: from a body that is a pointer to the envelope that it points to, within bounds
//! and one message at a time, so that a bad pointer harms no other (SPEC §4.10).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use tokio::sync::Semaphore;

use super::attribute::Attribute;
use super::intake::{Opened, open};
use super::layers::Place;
use super::process::{Cause, Pipeline};
use super::processed::{Processed, Seen};
use super::record::Record;
use crate::BoxFuture;
use crate::envelope::{DeadLetter, poison_record};
use crate::error_text::chain_text;
use crate::fields;
use crate::panics::fenced_async;
use crate::payload_store::{
    EXTENDED_SIZE_ATTRIBUTES, Location, PayloadError, Pointer, Retrieval, StoreError,
};
use crate::policy::Event;

/// A body that is a pointer.
#[derive(Debug)]
pub(crate) struct Found {
    /// What recognised it.
    pub(super) payloads: Arc<Payloads>,
    pub(super) pointer: Result<Pointer, PayloadError>,
    /// The body as it came.
    pub(super) body: String,
    /// The attributes that were found with it inside of that body.
    pub(super) attributes: Option<Vec<Attribute>>,
}

/// Remembers of a message that its body was a pointer.
#[derive(Clone, Debug)]
pub(crate) struct Offloaded {
    /// The body as it came.
    body: String,
    /// What was read in its place.
    object: Option<Object>,
}

impl Offloaded {
    fn new(body: String, object: Option<Object>) -> Option<Box<Self>> {
        Some(Box::new(Self { body, object }))
    }

    pub(super) fn body(&self) -> &str {
        &self.body
    }

    /// The body of its dead letter, which stays a pointer: an object gets the block as a further
    /// member, in place of one from before; the array of the extended clients has no room for it.
    pub(super) fn copy(&self, block: &DeadLetter) -> String {
        let Ok(mut members) = serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(&self.body)
        else {
            return self.body.clone();
        };
        if members.remove("dead_letter").is_none() {
            return poison_record(self.body.as_bytes(), block);
        }
        let bare = serde_json::to_string(&members);
        // What was read as JSON can be written as JSON.
        bare.map_or_else(
            |_| self.body.clone(),
            |bare| poison_record(bare.as_bytes(), block),
        )
    }
}

#[derive(Clone, Debug)]
struct Object {
    location: Location,
    _bytes: Arc<Held>,
}

/// Counts the bytes of a fetched body as long as it is in flight.
#[derive(Debug)]
struct Held {
    bytes: usize,
    all: Arc<AtomicUsize>,
}

impl Held {
    fn new(bytes: usize, all: &Arc<AtomicUsize>) -> Self {
        all.fetch_add(bytes, Ordering::Relaxed);
        Self {
            bytes,
            all: Arc::clone(all),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// What one consumer follows pointers with.
#[derive(Debug)]
pub(crate) struct Payloads {
    retrieval: Retrieval,
    places: Arc<Semaphore>,
    held: Arc<AtomicUsize>,
}

impl Payloads {
    pub(crate) fn new(retrieval: Retrieval) -> Self {
        Self {
            places: Arc::new(Semaphore::new(retrieval.concurrency)),
            retrieval,
            held: Arc::default(),
        }
    }

    /// Bytes of the fetched bodies in flight.
    pub(crate) fn bytes(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// The pointer that a body is, if it means to be one.
    pub(super) fn recognise(
        &self,
        body: &str,
        attributes: &[Attribute],
    ) -> Option<Result<Pointer, PayloadError>> {
        let mut attributes = attributes.iter();
        let size = attributes
            .find(|attribute| EXTENDED_SIZE_ATTRIBUTES.contains(&&*attribute.name))
            .and_then(Attribute::as_text);
        self.retrieval.recognise(body, size).transpose()
    }

    /// Reads what it points to. A panic of the store is its failure.
    async fn fetch(&self, pointer: Pointer) -> Result<(Object, String), PayloadError> {
        // The semaphore is never closed.
        let _place = self.places.acquire().await;
        let fetched = fenced_async(self.retrieval.fetch(&pointer)).await;
        let location = pointer.location;
        match fetched {
            Ok(text) => {
                let text = text?;
                let bytes = Arc::new(Held::new(text.len(), &self.held));
                let object = Object {
                    location,
                    _bytes: bytes,
                };
                Ok((object, text))
            }
            Err(panicked) => Err(PayloadError::Unavailable {
                location,
                source: panicked.into(),
            }),
        }
    }

    /// Deletes the object of a message that is gone, if that is wished. A failure is logged.
    pub(crate) fn discard(&self, offloaded: Offloaded) -> Option<BoxFuture<'static, ()>> {
        let object = offloaded.object.filter(|_| self.retrieval.deletes)?;
        let (retrieval, places) = (self.retrieval.clone(), Arc::clone(&self.places));
        Some(Box::pin(async move {
            let _place = places.acquire().await;
            let location = &object.location;
            let deleted = fenced_async(retrieval.delete(location))
                .await
                .unwrap_or_else(|panicked| Err(StoreError::failed(panicked)));
            if let Err(error) = deleted {
                let error = chain_text(&error);
                tracing::warn!({ fields::LOCATION } = %location, { fields::ERROR } = error, "the object of a deleted message stays");
            }
        }))
    }
}

impl Pipeline {
    /// Reads what a pointer leads to, and looks at it as if it had been the body: what comes out
    /// is no pointer any more.
    pub(super) async fn follow(&self, record: &mut Record, found: Found) -> Opened {
        let fetched = match found.pointer {
            Ok(pointer) => found.payloads.fetch(pointer).await,
            Err(error) => Err(error),
        };
        let (object, text) = match fetched {
            Ok(fetched) => fetched,
            Err(error) => {
                record.offloaded = Offloaded::new(found.body.clone(), None);
                let body = found.body;
                return Opened::Unfollowed { body, error };
            }
        };
        let location = object.location.clone();
        record.offloaded = Offloaded::new(found.body, Some(object));
        record.body = text;
        let inner = found.attributes;
        let came = inner.map(|inner| std::mem::replace(&mut record.attributes, inner));
        let opened = match open(record, self.reading()) {
            Opened::Pointer(nested) => Opened::Unfollowed {
                body: nested.body,
                error: PayloadError::nested(),
            },
            Opened::Poison { body, .. } if serde_json::from_str::<IgnoredAny>(&body).is_err() => {
                let error = PayloadError::not_json(location);
                Opened::Unfollowed { body, error }
            }
            opened => opened,
        };
        if let Some(came) = came
            && !matches!(opened, Opened::Accepted { .. })
        {
            record.attributes = came;
        }
        opened
    }

    /// Takes a message all the way whose body is a pointer.
    pub(super) async fn process_pointer(&self, mut record: Box<Record>, found: Found) -> Processed {
        let opened = self.follow(&mut record, found).await;
        let mut processed = match self.sort(&record, opened) {
            Ok(delivery) => self.route(&record, delivery, Place::Alone).await,
            Err(opened) => self.refuse(&record, *opened),
        };
        processed.offloaded = record.offloaded;
        processed
    }

    /// Ends a message whose pointer could not be followed.
    pub(super) fn unfollowed(
        &self,
        record: &Record,
        body: String,
        error: &PayloadError,
    ) -> Processed {
        let event = if error.is_retryable() {
            Event::PayloadUnavailable
        } else {
            Event::Poison
        };
        let cause = Cause::new(error, error.name());
        self.finish(record, Seen::Body(body), event, Some(cause))
    }
}
