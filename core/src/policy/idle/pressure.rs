//! After `idle_seconds`, or `idle_pressure_seconds` while capacity is short.

use super::CapacityView;
use crate::time::Span;

pub(super) fn span(view: &CapacityView) -> Span {
    if view.short { view.idle.min(view.idle_pressure) } else { view.idle }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pressure_shortens_and_never_lengthens() {
        let view = |idle, short| CapacityView {
            idle: Span::from_secs(idle),
            idle_pressure: Span::from_secs(60),
            short,
        };
        assert_eq!(span(&view(900, false)), Span::from_secs(900));
        assert_eq!(span(&view(900, true)), Span::from_secs(60));
        assert_eq!(span(&view(30, true)), Span::from_secs(30));
    }
}
