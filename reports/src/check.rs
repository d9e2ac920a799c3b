//! Checks the numbers of a report before anything is drawn from them.

use crate::data::{Estimate, ReportData, VariantData};
use crate::error::ChartError;

/// Sums of many products may end a hair below zero; that much is taken for zero.
const ROUNDING: f64 = 1e-9;

/// Checks every number and name.
///
/// # Errors
/// The first thing that is wrong, in the order of the fields.
pub(crate) fn check(data: &ReportData) -> Result<(), ChartError> {
    in_range(|| "confidence".into(), data.confidence, 0.0, 1.0)?;
    for (i, variant) in data.variants.iter().enumerate() {
        if data.variants[..i].iter().any(|earlier| earlier.name == variant.name) {
            return Err(ChartError::DuplicateVariant { name: variant.name.clone() });
        }
        check_variant(variant)?;
    }
    for difference in &data.differences {
        let position = data.variants.iter().position(|v| v.name == difference.variant);
        if matches!(position, None | Some(0)) {
            return Err(ChartError::UnknownVariant {
                variant: difference.variant.clone(),
                measure: difference.measure.clone(),
            });
        }
        let what = || {
            format!("difference of variant {:?} in {:?}", difference.variant, difference.measure)
        };
        check_estimate(what, difference.estimate)?;
    }
    Ok(())
}

fn check_variant(variant: &VariantData) -> Result<(), ChartError> {
    let at = |field: &str| format!("variant {:?}: {field}", variant.name);
    for measure in &variant.measures {
        if let Some(estimate) = measure.estimate {
            check_estimate(|| at(&format!("measure {:?}", measure.name)), estimate)?;
        }
    }
    for (i, point) in variant.wait_cdf.iter().enumerate() {
        let at_point = |field: &str| at(&format!("wait_cdf[{i}].{field}"));
        not_negative(|| at_point("seconds"), point.seconds)?;
        in_range(|| at_point("share"), point.share, 0.0, 1.0)?;
        if i > 0 {
            let before = variant.wait_cdf[i - 1];
            if point.seconds < before.seconds || point.share < before.share {
                return Err(ChartError::OutOfOrder { what: at(&format!("wait_cdf[{i}]")) });
            }
        }
    }
    let cost = variant.cost;
    for (field, value) in [
        ("cost.busy", cost.busy),
        ("cost.idle", cost.idle),
        ("cost.warm", cost.warm),
        ("cost.starting", cost.starting),
        ("cost.never_used", cost.never_used),
        ("cost.orphaned", cost.orphaned),
    ] {
        not_negative(|| at(field), value)?;
    }
    finite(|| at("cost, the sum of its causes"), cost.total())?;
    check_over_time(variant)?;
    if let Some(limit) = variant.limit_sandboxes {
        not_negative(|| at("limit_sandboxes"), limit)?;
    }
    for (field, estimate) in [("total_cost", variant.total_cost), ("wait_p95", variant.wait_p95)] {
        if let Some(estimate) = estimate {
            check_estimate(|| at(field), estimate)?;
        }
    }
    Ok(())
}

fn check_over_time(variant: &VariantData) -> Result<(), ChartError> {
    let at = |field: &str| format!("variant {:?}: over_time.{field}", variant.name);
    let over_time = &variant.over_time;
    finite(|| at("bin_hours"), over_time.bin_hours)?;
    if !over_time.bins.is_empty() && over_time.bin_hours <= 0.0 {
        return Err(ChartError::OutOfRange {
            what: at("bin_hours"),
            value: over_time.bin_hours,
            low: f64::MIN_POSITIVE,
            high: f64::INFINITY,
        });
    }
    for (i, bin) in over_time.bins.iter().enumerate() {
        let states = bin.sandboxes;
        for (field, value) in [
            ("start_hours", bin.start_hours),
            ("waiting", bin.waiting),
            ("refusals_per_hour", bin.refusals_per_hour),
            ("sandboxes.starting", states.starting),
            ("sandboxes.warm", states.warm),
            ("sandboxes.in_use", states.in_use),
            ("sandboxes.idle", states.idle),
            ("sandboxes.lost", states.lost),
            ("sandboxes.destroying", states.destroying),
        ] {
            not_negative(|| at(&format!("bins[{i}].{field}")), value)?;
        }
        finite(|| at(&format!("bins[{i}].sandboxes, their sum")), states.total())?;
        if i > 0 && bin.start_hours <= over_time.bins[i - 1].start_hours {
            return Err(ChartError::OutOfOrder { what: at(&format!("bins[{i}].start_hours")) });
        }
    }
    Ok(())
}

