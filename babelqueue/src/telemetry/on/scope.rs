//! A future that runs inside an OpenTelemetry context, or as it is when there is none.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context as Waking, Poll};

use opentelemetry::Context;
use pin_project_lite::pin_project;

pin_project! {
    /// OpenTelemetry has such a future, too, which sets a context in any case.
    pub(crate) struct Scoped<'a, F> {
        context: Option<&'a Context>,
        #[pin]
        future: F,
    }
}

impl<'a, F> Scoped<'a, F> {
    pub(super) fn new(context: Option<&'a Context>, future: F) -> Self {
        Self { context, future }
    }
}

impl<F: Future> Future for Scoped<'_, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, waking: &mut Waking<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _current = this.context.map(|context| context.clone().attach());
        this.future.poll(waking)
    }
}
