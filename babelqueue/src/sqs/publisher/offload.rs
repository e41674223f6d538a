//! Large messages: decided when the request is made, stored before its first attempt
//! (SPEC §4.10). Without the feature every message goes out as it is.

use super::request::Request;
use super::send::SqsPublisher;
use crate::message::PublishError;

#[cfg(feature = "payload-store")]
use super::{builder::Settings, content::Content, limits::add_size_attribute};
#[cfg(feature = "payload-store")]
use crate::{
    digest::sha256_hex,
    pipeline::{Attribute, size_of_message},
};

/// Replaces the body of a message over the threshold by a pointer. Pure.
#[cfg(feature = "payload-store")]
pub(super) fn offload(
    request: &mut Request,
    settings: &Settings,
    max_bytes: usize,
) -> Result<(), PublishError> {
    let Some(offload) = &settings.offload else {
        return Ok(());
    };
    let threshold = offload.threshold.unwrap_or(max_bytes);
    if request.size <= threshold.min(max_bytes) {
        return Ok(());
    }
    let body = request.content.body();
    if body.len() > offload.max_bytes {
        return Err(PublishError::TooLarge {
            actual: body.len(),
            allowed: offload.max_bytes,
        });
    }
    if settings.content_based_deduplication && request.deduplication_id.is_none() {
        // What SQS would make of the content; every pointer is another one.
        request.deduplication_id = Some(sha256_hex(body.as_bytes()));
    }
    let mut listed = std::mem::take(&mut request.content).into_listed();
    if let Some([name, data_type, value]) = offload.attribute(&listed.body) {
        let size = Attribute::text(name, data_type, value);
        add_size_attribute(&mut listed.attributes, size)?;
    }
    request.offloading = Some(offload.replace(&mut listed.body));
    request.size = size_of_message(&listed.body, &listed.attributes);
    request.content = Content::Listed(listed);
    Ok(())
}

/// Whether the message is a pointer to what has to be stored before.
#[cfg(feature = "payload-store")]
pub(super) fn is_offloaded(request: &Request) -> bool {
    request.offloading.is_some()
}

#[cfg(not(feature = "payload-store"))]
pub(super) fn is_offloaded(_: &Request) -> bool {
    false
}

impl SqsPublisher {
    /// Stores the body of a request whose message is a pointer to it; once is enough.
    #[cfg(feature = "payload-store")]
    pub(super) async fn store(&self, request: &Request) -> Result<(), PublishError> {
        let (Some(offload), Some(offloading)) = (&self.settings().offload, &request.offloading)
        else {
            return Ok(());
        };
        let stored = offload.store(offloading).await;
        stored.map_err(|source| PublishError::Offload {
            queue: self.queue().to_owned(),
            location: offloading.location.to_string(),
            source: source.into(),
        })
    }

    #[cfg(not(feature = "payload-store"))]
    pub(super) async fn store(&self, _: &Request) -> Result<(), PublishError> {
        Ok(())
    }
}

#[cfg(all(test, feature = "payload-store"))]
#[path = "offload_tests.rs"]
mod tests;
