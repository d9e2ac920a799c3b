//! The journal alone rebuilds what was said: a fresh scheduler that is told the same says the same.

use super::Violation;
use crate::engine::Line;
use crate::journal::replay;
use crate::scenario::Variant;

pub(super) fn check(variant: &Variant, journal: &[Line]) -> Result<(), Violation> {
    replay(&variant.server, journal, |_| {}).map_err(|divergence| {
        let text = format!("recorded {}, replayed {}", divergence.recorded, divergence.replayed);
        Violation::at(divergence.line, text)
    })
}
