//! Requests a minute: a counted window, then a blocked one.

use super::profile::RateLimits;
use sandpool_core::{Span, Time};

/// Length of the counted window and of the block that follows an excess.
pub(super) const WINDOW: Span = Span::from_secs(60);

/// The limiters that matter to a scheduler.
#[derive(Clone, Debug)]
pub(super) struct RateLimiters {
    /// Creates.
    pub(super) creates: RateLimiter,
    /// Deletes, starts and stops.
    pub(super) lifecycle: RateLimiter,
}

impl RateLimiters {
    pub(super) fn new(limits: RateLimits) -> Self {
        Self {
            creates: RateLimiter::new(limits.creates),
            lifecycle: RateLimiter::new(limits.lifecycle),
        }
    }
}

/// One limiter. A window opens with the first request after the last one closed. The request that
/// exceeds the limit closes it and blocks every request for a whole window from then on; requests
/// that are refused for other reasons have counted like any other.
#[derive(Clone, Debug)]
pub(super) struct RateLimiter {
    limit: u32,
    window: Span,
    opened: Time,
    count: u32,
    blocked_until: Time,
}

impl RateLimiter {
    fn new(limit: u32) -> Self {
        Self::with_window(limit, WINDOW)
    }

    /// A limiter of `limit` requests in each `window`.
    pub(super) fn with_window(limit: u32, window: Span) -> Self {
        Self { limit, window, opened: Time::ZERO, count: 0, blocked_until: Time::ZERO }
    }

    /// How many requests are left in the window, and the time until it ends, in whole seconds.
    pub(super) fn left(&self, now: Time) -> (u32, Span) {
        let ends = self.opened.plus(self.window);
        let open = if ends > now { ends.since(now) } else { Span::ZERO };
        (self.limit.saturating_sub(self.count), whole_seconds(open))
    }

    /// While it blocks: the time until it does not any more, in whole seconds.
    pub(super) fn blocked(&self, now: Time) -> Option<Span> {
        (now < self.blocked_until).then(|| whole_seconds(self.blocked_until.since(now)))
    }

    /// Counts a request.
    ///
    /// # Errors
    /// When it is refused: the time until the block ends, in whole seconds as the header says it.
    #[inline]
    pub(super) fn admit(&mut self, now: Time) -> Result<(), Span> {
        if self.limit == u32::MAX {
            return Ok(());
        }
        if now < self.blocked_until {
            return Err(whole_seconds(self.blocked_until.since(now)));
        }
        if self.count == 0 || now >= self.opened.plus(self.window) {
            self.opened = now;
            self.count = 0;
        }
        if self.count == self.limit {
            self.count = 0;
            self.blocked_until = now.plus(self.window);
            return Err(whole_seconds(self.window));
        }
        self.count += 1;
        Ok(())
    }
}

fn whole_seconds(span: Span) -> Span {
    Span::from_secs(span.as_nanos().div_ceil(1_000_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excess_blocks_for_a_whole_window() {
        let mut limiter = RateLimiter::new(2);
        let at = Time::from_secs;
        assert_eq!(limiter.admit(at(5)), Ok(()));
        assert_eq!(limiter.admit(at(20)), Ok(()));
        assert_eq!(limiter.admit(at(50)), Err(Span::from_secs(60)));
        // The counted window would have ended at 65; the block lasts until 110.
        assert_eq!(limiter.admit(at(70)), Err(Span::from_secs(40)));
        assert_eq!(limiter.admit(Time::from_nanos(109_400_000_000)), Err(Span::from_secs(1)));
        assert_eq!(limiter.admit(at(110)), Ok(()));
        assert_eq!(limiter.admit(at(111)), Ok(()));
        // A window that closes without excess leaves nothing behind.
        assert_eq!(limiter.admit(at(170)), Ok(()));
    }

    #[test]
    fn zero_refuses_everything_and_the_largest_nothing() {
        assert!(RateLimiter::new(0).admit(Time::ZERO).is_err());
        let mut unlimited = RateLimiter::new(u32::MAX);
        assert!((0..1000).all(|_| unlimited.admit(Time::ZERO).is_ok()));
    }
}
