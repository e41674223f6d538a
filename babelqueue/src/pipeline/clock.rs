//! Wall-clock timestamps that follow tokio's clock, so that a simulation under the paused clock
//! sees its own time. Used for what is written into records, never for a decision.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Where the clocks stood when the consumer was built.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    tokio: tokio::time::Instant,
    machine: Instant,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self {
            tokio: tokio::time::Instant::now(),
            machine: Instant::now(),
        }
    }

    /// How long ago a time in Unix milliseconds was; zero when clocks disagree.
    pub(crate) fn since(&self, unix_millis: u64) -> Option<Duration> {
        let now = u64::try_from(self.unix_millis()).ok()?;
        Some(Duration::from_millis(now.saturating_sub(unix_millis)))
    }

    /// Unix milliseconds. The system's own time, except by how far tokio's clock ran ahead.
    pub(crate) fn unix_millis(&self) -> i64 {
        let ahead = self.tokio.elapsed().saturating_sub(self.machine.elapsed());
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            + ahead;
        i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
    }
}
