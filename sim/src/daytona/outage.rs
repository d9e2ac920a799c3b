//! Windows in which every call fails.

use super::profile::Outage;
use sandpool_core::{Span, Time};

/// The outages of a run.
#[derive(Clone, Debug)]
pub(super) struct Outages {
    windows: Vec<Window>,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    from: Time,
    until: Time,
    silent: bool,
}

/// How calls fail in an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// With an error.
    Loud,
    /// Without an answer.
    Silent,
}

impl Outages {
    pub(super) fn new(outages: &[Outage]) -> Self {
        let windows = outages
            .iter()
            .map(|outage| {
                let from = Time::ZERO.plus(outage.start);
                Window { from, until: from.plus(outage.duration), silent: outage.silent }
            })
            .collect();
        Self { windows }
    }

    /// An outage begins now.
    pub(super) fn begin(&mut self, now: Time, lasts: Span, silent: bool) {
        self.windows.push(Window { from: now, until: now.plus(lasts), silent });
    }

    /// There is no outage any more, and none to come.
    pub(super) fn end_all(&mut self) {
        self.windows.clear();
    }

    /// How calls fail at an instant; `None` when they do not. Where outages overlap, silence wins.
    #[inline]
    pub(super) fn at(&self, now: Time) -> Option<Manner> {
        self.covering(now).fold(None, |manner, window| match (manner, window.silent) {
            (Some(Manner::Silent), _) | (_, true) => Some(Manner::Silent),
            _ => Some(Manner::Loud),
        })
    }

    /// The first instant from `now` on at which calls work.
    #[inline]
    pub(super) fn over_by(&self, now: Time) -> Time {
        let mut at = now;
        while let Some(until) = self.covering(at).map(|window| window.until).max() {
            at = until;
        }
        at
    }

    fn covering(&self, now: Time) -> impl Iterator<Item = &Window> {
        self.windows.iter().filter(move |window| window.from <= now && now < window.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_outages_end_together_and_silence_wins() {
        let outage = |start, duration, silent| Outage {
            start: Span::from_secs(start),
            duration: Span::from_secs(duration),
            silent,
        };
        let outages = Outages::new(&[outage(10, 10, false), outage(15, 10, true)]);
        let at = |seconds| outages.at(Time::from_secs(seconds));
        assert_eq!(
            [at(9), at(10), at(15), at(24), at(25)],
            [None, Some(Manner::Loud), Some(Manner::Silent), Some(Manner::Silent), None]
        );
        assert_eq!(outages.over_by(Time::from_secs(12)), Time::from_secs(25));
        assert_eq!(outages.over_by(Time::from_secs(9)), Time::from_secs(9));
    }
}
