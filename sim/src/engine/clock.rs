//! The simulator's clock: a number that the event loop sets.

use sandpool_core::{Clock, Time};

/// A clock that stands until it is set.
#[derive(Clone, Copy, Debug, Default)]
pub struct VirtualClock {
    now: Time,
}

impl VirtualClock {
    /// Moves the clock. It never goes back: an earlier instant counts as the present one.
    pub fn set(&mut self, now: Time) {
        self.now = self.now.max(now);
    }
}

impl Clock for VirtualClock {
    #[inline]
    fn now(&self) -> Time {
        self.now
    }
}
