//! The seam without the feature: nothing to hold, and nothing to do.

use std::time::Duration;

use super::{Counted, Ended, Failure};
use crate::context::Context;
use crate::error_text::Redact;
use crate::message::{Draft, PublishError, Published};

#[derive(Clone, Debug, Default)]
pub(crate) struct Telemetry {}

impl Telemetry {
    pub(crate) fn observer(&self, _queue: &str, _redact: Option<&Redact>) -> Observer {
        Observer {}
    }

    #[cfg(feature = "lambda")]
    pub(crate) fn invocation(
        &self,
        _request_id: &str,
        _xray_trace: Option<&str>,
        _records: usize,
    ) -> Invoked {
        Invoked
    }
}

#[cfg(feature = "lambda")]
#[must_use]
pub(crate) struct Invoked;

#[cfg(feature = "lambda")]
impl Invoked {
    pub(crate) fn scope<F>(&self, future: F) -> F {
        future
    }

    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Observer {}

impl Observer {
    pub(crate) fn processing(
        &self,
        _message: &Context,
        _routed: bool,
        _waited: impl FnOnce() -> Option<Duration>,
    ) -> Processing {
        Processing
    }

    pub(crate) fn batch<'a>(&self, _messages: impl Iterator<Item = &'a Context>) -> Batch {
        Batch
    }

    pub(crate) fn publishing(&self, _draft: &mut Draft) -> Publishing {
        Publishing
    }

    pub(crate) fn sending_on(
        &self,
        _urn: &str,
        _trace_id: &str,
        _headers: &mut Vec<(String, String)>,
    ) -> Publishing {
        Publishing
    }

    pub(crate) fn metric(&self, _counted: Counted) -> Metric {
        Metric
    }

    pub(crate) fn in_flight(&self) -> Held {
        Held
    }

    pub(crate) fn buffered(&self) -> Held {
        Held
    }

    pub(crate) fn unhandled(&self, _ended: Ended) {}
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Metric;

impl Metric {
    pub(crate) fn add(&self, _n: u64) {}
}

#[derive(Debug)]
#[must_use]
pub(crate) struct Held;

#[derive(Clone, Debug, Default)]
pub(crate) struct Handled {}

pub(crate) struct Settled;

impl Settled {
    pub(crate) fn of<'a>(_handled: impl Iterator<Item = &'a Handled>) -> Self {
        Self
    }

    pub(crate) fn scope<F>(self, call: F) -> F {
        call
    }
}

#[must_use]
pub(crate) struct Processing;

impl Processing {
    pub(crate) fn of_nothing() -> Self {
        Self
    }

    pub(crate) fn scope<F>(&self, future: F) -> F {
        future
    }

    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }

    pub(crate) fn failed<'a>(&self, _kind: &'static str, _failure: impl FnOnce() -> Failure<'a>) {}

    pub(crate) fn end(self, _ended: Ended) -> Handled {
        Handled {}
    }
}

#[must_use]
pub(crate) struct Batch;

impl Batch {
    pub(crate) fn scope<F>(&self, future: F) -> F {
        future
    }

    pub(crate) fn failed<'a>(&self, _kind: &'static str, _failure: impl FnOnce() -> Failure<'a>) {}

    pub(crate) fn end(self) {}

    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }
}

#[must_use]
#[derive(Debug)]
pub(crate) struct Publishing;

impl Publishing {
    pub(crate) fn scope<F>(&self, future: F) -> F {
        future
    }

    pub(crate) fn end(self, _result: &Result<Published, PublishError>) {}
}
