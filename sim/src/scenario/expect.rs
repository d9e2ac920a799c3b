//! The `[[expect]]` tables: ranges that results must fall into.

use super::mistake::{choice_of, nearest};
use super::model::{Expectation, Variant};
use super::reader::Section;
use super::shape::{Keys, Kind, Shape, number, required, unset};

const BOUND: Kind = number(-1e12, 1e12, "");

/// The shape of `[[expect]]`.
pub(crate) static EXPECT: Shape = Shape {
    path: "expect",
    doc: "A list of tables, `[[expect]]` above each: a range that the mean of a measure must fall into.",
    keys: Keys::Listed(&[
        required("measure", Kind::Text, "The measure's name, as in the result table."),
        unset("variant", Kind::Text, "every one", "The variant."),
        unset("min", BOUND, "no lower bound", "Smallest mean allowed."),
        unset(
            "max",
            BOUND,
            "no upper bound",
            "Largest mean allowed; at least one of the two bounds.",
        ),
    ]),
    alternatives: &[],
};

/// Reads the `[[expect]]` tables of a file. The variants' names are checked, and the measures' too
/// where the caller knows them.
pub(crate) fn read_expectations(
    top: &Section<'_>,
    variants: &[Variant],
    measures: Option<&[&str]>,
) -> Vec<Expectation> {
    let mut expectations = Vec::new();
    for part in top.sections("expect") {
        let measure = part.text("measure").unwrap_or_default();
        let variant = part.text("variant");
        let (min, max) = (part.number("min"), part.number("max"));
        if let (Some(known), true) = (measures, part.has("measure"))
            && !known.contains(&measure.as_str())
        {
            let hint = match nearest(&measure, known.iter().copied()) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("the measures are {}", choice_of(known.iter().copied())),
            };
            part.mistake_at("measure", format!("there is no measure {measure:?}"), hint);
        }
        let names = || variants.iter().map(|variant| variant.name.as_str());
        if let Some(name) = &variant
            && !names().any(|known| known == name)
        {
            let hint = match nearest(name, names()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("the variants are {}", choice_of(names())),
            };
            part.mistake_at("variant", format!("there is no variant {name:?}"), hint);
        }
        if !part.has("min") && !part.has("max") {
            part.mistake_at("min", "this expectation has no bound", "write min, max or both");
        }
        if let (Some(min), Some(max)) = (min, max)
            && max < min
        {
            part.mistake_at("max", format!("`expect.max` is below `min` = {min}"), "swap the two");
        }
        part.finish();
        expectations.push(Expectation {
            variant,
            measure,
            min: min.unwrap_or(f64::NEG_INFINITY),
            max: max.unwrap_or(f64::INFINITY),
        });
    }
    expectations
}
