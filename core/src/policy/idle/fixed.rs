//! After `idle_seconds`, whatever else happens.

use super::CapacityView;
use crate::time::Span;

#[inline]
pub(super) const fn span(view: &CapacityView) -> Span {
    view.idle
}
