//! Distributions as a file writes them: a plain number, or a table with the distribution's name.

use super::mistake::{Mistake, Mistakes};
use super::reader::{Section, tick, wrong};
use super::shape::{HUGE, Keys, Kind, Shape, number, required, unset};
use super::tree::{Node, Tree};
use crate::random::Distribution;

/// The quantile of the standard normal distribution at 0.9.
const Z90: f64 = 1.281_551_565_544_600_5;

const VALUE: Kind = number(0.0, HUGE, "");
const POSITIVE: Kind = number(1e-9, HUGE, "");
const SHAPE_PARAMETER: Kind = number(0.01, 1_000.0, "");

macro_rules! forms {
    ($($more:expr),*) => {
        Keys::Listed(&[
            $($more,)*
            unset("constant", VALUE, "", "Always this value; elsewhere a plain number says the same."),
            unset("uniform", Kind::Table(&UNIFORM), "", "Evenly between two values."),
            unset("exponential", Kind::Table(&EXPONENTIAL), "", "Memoryless."),
            unset("lognormal", Kind::Table(&LOGNORMAL), "", "The logarithm is normal."),
            unset("weibull", Kind::Table(&WEIBULL), "", "Weibull; a shape below 1 has a heavy tail."),
            unset("gamma", Kind::Table(&GAMMA), "", "Gamma; the mean is shape times scale."),
            unset("geometric", Kind::Table(&GEOMETRIC), "", "Trials up to the first success: 1, 2, 3, ..."),
            unset("values", Kind::Numbers { min: 0.0, max: HUGE, unit: "" }, "",
                "One of these values, each as likely as it occurs in the list."),
            unset("mixture", Kind::Tables(&MIXTURE), "", "One of several distributions, by weight."),
        ])
    };
}

const ONE_FORM: &[&[&str]] = &[
    &["constant"],
    &["uniform"],
    &["exponential"],
    &["lognormal"],
    &["weibull"],
    &["gamma"],
    &["geometric"],
    &["values"],
    &["mixture"],
];

/// The forms of a distribution.
pub(crate) static DISTRIBUTION: Shape = Shape {
    path: "DISTRIBUTION",
    doc: "Wherever a distribution is asked for: a plain number, which is then always the value, or \
          a table with exactly one of these keys, such as `{ exponential = { mean = 3 } }`.",
    keys: forms!(),
    alternatives: ONE_FORM,
};

static MIXTURE: Shape = Shape {
    path: "DISTRIBUTION.mixture",
    doc: "A part of a mixture: its weight beside its distribution, such as \
          `{ weight = 0.8, lognormal = { median = 6, p90 = 14 } }`.",
    keys: forms!(required("weight", POSITIVE, "Relative weight of this part.")),
    alternatives: ONE_FORM,
};

static UNIFORM: Shape = Shape {
    path: "DISTRIBUTION.uniform",
    doc: "",
    keys: Keys::Listed(&[
        required("min", VALUE, "Smallest value."),
        required("max", VALUE, "Largest value; at least `min`."),
    ]),
    alternatives: &[],
};

static EXPONENTIAL: Shape = Shape {
    path: "DISTRIBUTION.exponential",
    doc: "",
    keys: Keys::Listed(&[required("mean", POSITIVE, "Mean.")]),
    alternatives: &[],
};

static LOGNORMAL: Shape = Shape {
    path: "DISTRIBUTION.lognormal",
    doc: "Either the parameters of the logarithm, or two quantiles.",
    keys: Keys::Listed(&[
        unset("mu", number(-50.0, 50.0, ""), "", "Mean of the natural logarithm."),
        unset("sigma", number(0.0, 10.0, ""), "", "Standard deviation of the natural logarithm."),
        unset("median", POSITIVE, "", "Median."),
        unset("p90", POSITIVE, "", "What 90 % of the values stay below; at least `median`."),
    ]),
    alternatives: &[&["mu", "sigma"], &["median", "p90"]],
};

static WEIBULL: Shape = Shape {
    path: "DISTRIBUTION.weibull",
    doc: "",
    keys: Keys::Listed(&[
        required("shape", SHAPE_PARAMETER, "Shape."),
        required("scale", POSITIVE, "Scale: what 63 % of the values stay below."),
    ]),
    alternatives: &[],
};

static GAMMA: Shape = Shape {
    path: "DISTRIBUTION.gamma",
    doc: "",
    keys: Keys::Listed(&[
        required("shape", SHAPE_PARAMETER, "Shape."),
        required("scale", POSITIVE, "Scale."),
    ]),
    alternatives: &[],
};

