//! The process's own stop signals.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::BoxFuture;

/// SIGTERM or ctrl-c, in two stages: the first stops a consumer that runs
/// [`run_until`](super::SqsConsumer::run_until) this, a second one forces it to an end. Listens
/// from when it is first polled.
pub fn shutdown_signal() -> ShutdownSignal {
    ShutdownSignal {
        first: Box::pin(async {
            let mut listeners = Listeners::new();
            listeners.next().await;
            listeners
        }),
    }
}

/// The future of [`shutdown_signal`].
#[must_use = "a signal is listened to when it is awaited"]
pub struct ShutdownSignal {
    first: BoxFuture<'static, Listeners>,
}

impl std::fmt::Debug for ShutdownSignal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShutdownSignal").finish_non_exhaustive()
    }
}

/// What a [`ShutdownSignal`] ends with: the wait for the next signal, on the same listeners, so
/// that none gets lost in between.
pub struct SecondSignal(pub(super) BoxFuture<'static, ()>);

impl std::fmt::Debug for SecondSignal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecondSignal").finish_non_exhaustive()
    }
}

impl Future for ShutdownSignal {
    type Output = SecondSignal;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<SecondSignal> {
        self.first
            .as_mut()
            .poll(cx)
            .map(|mut listeners| SecondSignal(Box::pin(async move { listeners.next().await })))
    }
}

/// Listens to SIGTERM and SIGINT. Where the process may not, no signal ever comes, which is said.
#[cfg(unix)]
struct Listeners(Option<(Signal, Signal)>);

#[cfg(unix)]
impl Listeners {
    fn new() -> Self {
        let both = (
            signal(SignalKind::terminate()),
            signal(SignalKind::interrupt()),
        );
        let (Ok(terminate), Ok(interrupt)) = both else {
            tracing::warn!("the process cannot listen to SIGTERM and SIGINT");
            return Self(None);
        };
        Self(Some((terminate, interrupt)))
    }

    async fn next(&mut self) {
        let Some((terminate, interrupt)) = &mut self.0 else {
            return std::future::pending().await;
        };
        tokio::select! {
            biased;
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Listeners;

#[cfg(not(unix))]
impl Listeners {
    fn new() -> Self {
        Self
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            tracing::warn!("the process cannot listen to ctrl-c");
            std::future::pending::<()>().await;
        }
    }
}
