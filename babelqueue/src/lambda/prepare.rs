//! From a record of the event to one that is ready to be routed: its queue, its body, and what the
//! pipeline makes of it.

use std::sync::Arc;

use super::consumer::Inner;
use super::event::{EventRecord, RecordError};
use super::fate::group_of;
use super::plan::{Key, Station};
use super::queues::Source;
use crate::invocation::Invocation;
use crate::pipeline::Prepared;
use crate::telemetry::Handled;

/// A record on its way.
pub(super) struct Job {
    pub(super) source: Arc<Source>,
    #[cfg(feature = "idempotency")]
    pub(super) delivery: crate::pipeline::DeliveryNumber,
    /// The id by which its success is remembered.
    #[cfg(feature = "idempotency")]
    pub(super) remembered: Option<String>,
    /// Until a handler has it.
    pub(super) prepared: Option<Result<Prepared, RecordError>>,
    /// Its span, for what is done to it.
    pub(super) handled: Handled,
}

/// Prepares a record; nothing is done about it yet.
pub(super) fn prepare(inner: &Inner, invocation: &Invocation, record: &EventRecord) -> Job {
    let source = inner.queues.source(&record.arn);
    source.counters.received.one();
    #[cfg(feature = "idempotency")]
    let mut delivery = crate::pipeline::DeliveryNumber::default();
    let prepared = body_of(record).map(|body| {
        let mut ready = record.to_record(body);
        #[cfg(feature = "idempotency")]
        {
            delivery = ready.delivery;
        }
        ready.invocation = Some(invocation.clone());
        source.pipeline.prepare(ready)
    });
    Job {
        source,
        #[cfg(feature = "idempotency")]
        delivery,
        #[cfg(feature = "idempotency")]
        remembered: None,
        prepared: Some(prepared),
        handled: Handled::default(),
    }
}

/// The body as it came; a record without one fails alone. One that only points to another is
/// followed by the pipeline.
fn body_of(record: &EventRecord) -> Result<String, RecordError> {
    match &record.defect {
        Some(defect) => Err(defect.clone()),
        None => Ok(record.body.clone()),
    }
}

/// A record as the plan sees it.
pub(super) fn station<'a>((record, job): (&'a EventRecord, &'a Option<Job>)) -> Station<'a> {
    let batch = job.as_ref().and_then(|job| {
        let prepared = job.prepared.as_ref()?.as_ref().ok()?;
        let (handler, rule) = prepared.handler(&job.source.pipeline)?;
        Some(Key {
            handler,
            queue: &record.arn,
            value: rule?
                .per_attribute
                .and_then(|name| prepared.attribute(name)),
        })
    });
    Station {
        batch,
        group: group_of(record),
    }
}
