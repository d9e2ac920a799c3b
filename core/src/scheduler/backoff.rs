//! How long to wait before trying again: doubling, with jitter from a hash instead of chance.

use crate::time::Span;

/// The longest pause that a provider can ask for: whatever it says, it is asked again.
pub(super) const LONGEST_PAUSE: Span = Span::from_secs(3_600);

/// The delay before try number `failures` + 1 (`failures` from 1): `base` doubled with each
/// failure, at most `max`, of which the last half is jitter by `salt` so that retries of many
/// sandboxes spread out.
pub(super) fn delay(base: Span, max: Span, failures: u32, salt: u64) -> Span {
    let doublings = failures.saturating_sub(1).min(32);
    let full = base.times(1 << doublings).min(max).as_nanos();
    let half = full / 2;
    Span::from_nanos(full - half + mix(salt ^ u64::from(failures) << 48) % (half + 1))
}

/// SplitMix64's finaliser (Steele, Lea, Flood 2014; constants of Stafford's variant 13).
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_within_their_jitter_and_stop_at_the_longest() {
        let (base, max) = (Span::from_secs(1), Span::from_secs(60));
        for salt in 0..100 {
            for (failures, full) in [(1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (u32::MAX, 60)] {
                let delay = delay(base, max, failures, salt);
                assert!(delay <= Span::from_secs(full), "{failures}: {delay}");
                assert!(delay.times(2) >= Span::from_secs(full), "{failures}: {delay}");
            }
        }
        let spread: std::collections::BTreeSet<_> =
            (0..100).map(|salt| delay(base, max, 1, salt)).collect();
        assert!(spread.len() > 90);
    }
}
