//! A record after the first look: routed, and ready for its handler or for its end. A driver that
//! handles several messages together looks first and acts later.

use super::intake::{Opened, Reading, open};
use super::layers::Place;
use super::process::Pipeline;
use super::processed::Processed;
use super::record::Record;
use crate::context::{Context, Delivery};
use crate::handler::BatchRule;
use crate::panics::{Panicked, fenced};
use crate::policy::ReportKind;

/// A record, and what it turned out to be.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(super) record: Box<Record>,
    pub(super) looked: Looked,
}

/// What a record turned out to be.
#[derive(Debug)]
pub(super) enum Looked {
    /// Something that a handler may have.
    Delivery(Delivery),
    /// Something that none may have.
    Refused(Box<Opened>),
    /// A decoder panicked over it.
    Panicked(Panicked),
}

impl Prepared {
    /// The handler that takes it, and how that takes batches; `None` when there is none.
    pub(crate) fn handler(&self, pipeline: &Pipeline) -> Option<(usize, Option<BatchRule>)> {
        let Looked::Delivery(delivery) = &self.looked else {
            return None;
        };
        let dispatch = &pipeline.handling.dispatch;
        let handler = dispatch.find(delivery.context().urn())?;
        Some((handler, dispatch.batch_rule(handler)))
    }

    /// How long the message stays invisible from now on, if that is known.
    pub(crate) fn set_visible_after(&mut self, time: Option<std::time::Duration>) {
        self.record.visible_after = time;
    }

    #[cfg(test)]
    pub(crate) fn refused_for_tests(record: Record) -> Self {
        Self {
            record: Box::new(record),
            looked: Looked::Panicked(Panicked(String::new())),
        }
    }

    /// As [`Source::fifo_group`](crate::context::Source::fifo_group).
    pub(super) fn fifo_group(&self) -> Option<&str> {
        match &self.looked {
            Looked::Delivery(delivery) => delivery.context().source().fifo_group(),
            _ => None,
        }
    }

    /// A text attribute of the message.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        match &self.looked {
            Looked::Delivery(delivery) => delivery.context().headers().get(name),
            _ => None,
        }
    }
}

impl Pipeline {
    /// Looks at a record, and does nothing about it.
    pub(crate) fn prepare(&self, record: impl Into<Box<Record>>) -> Prepared {
        let mut record = record.into();
        let looked = match fenced(|| self.look(&mut record)) {
            Ok(Ok(delivery)) => Looked::Delivery(delivery),
            Ok(Err(opened)) => Looked::Refused(opened),
            Err(panicked) => Looked::Panicked(panicked),
        };
        Prepared { record, looked }
    }

    /// Takes a prepared message the rest of its way.
    pub(crate) async fn handle(&self, prepared: Prepared) -> Processed {
        self.handle_in(prepared, Place::Alone).await
    }

    pub(super) async fn handle_in(&self, prepared: Prepared, place: Place<'_>) -> Processed {
        let Prepared { record, looked } = prepared;
        match looked {
            Looked::Delivery(delivery) => self.route(&record, delivery, place).await,
            Looked::Refused(opened) => self.not_opened(record, opened).await,
            Looked::Panicked(panicked) => {
                let subject = super::process::subject(&record, None);
                self.reporter
                    .report(ReportKind::Poison, subject.left(), &panicked);
                self.unhandled(Processed::left(record.body))
            }
        }
    }

    /// The delivery that a handler may have, or why none may have one.
    pub(super) fn look(&self, record: &mut Record) -> Result<Delivery, Box<Opened>> {
        let opened = open(record, self.reading());
        self.sort(record, opened)
    }

    pub(super) fn reading(&self) -> Reading<'_> {
        Reading {
            lenient: self.lenient,
            decoders: &self.decoders,
            queue: &self.queue,
            #[cfg(feature = "payload-store")]
            payloads: self.payloads.as_ref(),
        }
    }

    /// The delivery in what was found, if there is one.
    pub(super) fn sort(&self, record: &Record, opened: Opened) -> Result<Delivery, Box<Opened>> {
        match opened {
            Opened::Accepted {
                envelope,
                attempts,
                trace_id,
            } => {
                let headers = record.headers();
                let source = record.source(&self.queue);
                let mut context = Context::new(envelope, attempts, headers, source)
                    .with_lease(record.lease.clone());
                if let Some(trace_id) = trace_id {
                    context = context.with_trace_id(trace_id);
                }
                #[cfg(feature = "lambda")]
                if let Some(invocation) = &record.invocation {
                    context = context.with_invocation(invocation.clone());
                }
                let dispatch = &self.handling.dispatch;
                let handler = dispatch.find(context.urn());
                if let Some(handler) = handler.filter(|at| dispatch.batch_rule(*at).is_some()) {
                    let span = self.span(record, &context, handler);
                    context = context.with_span(span);
                }
                Ok(Delivery::new(context))
            }
            refused => Err(Box::new(refused)),
        }
    }
}
