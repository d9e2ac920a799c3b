//! Integer time. Nothing in this crate reads a clock: an instant is always an argument.

use serde::{Deserialize, Serialize};
use std::fmt;

/// An instant, in nanoseconds since an origin that the caller chose (0 to about 584 years).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Time(u64);

/// A length of time, in nanoseconds. [`Span::MAX`] means "without bound".
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Span(u64);

const NANOS_PER_SECOND: u64 = 1_000_000_000;

impl Time {
    /// The origin.
    pub const ZERO: Time = Time(0);
    /// Never: later than any instant that is reached.
    pub const MAX: Time = Time(u64::MAX);

    /// The instant `nanos` nanoseconds after the origin.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Time {
        Time(nanos)
    }

    /// The instant `seconds` whole seconds after the origin.
    #[must_use]
    pub const fn from_secs(seconds: u64) -> Time {
        Time(seconds.saturating_mul(NANOS_PER_SECOND))
    }

    /// Nanoseconds since the origin.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the origin, rounded to the nearest representable number.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// This instant and `span` more; [`Time::MAX`] where that is out of range.
    #[must_use]
    pub const fn plus(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }

    /// The time from `earlier` to this instant; zero when `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// Without bound.
    pub const MAX: Span = Span(u64::MAX);

    /// `nanos` nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Span {
        Span(nanos)
    }

    /// `millis` milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Span {
        Span(millis.saturating_mul(1_000_000))
    }

    /// `seconds` whole seconds.
    #[must_use]
    pub const fn from_secs(seconds: u64) -> Span {
        Span(seconds.saturating_mul(NANOS_PER_SECOND))
    }

    /// `seconds` rounded to the nearest nanosecond; zero for negative numbers and NaN,
    /// [`Span::MAX`] for infinity and anything out of range.
    #[must_use]
    pub fn from_secs_f64(seconds: f64) -> Span {
        // `as` saturates and maps NaN to zero, which is exactly the contract above.
        Span((seconds * NANOS_PER_SECOND as f64).round() as u64)
    }

    /// Nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds, rounded to the nearest representable number.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// The sum; [`Span::MAX`] where that is out of range.
    #[must_use]
    pub const fn plus(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }

    /// This span without `other`; zero when `other` is longer.
    #[must_use]
    pub const fn minus(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// This span `factor` times; [`Span::MAX`] where that is out of range.
    #[must_use]
    pub const fn times(self, factor: u64) -> Span {
        Span(self.0.saturating_mul(factor))
    }

    /// Whether this is the unbounded span.
    #[must_use]
    pub const fn is_unbounded(self) -> bool {
        self.0 == u64::MAX
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}s", self.as_secs_f64())
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_unbounded() {
            f.write_str("unbounded")
        } else {
            write!(f, "{:.3}s", self.as_secs_f64())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_instead_of_wrapping() {
        assert_eq!(Time::MAX.plus(Span::from_secs(1)), Time::MAX);
        assert_eq!(Time::from_secs(1).plus(Span::MAX), Time::MAX);
        assert_eq!(Time::from_secs(1).since(Time::from_secs(2)), Span::ZERO);
        assert_eq!(Span::from_secs(u64::MAX), Span::MAX);
    }

    #[test]
    fn fractions_of_seconds_round_and_clamp() {
        assert_eq!(Span::from_secs_f64(0.25).as_nanos(), 250_000_000);
        assert_eq!(Span::from_secs_f64(-1.0), Span::ZERO);
        assert_eq!(Span::from_secs_f64(f64::NAN), Span::ZERO);
        assert_eq!(Span::from_secs_f64(f64::INFINITY), Span::MAX);
    }
}