static GEOMETRIC: Shape = Shape {
    path: "DISTRIBUTION.geometric",
    doc: "",
    keys: Keys::Listed(&[required("mean", number(1.0, HUGE, ""), "Mean.")]),
    alternatives: &[],
};

/// Every shape of this file that has keys of its own, for the reference page.
pub(crate) static DISTRIBUTION_SHAPES: &[&Shape] =
    &[&DISTRIBUTION, &UNIFORM, &EXPONENTIAL, &LOGNORMAL, &WEIBULL, &GAMMA, &GEOMETRIC, &MIXTURE];

/// Reads a distribution; notes every mistake, and is then any distribution.
pub(crate) fn read_distribution(node: &Node, path: &str, mistakes: &Mistakes) -> Distribution {
    match &node.tree {
        Tree::Number(number) if (0.0..=HUGE).contains(&number.value) => {
            Distribution::Constant(number.value)
        }
        Tree::Number(_) => {
            mistakes.push(wrong(node, path, &format!("a number from 0 to {HUGE}")));
            Distribution::Constant(0.0)
        }
        Tree::Table(_) => {
            let section =
                Section::open(&DISTRIBUTION, path, Some(node), node.span.clone(), mistakes);
            read_form(&section)
        }
        Tree::List(_) => {
            mistakes.push(
                wrong(node, path, "a number or a distribution")
                    .hint("write { values = [..] } to draw from a list"),
            );
            Distribution::Constant(0.0)
        }
        _ => {
            mistakes.push(
                wrong(node, path, "a number or a distribution").hint(
                    "write a plain number, or a table such as { exponential = { mean = 3 } }",
                ),
            );
            Distribution::Constant(0.0)
        }
    }
}

fn read_form(section: &Section<'_>) -> Distribution {
    let Some(form) = section.alternative(true) else { return Distribution::Constant(0.0) };
    match ONE_FORM[form][0] {
        "constant" => Distribution::Constant(section.number("constant").unwrap_or(0.0)),
        "uniform" => {
            let part = section.section("uniform");
            let (min, max) = (parameter(&part, "min"), parameter(&part, "max"));
            if part.has("min") && part.has("max") && max < min {
                part.mistake_at(
                    "max",
                    format!("{} is below `min` = {min}", tick(part.path_of("max"))),
                    "make max at least min",
                );
            }
            Distribution::Uniform { min, max }
        }
        "exponential" => {
            Distribution::Exponential { mean: parameter(&section.section("exponential"), "mean") }
        }
        "lognormal" => read_lognormal(&section.section("lognormal")),
        "weibull" => {
            let part = section.section("weibull");
            Distribution::Weibull {
                shape: parameter(&part, "shape"),
                scale: parameter(&part, "scale"),
            }
        }
        "gamma" => {
            let part = section.section("gamma");
            Distribution::Gamma {
                shape: parameter(&part, "shape"),
                scale: parameter(&part, "scale"),
            }
        }
        "geometric" => {
            Distribution::Geometric { mean: parameter(&section.section("geometric"), "mean") }
        }
        "values" => Distribution::Values(section.numbers("values").unwrap_or_default()),
        _ => {
            let parts: Vec<_> = section
                .sections("mixture")
                .iter()
                .map(|part| (parameter(part, "weight"), read_form(part)))
                .collect();
            if parts.is_empty() {
                section.mistake_at(
                    "mixture",
                    format!("{} has no parts", tick(section.path_of("mixture"))),
                    "write [{ weight = 0.8, exponential = { mean = 3 } }, ..]",
                );
            }
            Distribution::Mixture(parts)
        }
    }
}

fn parameter(section: &Section<'_>, name: &'static str) -> f64 {
    section.number(name).unwrap_or(1.0)
}

