//! As the turn begins, if the turn is likely to need code: by the caller's own estimate where it
//! gives one, else by the conversation's past.

use super::TurnView;

pub(super) fn asks_at_begin(view: &TurnView) -> bool {
    let percent = match view.likely_percent {
        Some(percent) => i64::from(percent),
        // Laplace's rule of succession: one turn with and one without code before any is seen.
        None => (i64::from(view.turns_with_code) + 1) * 100 / (i64::from(view.turns) + 2),
    };
    percent >= view.threshold_percent
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(turns: u32, turns_with_code: u32, likely_percent: Option<u8>) -> TurnView {
        TurnView { likely_percent, turns, turns_with_code, threshold_percent: 50 }
    }

    #[test]
    fn the_callers_estimate_comes_before_the_past() {
        assert!(asks_at_begin(&view(10, 0, Some(50))));
        assert!(!asks_at_begin(&view(10, 10, Some(49))));
    }

    #[test]
    fn the_past_decides_where_there_is_no_estimate() {
        assert!(asks_at_begin(&view(0, 0, None)), "a first turn is even odds");
        assert!(!asks_at_begin(&view(1, 0, None)));
        assert!(asks_at_begin(&view(4, 3, None)));
    }
}
