//! Time. Everything here counts on tokio's clock, so that a test with a paused
//! clock owns it: an [`At`] is a moment of that clock, and the wall time that
//! SQS shows to its clients is the moment of creation plus what the clock has
//! counted since.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// How far before the creation of the server its scale begins, so that messages
/// can be put on a queue as if they had been sent in the past.
const HEAD_START: Duration = Duration::from_secs(60 * 24 * 3600);

/// A moment, in nanoseconds since the scale began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct At(u64);

impl At {
    pub(crate) fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(nanos(span)))
    }

    pub(crate) fn plus_secs(self, secs: u32) -> Self {
        self.plus(Duration::from_secs(u64::from(secs)))
    }

    pub(crate) fn minus(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(nanos(span)))
    }

    /// The span from `earlier` to here; zero when that lies in the future.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// The clock of one server.
#[derive(Debug)]
pub(crate) struct Clock {
    created: Instant,
    wall: Wall,
}

impl Clock {
    pub(crate) fn new(created_at: SystemTime) -> Self {
        let since_epoch = created_at.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            created: Instant::now(),
            wall: Wall(since_epoch),
        }
    }

    pub(crate) fn now(&self) -> At {
        self.creation().plus(self.created.elapsed())
    }

    fn creation(&self) -> At {
        At(nanos(HEAD_START))
    }

    /// How long ago the server was created.
    pub(crate) fn age(&self) -> Duration {
        self.created.elapsed()
    }

    /// The instant at which `at` is due, to sleep until.
    pub(crate) fn instant(&self, at: At) -> Instant {
        self.created + at.since(self.creation())
    }

    pub(crate) fn wall(&self) -> Wall {
        self.wall
    }
}

/// Turns moments into the wall time that clients see: the time of creation, since the epoch.
/// What was before the epoch is shown as the epoch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wall(Duration);

impl Wall {
    fn since_epoch(self, at: At) -> Duration {
        (self.0 + Duration::from_nanos(at.0)).saturating_sub(HEAD_START)
    }

    /// Milliseconds since the Unix epoch.
    pub(crate) fn millis(self, at: At) -> u64 {
        u64::try_from(self.since_epoch(at).as_millis()).unwrap_or(u64::MAX)
    }

    /// Seconds since the Unix epoch.
    pub(crate) fn secs(self, at: At) -> u64 {
        self.since_epoch(at).as_secs()
    }

    pub(crate) fn time(self, at: At) -> SystemTime {
        UNIX_EPOCH + self.since_epoch(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wall_shows_the_time_of_creation_and_what_has_passed() {
        let day = Duration::from_secs(24 * 3600);
        for created in [0, 1, 59, 60, 61, 20_000].map(|days| day * days) {
            let clock = Clock::new(UNIX_EPOCH + created);
            let (now, wall) = (clock.creation(), clock.wall());
            assert_eq!(wall.secs(now), created.as_secs());
            assert_eq!(
                u128::from(wall.millis(now.plus(day))),
                (created + day).as_millis()
            );
            let before = wall.time(now.minus(day * 30));
            assert_eq!(before, UNIX_EPOCH + created.saturating_sub(day * 30));
        }
    }
}
