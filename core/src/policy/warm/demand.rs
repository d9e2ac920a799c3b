//! What arrives during one start at the recent rate (Little's law), one more for luck, at least
//! the configured number and at most `warm_max`; nothing after a quiet quarter of an hour beyond
//! the configured number.

use super::WarmView;

pub(super) fn target(view: &WarmView<'_>) -> i64 {
    let per_second = view.history.recent_per_second(view.now);
    if per_second <= 0.0 {
        return view.configured;
    }
    let during_start = (per_second * view.start.as_secs_f64()).ceil() as i64 + 1;
    during_start.min(view.max).max(view.configured)
}

#[cfg(test)]
mod tests {
    use super::super::DemandHistory;
    use super::*;
    use crate::time::{Span, Time};

    #[test]
    fn follows_the_rate_between_its_bounds() {
        let mut history = DemandHistory::default();
        let view = |history: &DemandHistory, now: u64| {
            target(&WarmView {
                configured: 1,
                max: 5,
                hit_percent: 90,
                start: Span::from_secs(10),
                history,
                now: Time::from_secs(now),
            })
        };
        assert_eq!(view(&history, 0), 1);
        for second in 0..900 {
            if second % 10 == 0 {
                history.record(Time::from_secs(second));
            }
        }
        assert_eq!(view(&history, 900), 2, "one claim in ten seconds, a start of ten seconds");
        for second in 900..1_800 {
            history.record(Time::from_secs(second));
        }
        assert_eq!(view(&history, 1_800), 5, "bounded by warm_max");
        assert_eq!(view(&history, 90_000), 1, "quiet again");
    }
}