fn check_estimate(what: impl Fn() -> String, estimate: Estimate) -> Result<(), ChartError> {
    finite(&what, estimate.mean)?;
    if let Some((low, high)) = estimate.interval {
        finite(|| format!("{}, low end", what()), low)?;
        finite(|| format!("{}, high end", what()), high)?;
        if low > high {
            return Err(ChartError::OutOfOrder { what: format!("{}, its interval", what()) });
        }
    }
    Ok(())
}

fn finite(what: impl Fn() -> String, value: f64) -> Result<(), ChartError> {
    if value.is_finite() { Ok(()) } else { Err(ChartError::NotFinite { what: what(), value }) }
}

fn in_range(what: impl Fn() -> String, value: f64, low: f64, high: f64) -> Result<(), ChartError> {
    finite(&what, value)?;
    if value < low - ROUNDING || value > high + ROUNDING {
        return Err(ChartError::OutOfRange { what: what(), value, low, high });
    }
    Ok(())
}

fn not_negative(what: impl Fn() -> String, value: f64) -> Result<(), ChartError> {
    in_range(what, value, 0.0, f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_data::report;

    /// Puts a number somewhere.
    type Change = fn(&mut ReportData, f64);

    fn error_after(change: impl FnOnce(&mut ReportData)) -> String {
        let mut data = report(3, 1.0);
        assert_eq!(check(&data), Ok(()));
        change(&mut data);
        check(&data).unwrap_err().to_string()
    }

    #[test]
    fn every_place_of_a_number_is_looked_at() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let changes: [(&str, Change); 12] = [
                ("confidence", |d, x| d.confidence = x),
                ("measure", |d, x| {
                    d.variants[0].measures[0].estimate = Some(Estimate::point(x));
                }),
                ("wait_cdf[1].seconds", |d, x| d.variants[0].wait_cdf[1].seconds = x),
                ("wait_cdf[1].share", |d, x| d.variants[0].wait_cdf[1].share = x),
                ("cost.orphaned", |d, x| d.variants[0].cost.orphaned = x),
                ("bin_hours", |d, x| d.variants[0].over_time.bin_hours = x),
                ("bins[2].refusals", |d, x| {
                    d.variants[0].over_time.bins[2].refusals_per_hour = x;
                }),
                ("bins[2].sandboxes.lost", |d, x| {
                    d.variants[0].over_time.bins[2].sandboxes.lost = x;
                }),
                ("limit_sandboxes", |d, x| d.variants[0].limit_sandboxes = Some(x)),
                ("total_cost, low end", |d, x| {
                    d.variants[0].total_cost = Some(Estimate::new(1.0, x, 2.0));
                }),
                ("wait_p95, high end", |d, x| {
                    d.variants[0].wait_p95 = Some(Estimate::new(1.0, 0.0, x));
                }),
                ("difference", |d, x| d.differences[0].estimate = Estimate::point(x)),
            ];
            for (place, change) in changes {
                let text = error_after(|data| change(data, bad));
                assert!(text.contains(place) && text.contains("finite"), "{place}: {text}");
            }
        }
    }

    #[test]
    fn ranges_and_order_are_checked() {
        let text = error_after(|d| d.variants[1].cost.busy = -0.1);
        assert!(text.contains("cost.busy is -0.1, outside its range"), "{text}");
        let text = error_after(|d| d.variants[1].wait_cdf[1].share = 1.5);
        assert!(text.contains("range of 0 to 1"), "{text}");
        let text = error_after(|d| d.variants[1].wait_cdf[1].share = 0.1);
        assert!(text.contains("wait_cdf[1] is out of order"), "{text}");
        let text = error_after(|d| d.variants[1].over_time.bins[4].start_hours = 1.0);
        assert!(text.contains("bins[4].start_hours is out of order"), "{text}");
        let text = error_after(|d| d.variants[1].over_time.bin_hours = 0.0);
        assert!(text.contains("bin_hours"), "{text}");
        let text = error_after(|d| d.variants[1].wait_p95 = Some(Estimate::new(1.0, 2.0, 0.0)));
        assert!(text.contains("its interval is out of order"), "{text}");
    }

    #[test]
    fn names_are_checked() {
        let text = error_after(|d| d.variants[2].name = d.variants[1].name.clone());
        assert!(text.contains("two variants are named \"variant-1\""), "{text}");
        for wrong in ["variant-0", "nobody"] {
            let text = error_after(|d| d.differences[0].variant = wrong.into());
            assert!(text.contains(wrong) && text.contains("hint"), "{text}");
        }
    }

    #[test]
    fn a_sum_a_hair_below_zero_is_zero() {
        let mut data = report(1, 1.0);
        data.variants[0].cost.idle = -1e-15;
        assert_eq!(check(&data), Ok(()));
    }
}
