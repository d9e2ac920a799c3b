//! What must add up exactly in every run, whatever the policy and whatever goes wrong.
//!
//! Executes are counted twice, from two sides: by the clients, who ask and are answered, and by
//! the scheduler's events. Time is added up twice: as the area under the number of unanswered
//! executes, and as the sum of what each of them waited (Little's law, which for the sums of one
//! run is an identity). All of it is in whole nanoseconds, so that equal means equal.

use sandpool_core::{Span, Time};
use std::fmt;

/// The two sides of the books of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Executes that clients asked for.
    pub asked: u64,
    /// Executes that the scheduler let go, by its events.
    pub let_go: u64,
    /// Executes that the scheduler refused, by its events.
    pub refused: u64,
    /// Executes that the scheduler turned down as senseless.
    pub turned_down: u64,
    /// Executes that a crash of our server left unanswered.
    pub lost: u64,
    /// Executes that the scheduler has not answered at the end, as it sees it.
    pub still_there: u64,
    /// Area under the number of unanswered executes within the measured time, in nanoseconds.
    pub area_nanos: u128,
    /// What each unanswered execute waited within the measured time, summed, in nanoseconds.
    pub waited_nanos: u128,
    /// What the answered executes of the whole run waited by the clients' clocks, summed.
    pub answered_nanos: u128,
    /// The same as the scheduler's answers told it. An execute that was first held up by a probe
    /// of its own sandbox and then refused is told only what it waited for capacity.
    pub told_nanos: u128,
    unanswered: u64,
    since: Time,
    from: Time,
    end: Time,
    is_closed: bool,
}

/// Books that do not balance: a bug in the scheduler or in the simulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imbalance(Box<Balance>);

impl fmt::Display for Imbalance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Balance { asked, let_go, refused, turned_down, lost, still_there, .. } = *self.0;
        write!(
            f,
            "{asked} executes asked for, {let_go} let go + {refused} refused + {turned_down} turned \
             down + {lost} lost + {still_there} still there; area under the number waiting {} ns, \
             sum of the waits {} ns; answered after {} ns, told {} ns",
            self.0.area_nanos, self.0.waited_nanos, self.0.answered_nanos, self.0.told_nanos
        )
    }
}

impl std::error::Error for Imbalance {}

impl Balance {
    /// Empty books. Time is added up from `from` to `end`.
    pub(crate) fn new(from: Time, end: Time) -> Self {
        Self { from, end, ..Self::default() }
    }

    /// The number of unanswered executes changes.
    #[inline]
    fn change(&mut self, at: Time, change: i64) {
        let passed = self.measured(self.since, at).as_nanos();
        self.area_nanos += u128::from(self.unanswered) * u128::from(passed);
        self.since = at;
        self.unanswered = self.unanswered.saturating_add_signed(change);
    }

    #[inline]
    fn measured(&self, since: Time, at: Time) -> Span {
        at.min(self.end).since(since.max(self.from))
    }

    /// A client asks for an execute.
    #[inline]
    pub(crate) fn asked(&mut self, at: Time) {
        self.asked += 1;
        self.change(at, 1);
    }

    /// The scheduler let an execute go, or refused it, and told how long it had waited.
    #[inline]
    pub(crate) fn answered(&mut self, at: Time, is_let_go: bool, told: Span) {
        if self.is_closed {
            return;
        }
        self.let_go += u64::from(is_let_go);
        self.refused += u64::from(!is_let_go);
        self.told_nanos += u128::from(told.as_nanos());
        self.change(at, -1);
    }

    /// A client heard the answer to what it had asked at `asked_at`.
    #[inline]
    pub(crate) fn heard(&mut self, asked_at: Time, at: Time) {
        self.waited_nanos += u128::from(self.measured(asked_at, at).as_nanos());
        self.answered_nanos += u128::from(at.since(asked_at).as_nanos());
    }

    /// The scheduler turned the execute down: it will never be answered.
    pub(crate) fn turned_down(&mut self, asked_at: Time, at: Time) {
        self.turned_down += 1;
        self.change(at, -1);
        self.waited_nanos += u128::from(self.measured(asked_at, at).as_nanos());
    }

    /// Our server crashed before it answered.
    pub(crate) fn lost(&mut self, asked_at: Time, at: Time) {
        self.lost += 1;
        self.change(at, -1);
        self.waited_nanos += u128::from(self.measured(asked_at, at).as_nanos());
    }

    /// The run is over: those who asked at these times are unanswered, and the scheduler counts
    /// `still_there` of them. What comes later is not booked.
    pub(crate) fn close(&mut self, at: Time, asked_at: impl Iterator<Item = Time>, count: u64) {
        self.change(at, 0);
        for asked_at in asked_at {
            self.waited_nanos += u128::from(self.measured(asked_at, at).as_nanos());
        }
        self.still_there = count;
        self.is_closed = true;
    }

    /// Checks what holds in every run: executes asked for are answered, given up or still there,
    /// and the area under their number is the sum of their waits.
    ///
    /// # Errors
    /// When the two sides differ, be it by one execute or one nanosecond.
    pub fn check(&self) -> Result<(), Imbalance> {
        let answered = self.let_go + self.refused + self.turned_down + self.lost + self.still_there;
        if self.asked == answered
            && self.area_nanos == self.waited_nanos
            && self.told_nanos <= self.answered_nanos
        {
            Ok(())
        } else {
            Err(Imbalance(Box::new(*self)))
        }
    }

    /// Checks in addition what holds where no execute is ever held up by a probe: each answer
    /// tells exactly what its client waited.
    ///
    /// # Errors
    /// When the two sides differ.
    pub fn check_strictly(&self) -> Result<(), Imbalance> {
        self.check()?;
        if self.told_nanos == self.answered_nanos {
            Ok(())
        } else {
            Err(Imbalance(Box::new(*self)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    /// Three executes: answered across the begin of the window, lost, still there.
    fn kept() -> Balance {
        let mut books = Balance::new(at(10), at(100));
        books.asked(at(4));
        books.asked(at(20));
        books.answered(at(30), true, Span::from_nanos(26));
        books.heard(at(4), at(30));
        books.lost(at(20), at(50));
        books.asked(at(70));
        books.close(at(100), [at(70)].into_iter(), 1);
        books.answered(at(120), false, Span::from_nanos(50));
        books
    }

    #[test]
    fn waits_are_clipped_to_the_window_on_both_sides() {
        let books = kept();
        assert_eq!(books.check_strictly(), Ok(()));
        assert_eq!(books.area_nanos, 20 + 30 + 30);
        assert_eq!((books.asked, books.let_go, books.refused), (3, 1, 0));
    }

    #[test]
    fn one_execute_or_one_nanosecond_is_missed() {
        let mut books = kept();
        books.still_there = 0;
        assert!(
            books.check().unwrap_err().to_string().starts_with("3 executes asked for, 1 let go")
        );
        let mut books = kept();
        books.waited_nanos += 1;
        assert!(books.check().is_err());
        let mut books = kept();
        books.told_nanos -= 1;
        assert_eq!(books.check(), Ok(()));
        assert!(books.check_strictly().is_err());
        books.told_nanos += 2;
        assert!(books.check().is_err());
    }
}
