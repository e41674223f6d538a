//! The finished request: made in full before the first attempt, so that every retry is the same
//! message to SQS and to consumers. Pure.

use std::time::Duration;

use super::builder::Settings;
use super::causation::add_causation;
use super::content::{Content, Listed, plain};
use super::failure::Accepted;
use super::limits::{
    add_headers, check_contract, check_id, delay_seconds, is_legal_id, shed_trace,
};
use crate::digest::sha256_hex;
use crate::envelope::{Envelope, projection, projection_of};
use crate::message::{Draft, PublishError, Published};
use crate::pipeline::{refused_character, size_of_message};

/// One message as it goes to SQS.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) content: Content,
    pub(super) delay_seconds: Option<i32>,
    pub(super) group_id: Option<String>,
    pub(super) deduplication_id: Option<String>,
    /// What SQS counts: body and attributes, in bytes.
    pub(super) size: usize,
    /// What goes to the store before: the body is a pointer to it.
    #[cfg(feature = "payload-store")]
    pub(super) offloading: Option<crate::payload_store::Offloading>,
}

impl Request {
    /// Holds it against the limit in force (SPEC §2.5), as a pointer where the settings say so.
    pub(super) fn fit(&mut self, settings: &Settings, allowed: usize) -> Result<(), PublishError> {
        if let Content::Listed(listed) = &mut self.content
            && self.size > allowed
        {
            shed_trace(&listed.body, &mut listed.attributes, allowed);
            self.size = size_of_message(&listed.body, &listed.attributes);
        }
        #[cfg(feature = "payload-store")]
        super::offload::offload(self, settings, allowed)?;
        #[cfg(not(feature = "payload-store"))]
        let _ = settings;
        let actual = self.size;
        if actual > allowed {
            return Err(PublishError::TooLarge { actual, allowed });
        }
        Ok(())
    }

    /// What the caller is told when SQS has taken it.
    pub(super) fn published(&self, accepted: Accepted) -> Published {
        let (message_id, trace_id) = (self.content.message_id(), self.content.trace_id());
        let mut published = Published::new(message_id, trace_id);
        published.sqs_message_id = accepted.sqs_message_id;
        published.sequence_number = accepted.sequence_number;
        published
    }
}

/// Where a message goes, and what the publisher says of all of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    pub(super) queue: &'a str,
    pub(super) settings: &'a Settings,
}

/// What a caller may say of one send beside the body.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    pub(super) headers: Vec<(String, String)>,
    pub(super) delay: Option<Duration>,
    pub(super) group_id: Option<String>,
    pub(super) deduplication_id: Option<String>,
}

/// Makes the envelope of a draft and the request around it.
pub(super) fn from_draft(mut draft: Draft, frame: Frame<'_>) -> Result<Request, PublishError> {
    if let Some(causation_id) = &draft.causation_id {
        add_causation(&mut draft.meta, causation_id)?;
    }
    let mut builder = Envelope::builder(draft.urn)
        .queue(frame.queue.to_owned())
        .lang(frame.settings.lang.clone())
        .data_made(Ok(draft.data));
    if let Some(trace_id) = draft.trace_id {
        builder = builder.trace_id(trace_id);
    }
    for (key, json) in draft.meta {
        builder = builder.meta_extra(key, json);
    }
    let envelope = builder.build()?;
    let size = envelope.body().len() + check_contract(projection(&envelope).iter())?;
    let options = Options {
        headers: draft.headers,
        delay: draft.delay,
        group_id: draft.group_id,
        deduplication_id: draft.deduplication_id,
    };
    finish(Content::Envelope(envelope), size, options, frame)
}

/// Makes the request of an encoded envelope, which goes out as it is (relay, SPEC §2.1).
pub(super) fn from_encoded(
    body: String,
    options: Options,
    frame: Frame<'_>,
) -> Result<Request, PublishError> {
    let projected: Vec<_> = projection_of(body.as_bytes()).into_iter().collect();
    let value = |name| {
        let found = projected.iter().find(|attribute| attribute.name == name);
        found
            .map(|attribute| attribute.value.clone().into_owned())
            .unwrap_or_default()
    };
    let (message_id, trace_id) = (value("bq-message-id"), value("bq-trace-id"));
    let size = body.len() + check_contract(&projected)?;
    let content = Content::Listed(Listed {
        body,
        attributes: projected.into_iter().map(plain).collect(),
        message_id,
        trace_id,
    });
    finish(content, size, options, frame)
}

fn finish(
    mut content: Content,
    mut size: usize,
    options: Options,
    frame: Frame<'_>,
) -> Result<Request, PublishError> {
    let Frame { queue, settings } = frame;
    let delay_seconds = delay_seconds(queue, settings.fifo, options.delay)?;
    let group_id = options
        .group_id
        .or_else(|| settings.message_group_id.clone());
    match &group_id {
        Some(group_id) => check_id("MessageGroupId", group_id)?,
        None if settings.fifo => {
            return Err(PublishError::MissingGroup {
                queue: queue.to_owned(),
            });
        }
        None => {}
    }
    let deduplication_id = deduplication_id(&content, options.deduplication_id, settings)?;
    if let Some((position, character)) = refused_character(content.body()) {
        return Err(PublishError::Character {
            field: "body",
            character,
            position,
        });
    }
    if !options.headers.is_empty() {
        let mut listed = content.into_listed();
        add_headers(&mut listed.attributes, options.headers)?;
        size = size_of_message(&listed.body, &listed.attributes);
        content = Content::Listed(listed);
    }
    Ok(Request {
        size,
        content,
        delay_seconds,
        group_id,
        deduplication_id,
        #[cfg(feature = "payload-store")]
        offloading: None,
    })
}

/// What SQS tells duplicates by (SPEC §2.3).
fn deduplication_id(
    content: &Content,
    given: Option<String>,
    settings: &Settings,
) -> Result<Option<String>, PublishError> {
    match given {
        Some(value) if !settings.fifo => Err(PublishError::Id {
            what: "MessageDeduplicationId",
            value,
            reason: "only a FIFO queue has one",
        }),
        Some(given) => check_id("MessageDeduplicationId", &given).map(|()| Some(given)),
        None if !settings.fifo || settings.content_based_deduplication => Ok(None),
        None if is_legal_id(content.message_id()) => Ok(Some(content.message_id().to_owned())),
        None => Ok(Some(sha256_hex(content.body().as_bytes()))),
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
pub(super) mod tests;