fn read_lognormal(part: &Section<'_>) -> Distribution {
    let group = part.alternative(true);
    let (first, second) = match group {
        Some(1) => ("median", "p90"),
        _ => ("mu", "sigma"),
    };
    let (a, b) = (part.number(first), part.number(second));
    for (name, other) in [(first, second), (second, first)] {
        if group.is_some() && !part.has(name) && part.has(other) {
            part.mistakes().push_whole(
                Mistake::new(part.span(), format!("{} is missing", tick(part.path_of(name))))
                    .hint("write mu and sigma, or median and p90"),
            );
        }
    }
    match (group, a, b) {
        (Some(1), Some(median), Some(p90)) => {
            if p90 < median {
                part.mistake_at(
                    "p90",
                    format!("{} is below `median` = {median}", tick(part.path_of("p90"))),
                    "make p90 at least the median",
                );
            }
            Distribution::LogNormal { mu: median.ln(), sigma: (p90 / median).ln().max(0.0) / Z90 }
        }
        (_, Some(mu), Some(sigma)) => Distribution::LogNormal { mu, sigma },
        _ => Distribution::Constant(0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::super::reader::toml_value;
    use super::*;

    fn read(text: &str) -> Result<Distribution, Vec<String>> {
        let mistakes = Mistakes::default();
        let distribution = read_distribution(&toml_value(text), "x", &mistakes);
        mistakes
            .or(distribution, "f", text)
            .map_err(|errors| errors.mistakes.into_iter().map(|mistake| mistake.message).collect())
    }

    #[test]
    fn every_form_reads() {
        assert_eq!(read("3"), Ok(Distribution::Constant(3.0)));
        assert_eq!(
            read("{ uniform = { min = 1, max = 2.5 } }"),
            Ok(Distribution::Uniform { min: 1.0, max: 2.5 })
        );
        assert_eq!(
            read("{ exponential = { mean = 3 } }"),
            Ok(Distribution::Exponential { mean: 3.0 })
        );
        assert_eq!(
            read("{ lognormal = { mu = -1, sigma = 0.5 } }"),
            Ok(Distribution::LogNormal { mu: -1.0, sigma: 0.5 })
        );
        assert_eq!(
            read("{ weibull = { shape = 0.62, scale = 290 } }"),
            Ok(Distribution::Weibull { shape: 0.62, scale: 290.0 })
        );
        assert_eq!(
            read("{ gamma = { shape = 2, scale = 3 } }"),
            Ok(Distribution::Gamma { shape: 2.0, scale: 3.0 })
        );
        assert_eq!(read("{ geometric = { mean = 5 } }"), Ok(Distribution::Geometric { mean: 5.0 }));
        assert_eq!(read("{ values = [1, 2, 2] }"), Ok(Distribution::Values(vec![1.0, 2.0, 2.0])));
        assert_eq!(
            read(
                "{ mixture = [{ weight = 3, constant = 0 }, { weight = 1, exponential = { mean = 2 } }] }"
            ),
            Ok(Distribution::Mixture(vec![
                (3.0, Distribution::Constant(0.0)),
                (1.0, Distribution::Exponential { mean: 2.0 }),
            ]))
        );
    }

    #[test]
    fn quantiles_give_the_parameters() {
        let Ok(Distribution::LogNormal { mu, sigma }) =
            read("{ lognormal = { median = 6, p90 = 14 } }")
        else {
            panic!("not read");
        };
        assert!((mu.exp() - 6.0).abs() < 1e-12);
        assert!(((mu + Z90 * sigma).exp() - 14.0).abs() < 1e-12);
    }

    #[test]
    fn mistakes_are_all_told() {
        assert_eq!(
            read("{ mixture = [{ exponential = { mean = 0 } }, { weight = 1, gama = 3 }] }"),
            Err(vec![
                "`x.mixture.weight` is missing".to_owned(),
                "`x.mixture.exponential.mean` must be a number from 0.000000001 to 1000000000, not 0"
                    .to_owned(),
                "unknown key `gama` in `x.mixture`".to_owned(),
            ])
        );
        assert_eq!(
            read("{ exponential = { mean = 1 }, values = [1] }"),
            Err(vec!["`x` has `exponential` and `values`, which exclude each other".to_owned()])
        );
        assert_eq!(read("{}"), Err(vec!["`x` says nothing".to_owned()]));
        assert_eq!(
            read("{ lognormal = { median = 3 } }"),
            Err(vec!["`x.lognormal.p90` is missing".to_owned()])
        );
        assert_eq!(
            read("{ lognormal = { median = 3, p90 = 2 } }"),
            Err(vec!["`x.lognormal.p90` is below `median` = 3".to_owned()])
        );
        assert_eq!(
            read("{ uniform = { min = 3, max = 2 } }"),
            Err(vec!["`x.uniform.max` is below `min` = 3".to_owned()])
        );
        assert_eq!(read("[1, 2]").unwrap_err().len(), 1);
        assert_eq!(read("-1").unwrap_err().len(), 1);
        assert_eq!(read("inf").unwrap_err().len(), 1);
    }
}
