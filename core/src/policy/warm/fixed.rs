//! The number written in the configuration.

use super::WarmView;

#[inline]
pub(super) const fn target(view: &WarmView<'_>) -> i64 {
    view.configured
}
