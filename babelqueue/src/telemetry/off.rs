//! The seam without the feature: nothing to hold, and nothing to do.

use super::Failure;
use crate::context::Context;
use crate::message::{Draft, PublishError, Published};

#[derive(Clone, Debug, Default)]
pub(crate) struct Telemetry {}

impl Telemetry {
    pub(crate) fn observer(&self, _queue: &str) -> Observer {
        Observer {}
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Observer {}

impl Observer {
    pub(crate) fn processing(&self, _message: &Context) -> Processing {
        Processing
    }

    pub(crate) fn publishing(&self, _draft: &mut Draft) -> Publishing {
        Publishing
    }
}

#[must_use]
pub(crate) struct Processing;

impl Processing {
    pub(crate) fn scope<F>(&self, future: F) -> F {
        future
    }

    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }

    pub(crate) fn failed<'a>(&self, _failure: impl FnOnce() -> Failure<'a>) {}

    pub(crate) fn end(self, _outcome: &'static str) {}
}

#[must_use]
pub(crate) struct Publishing;

impl Publishing {
    pub(crate) fn scope<F>(&self, future: F) -> F {
        future
    }

    pub(crate) fn end(self, _result: &Result<Published, PublishError>) {}
}
