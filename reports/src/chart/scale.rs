//! From numbers to pixels, and where the ticks go.

use crate::number;

/// A tick of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// A map from numbers to pixels along one axis.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    /// `None` for a linear scale; else the size below which the scale is nearly linear and above
    /// which it is nearly logarithmic.
    bend: Option<f64>,
    pub(crate) ticks: Vec<Tick>,
}

impl Scale {
    /// A linear scale over at least `low..=high`, widened to round ends, with about `count` ticks.
    pub(crate) fn linear(low: f64, high: f64, count: usize) -> Self {
        let (low, high) = sane(low, high);
        let step = round_step((high - low) / count.max(1) as f64);
        let (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
        Self::with_ticks(first * step, last * step, step, first, last)
    }

    /// A linear scale that ends where the data end, with about `count` ticks inside.
    pub(crate) fn tight(low: f64, high: f64, count: usize) -> Self {
        let (low, high) = sane(low, high);
        let step = round_step((high - low) / count.max(1) as f64);
        let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
        Self::with_ticks(low, high, step, first, last)
    }

    /// Hours, from 0: as `tight`, with ticks at the parts of a day where the span is long.
    pub(crate) fn hours(high: f64, count: usize) -> Self {
        let (low, high) = sane(0.0, high);
        let rough = high / count.max(1) as f64;
        let step = if (1.0..=24.0).contains(&rough) {
            [1.0, 2.0, 3.0, 4.0, 6.0, 12.0, 24.0]
                .into_iter()
                .find(|&step| step >= rough)
                .unwrap_or(24.0)
        } else {
            round_step(rough)
        };
        Self::with_ticks(low, high, step, 0.0, (high / step + 1e-9).floor())
    }

    fn with_ticks(low: f64, high: f64, step: f64, first: f64, last: f64) -> Self {
        let count = (last - first).clamp(0.0, 100.0) as usize;
        let ticks = (0..=count)
            .map(|i| {
                let value = (first + i as f64) * step;
                Tick { value, label: number::tick(value, step) }
            })
            .collect();
        Self { low, high, from: 0.0, to: 1.0, bend: None, ticks }
    }

    /// A scale from an honest zero that turns from linear to logarithmic around `bend`. The map is
    /// the inverse hyperbolic sine of value / bend.
    pub(crate) fn symmetric_log(high: f64, bend: f64) -> Self {
        let high = high.clamp(bend, 1e300);
        let mut ticks = vec![Tick { value: 0.0, label: "0".into() }];
        let first = bend.log10().round();
        let decades = high.log10() - first;
        // Over many powers of ten only some of them can have a tick.
        let stride = (decades / 10.0).ceil().max(1.0);
        let multiples: &[f64] = if stride > 1.0 { &[1.0] } else { &[1.0, 3.0] };
        let mut exponent = first;
        while exponent <= first + decades + 1e-9 {
            for multiple in multiples {
                let value = 10_f64.powf(exponent) * multiple;
                if value >= bend * 0.999_999 && value <= high * 1.000_001 {
                    let decimals = number::decimals_for(value, 1);
                    ticks.push(Tick { value, label: number::fixed(value, decimals) });
                }
            }
            exponent += stride;
        }
        Self { low: 0.0, high, from: 0.0, to: 1.0, bend: Some(bend), ticks }
    }

    /// The same scale, laid onto the pixels `from..to`.
    pub(crate) fn onto(mut self, from: f64, to: f64) -> Self {
        (self.from, self.to) = (from, to);
        self
    }

    /// The pixel of a number; what lies outside the scale is put at its end.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let (low, high, value) = match self.bend {
            None => (self.low, self.high, value),
            Some(bend) => {
                ((self.low / bend).asinh(), (self.high / bend).asinh(), (value / bend).asinh())
            }
        };
        let part = ((value - low) / (high - low)).clamp(0.0, 1.0);
        self.from + part * (self.to - self.from)
    }
}

/// Ends that a scale can be made of: far from overflow, and apart.
fn sane(low: f64, high: f64) -> (f64, f64) {
    let (low, high) = (low.clamp(-1e300, 1e300), high.clamp(-1e300, 1e300));
    let size = low.abs().max(high.abs());
    if size < 1e-290 {
        (0.0, 1.0)
    } else if high - low > 1e-9 * size {
        (low, high)
    } else if low > 0.0 {
        (0.0, high)
    } else if high < 0.0 {
        (low, 0.0)
    } else {
        (low - size / 2.0, high + size / 2.0)
    }
}

/// The smallest of 1, 2 and 5 times a power of ten that is not below `rough`.
fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(|multiple| multiple * power)
        .find(|&step| step >= rough * 0.999_999)
        .unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> Vec<&str> {
        scale.ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_enclose_the_data() {
        let scale = Scale::linear(0.0, 9.3, 5).onto(0.0, 100.0);
        assert_eq!(labels(&scale), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!((scale.at(0.0), scale.at(5.0), scale.at(10.0)), (0.0, 50.0, 100.0));
    }

    #[test]
    fn tight_ticks_stay_inside_the_data() {
        assert_eq!(labels(&Scale::tight(-1.2, 1.2, 4)), ["\u{2212}1", "0", "1"]);
    }

    #[test]
    fn a_day_has_ticks_at_parts_of_a_day() {
        assert_eq!(
            labels(&Scale::hours(24.0, 8)),
            ["0", "3", "6", "9", "12", "15", "18", "21", "24"]
        );
        assert_eq!(labels(&Scale::hours(0.5, 5)), ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
    }

    #[test]
    fn the_logarithmic_scale_keeps_zero_and_order() {
        let scale = Scale::symmetric_log(30.0, 0.1).onto(10.0, 110.0);
        assert_eq!(labels(&scale), ["0", "0.1", "0.3", "1", "3", "10", "30"]);
        assert_eq!(scale.at(0.0), 10.0);
        let places: Vec<f64> = scale.ticks.iter().map(|tick| scale.at(tick.value)).collect();
        assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{places:?}");
        assert!((scale.at(30.0) - 110.0).abs() < 1e-9);
    }

    #[test]
    fn no_data_is_too_flat_too_large_or_too_small() {
        for (low, high) in [
            (0.0, 0.0),
            (5.0, 5.0),
            (-5.0, -5.0),
            (0.0, f64::MIN_POSITIVE),
            (0.0, 1e-200),
            (-f64::MAX, f64::MAX),
            (1e15, 1e15 + 1.0),
        ] {
            for scale in [Scale::linear(low, high, 5), Scale::tight(low, high, 5)] {
                let scale = scale.onto(0.0, 100.0);
                assert!(!scale.ticks.is_empty() && scale.ticks.len() < 30, "{low} {high}");
                assert!(scale.at(low).is_finite() && scale.at(high).is_finite(), "{low} {high}");
            }
        }
        for (high, bend) in [(0.0, 0.1), (1e-9, 1e-10), (f64::MAX, 0.1)] {
            let scale = Scale::symmetric_log(high, bend).onto(0.0, 100.0);
            assert!(scale.at(high).is_finite() && scale.ticks.len() > 1, "{high}");
        }
    }
}
