//! The one place in which the server reads a clock.
//!
//! The scheduler counts from the start of this instance, on a monotonic clock: neither leap
//! seconds nor a set clock move its deadlines. The wall clock is only written down beside events,
//! for people.

use sandpool_core::{Clock, Time};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// Counts from the start of this instance. Under a paused runtime it stands still between timers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InstanceClock {
    began: Instant,
    began_ms: i64,
}

impl InstanceClock {
    /// A clock that begins now.
    pub(crate) fn start() -> Self {
        // The runtime's clock is the monotonic one, and can be paused by tests.
        Self { began: Instant::now(), began_ms: wall_clock_ms() }
    }

    /// The runtime's instant that corresponds to one of the scheduler's.
    pub(crate) fn instant(&self, at: Time) -> Instant {
        self.began + Duration::from_nanos(at.as_nanos()).min(CENTURY)
    }

    /// What the wall clock shows at one of the scheduler's instants, milliseconds since 1970. It
    /// never goes back within an instance.
    pub(crate) fn wall_clock_at_ms(&self, at: Time) -> i64 {
        self.began_ms.saturating_add_unsigned(at.as_nanos() / 1_000_000)
    }

    /// The same, now.
    pub(crate) fn wall_clock_ms(&self) -> i64 {
        self.wall_clock_at_ms(self.now())
    }
}

impl Clock for InstanceClock {
    fn now(&self) -> Time {
        Time::from_nanos(u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Further ahead than this is never.
const CENTURY: Duration = Duration::from_secs(3_155_760_000);

/// What the wall clock shows, milliseconds since 1970.
pub(crate) fn wall_clock_ms() -> i64 {
    #[expect(clippy::disallowed_methods, reason = "the real clock enters the server here")]
    let now = SystemTime::now();
    now.duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
