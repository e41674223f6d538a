//! The process's own stop signals.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::BoxFuture;

/// SIGTERM or ctrl-c, in two stages: the first stops a consumer that runs
/// [`run_until`](super::SqsConsumer::run_until) this, a second one forces it to an end.
pub fn shutdown_signal() -> ShutdownSignal {
    ShutdownSignal {
        wait: Box::pin(wait()),
    }
}

/// The future of [`shutdown_signal`].
#[must_use = "a signal is listened to when it is awaited"]
pub struct ShutdownSignal {
    wait: BoxFuture<'static, ()>,
}

impl std::fmt::Debug for ShutdownSignal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShutdownSignal").finish_non_exhaustive()
    }
}

/// What a [`ShutdownSignal`] ends with: the wait for the next one.
pub struct SecondSignal(pub(super) BoxFuture<'static, ()>);

impl std::fmt::Debug for SecondSignal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecondSignal").finish_non_exhaustive()
    }
}

impl Future for ShutdownSignal {
    type Output = SecondSignal;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<SecondSignal> {
        self.wait
            .as_mut()
            .poll(cx)
            .map(|()| SecondSignal(Box::pin(wait())))
    }
}

/// Waits for one signal. Where the process may not listen, it waits for ever, and says so.
#[cfg(unix)]
async fn wait() {
    use tokio::signal::unix::{SignalKind, signal};

    let listeners = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    );
    let (Ok(mut terminate), Ok(mut interrupt)) = listeners else {
        tracing::warn!("the process cannot listen to SIGTERM and SIGINT");
        return std::future::pending().await;
    };
    tokio::select! {
        biased;
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

#[cfg(not(unix))]
async fn wait() {
    if tokio::signal::ctrl_c().await.is_err() {
        tracing::warn!("the process cannot listen to ctrl-c");
        std::future::pending::<()>().await;
    }
}
