//! Panics of user code, as errors. Needs no runtime.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;

/// User code panicked.
#[derive(Debug, thiserror::Error)]
#[error("panicked: {0}")]
pub(crate) struct Panicked(pub(crate) String);

impl Panicked {
    /// From what a panic was caught with.
    pub(crate) fn with(payload: &(dyn Any + Send)) -> Self {
        Self(panic_text(payload))
    }
}

/// The text of a panic.
fn panic_text(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "with a value that is no text".to_owned()
    }
}

/// Calls user code and catches its panic.
#[cfg(feature = "sqs")]
pub(crate) fn fenced<T>(call: impl FnOnce() -> T) -> Result<T, Panicked> {
    std::panic::catch_unwind(AssertUnwindSafe(call)).map_err(|panic| Panicked::with(&*panic))
}

/// Runs user code to its end, or to its panic. No `async fn`, whose future would have room for
/// `work` twice.
pub(crate) fn fenced_async<T>(
    work: impl Future<Output = T>,
) -> impl Future<Output = Result<T, Panicked>> {
    AssertUnwindSafe(work)
        .catch_unwind()
        .map(|ended| ended.map_err(|panic| Panicked::with(&*panic)))
}
