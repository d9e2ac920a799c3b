//! Whether results fall into the ranges that a scenario expects.

use super::measures::{MeasureId, closest_measure};
use super::results::Results;
use crate::scenario::Expectation;
use std::fmt;

/// An expectation names a measure that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no measure `{name}`{}", hint(.closest))]
pub struct UnknownMeasure {
    /// The name that it gives.
    pub name: String,
    /// The nearest name that exists.
    pub closest: Option<&'static str>,
}

fn hint(closest: &Option<&'static str>) -> String {
    closest.map_or_else(String::new, |name| format!("; hint: did you mean `{name}`?"))
}

/// A result outside its expected range.
#[derive(Clone, Debug, PartialEq)]
pub struct Missed {
    /// The variant.
    pub variant: String,
    /// The measure.
    pub measure: String,
    /// The mean that was found; `None` when there was no value, or no such variant.
    pub found: Option<f64>,
    /// Smallest mean allowed.
    pub min: f64,
    /// Largest mean allowed.
    pub max: f64,
}

impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Missed { variant, measure, found, min, max } = self;
        match found {
            Some(found) => {
                write!(f, "{measure} of `{variant}` is {found}, expected {min} to {max}")
            }
            None => write!(f, "{measure} of `{variant}` has no value, expected {min} to {max}"),
        }
    }
}

/// Every expectation that the results miss, in the order of the expectations and variants; none:
/// all are met. An expectation without a variant applies to every one.
///
/// # Errors
/// When an expectation names a measure that does not exist.
pub fn check_expectations(
    results: &Results,
    expectations: &[Expectation],
) -> Result<Vec<Missed>, UnknownMeasure> {
    let mut missed = Vec::new();
    for expectation in expectations {
        let Expectation { variant: wanted, measure, min, max } = expectation;
        let id = MeasureId::named(measure).ok_or_else(|| UnknownMeasure {
            name: measure.clone(),
            closest: closest_measure(measure),
        })?;
        let names: Vec<&str> = match wanted {
            Some(name) => vec![name.as_str()],
            None => results.variants.iter().map(|variant| variant.name.as_str()).collect(),
        };
        for name in names {
            let found =
                results.variant(name).and_then(|variant| variant.measure(id)).and_then(|m| m.mean);
            if !found.is_some_and(|mean| (*min..=*max).contains(&mean)) {
                missed.push(Missed {
                    variant: name.to_owned(),
                    measure: measure.clone(),
                    found,
                    min: *min,
                    max: *max,
                });
            }
        }
    }
    Ok(missed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::summary::sample_results;

    fn expect(variant: Option<&str>, measure: &str, min: f64, max: f64) -> Expectation {
        Expectation { variant: variant.map(str::to_owned), measure: measure.to_owned(), min, max }
    }

    #[test]
    fn what_is_in_range_is_met_and_the_rest_is_named() {
        let results = sample_results();
        let met = [
            expect(None, "turns", 300.0, 300.0),
            expect(Some("base"), "cost_busy_per_hour", 0.1, 0.3),
        ];
        assert_eq!(check_expectations(&results, &met), Ok(Vec::new()));
        let missed = check_expectations(&results, &[expect(None, "turns", 0.0, 299.0)]).unwrap();
        assert_eq!(missed.len(), 2);
        assert_eq!(missed[0].to_string(), "turns of `base` is 300, expected 0 to 299");
        assert_eq!(missed[1].variant, "warm 3");
    }

    #[test]
    fn no_value_and_no_variant_are_missed() {
        let results = sample_results();
        let expectations =
            [expect(Some("base"), "leaked", 0.0, 0.0), expect(Some("gone"), "turns", 0.0, 1e9)];
        let missed = check_expectations(&results, &expectations).unwrap();
        assert_eq!(missed.len(), 2);
        assert!(missed[0].to_string().contains("has no value"));
    }

    #[test]
    fn a_mistyped_measure_gets_a_hint() {
        let error =
            check_expectations(&sample_results(), &[expect(None, "turn", 0.0, 1.0)]).unwrap_err();
        assert_eq!(error.to_string(), "there is no measure `turn`; hint: did you mean `turns`?");
    }
}
