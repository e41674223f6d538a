//! Sending bytes that are already an envelope: from an outbox, or on from one queue to another.

use std::future::IntoFuture;
use std::time::Duration;

use super::request::{Encoded, Options};
use super::send::SqsPublisher;
use crate::BoxFuture;
use crate::message::{PublishError, Published};

/// One relay before it is sent; await it to send.
#[derive(Debug)]
#[must_use = "a relay does nothing until it is awaited"]
pub struct RelayBuilder<'p> {
    publisher: &'p SqsPublisher,
    body: String,
    options: Options,
}

impl<'p> RelayBuilder<'p> {
    pub(super) fn new(publisher: &'p SqsPublisher, body: String) -> Self {
        Self {
            publisher,
            body,
            options: Options::default(),
        }
    }

    /// Adds a rider: a String attribute beside the contract's own (SPEC §2.2).
    pub fn header(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.headers.push((key.into(), value.into()));
        self
    }

    /// Holds the message back: up to 900 s on a standard queue (SPEC §2.4).
    pub fn delay(mut self, delay: Duration) -> Self {
        self.options.delay = Some(delay);
        self
    }

    /// Sets `MessageGroupId` (SPEC §2.3).
    pub fn group_id(mut self, group_id: impl Into<String>) -> Self {
        self.options.group_id = Some(group_id.into());
        self
    }

    /// Sets `MessageDeduplicationId` (SPEC §2.3).
    pub fn deduplication_id(mut self, deduplication_id: impl Into<String>) -> Self {
        self.options.deduplication_id = Some(deduplication_id.into());
        self
    }
}

impl<'p> IntoFuture for RelayBuilder<'p> {
    type Output = Result<Published, PublishError>;
    type IntoFuture = BoxFuture<'p, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let Self {
            publisher,
            body,
            mut options,
        } = self;
        Box::pin(async move {
            let encoded = Encoded::of(body);
            let (urn, trace_id) = (encoded.value("bq-job"), encoded.value("bq-trace-id"));
            let observer = publisher.observer();
            let publishing = observer.sending_on(urn, trace_id, &mut options.headers);
            let sending = async {
                publisher.check()?;
                let mut request = encoded.into_request(options, publisher.frame())?;
                request.fit(publisher.settings(), publisher.max_bytes().await)?;
                publisher.perform(&request).await
            };
            let result = publishing.scope(sending).await;
            publishing.end(&result);
            result
        })
    }
}
