//! The answer in one sentence, made from paired intervals: which variant is best in exposed wait,
//! refusals and cost, or that they cannot be told apart.

use super::number::short;
use crate::output::{MeasureId, Observed, ObservedVariant, interval_of};
use crate::stats::{CONFIDENCE, Interval, paired_difference, paired_quantile_difference};

/// What is asked: a measure of which less is better, and how to speak of it.
struct Question {
    id: MeasureId,
    subject: &'static str,
    value: fn(f64) -> String,
}

const QUESTIONS: [Question; 3] = [
    Question {
        id: MeasureId::ExposedWaitP95,
        subject: "exposed wait (95th percentile)",
        value: |seconds| format!("{} s", short(seconds)),
    },
    Question {
        id: MeasureId::RefusedShare,
        subject: "share refused",
        value: |share| format!("{} %", short(share * 100.0)),
    },
    Question {
        id: MeasureId::CostTotal,
        subject: "cost",
        value: |dollars| format!("${} an hour", short(dollars)),
    },
];

/// One sentence about these variants.
///
/// The variant with the least mean is compared with every other by a paired interval. There are as
/// many looks as there are other variants, so each interval has the confidence that makes all of
/// them hold together with 95 % (Bonferroni; Hsu 1984, "Constrained simultaneous confidence
/// intervals for multiple comparisons with the best", gives the same idea with sharper bounds).
pub(super) fn answer(variants: &[ObservedVariant]) -> String {
    let clauses: Vec<String> =
        QUESTIONS.iter().filter_map(|question| clause(question, variants)).collect();
    match clauses.split_first() {
        None => "Nothing was measured.".to_owned(),
        Some((first, rest)) => {
            let mut text = capitalised(first);
            for clause in rest {
                text.push_str("; ");
                text.push_str(clause);
            }
            text.push('.');
            text
        }
    }
}

fn clause(question: &Question, variants: &[ObservedVariant]) -> Option<String> {
    let measured: Vec<(&ObservedVariant, f64)> = variants
        .iter()
        .filter_map(|variant| {
            interval_of(&variant.replications, question.id).map(|found| (variant, found.mean))
        })
        .collect();
    let subject = question.subject;
    let value = question.value;
    let &(best, least) = measured.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    if variants.len() == 1 {
        return Some(format!("{subject} is {}", value(least)));
    }
    if best.replications.len() < 2 {
        return Some(format!("{subject} cannot be told apart by a single replication"));
    }
    let looks = (measured.len() - 1).max(1) as f64;
    let confidence = 1.0 - (1.0 - CONFIDENCE) / looks;
    let mut level: Vec<&str> = Vec::new();
    let mut all_same = true;
    for &(other, _) in &measured {
        let difference = if std::ptr::eq(other, best) {
            None
        } else {
            paired(question.id, best, other, confidence)
        };
        if std::ptr::eq(other, best) || !difference.is_some_and(|found| found.excludes_zero()) {
            level.push(&other.name);
        }
        all_same &= std::ptr::eq(other, best)
            || difference.is_some_and(|d| d.mean == 0.0 && d.half_width == Some(0.0));
    }
    let most = measured.iter().map(|&(_, mean)| mean).fold(least, f64::max);
    Some(if all_same {
        format!("{subject} is the same in all ({})", value(least))
    } else if level.len() == measured.len() {
        format!("{subject} does not tell the variants apart ({} to {})", value(least), value(most))
    } else if level.len() == 1 {
        format!(
            "{subject} is least with “{}” ({}; at most {})",
            best.name,
            value(least),
            value(most)
        )
    } else {
        format!(
            "{subject} is least with {}, which cannot be told apart ({}; at most {})",
            listed(&level),
            value(least),
            value(most)
        )
    })
}

/// `other - best`, on the same luck.
fn paired(
    id: MeasureId,
    best: &ObservedVariant,
    other: &ObservedVariant,
    confidence: f64,
) -> Option<Interval> {
    if id == MeasureId::ExposedWaitP95 {
        let waits = |variant: &ObservedVariant| -> Vec<_> {
            variant.replications.iter().map(|o| o.exposed_wait().clone()).collect()
        };
        let (best, other) = (waits(best), waits(other));
        return paired_quantile_difference(best.iter(), other.iter(), 0.95, confidence);
    }
    let values = |variant: &ObservedVariant| -> Vec<Option<f64>> {
        variant.replications.iter().map(|observed: &Observed| observed.get(id)).collect()
    };
    paired_difference(&values(best), &values(other), confidence)
}

fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("“{name}”")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.join(""),
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Histogram;

    /// A variant whose replication `i` waits `waits(i)` seconds and costs `cost(i)` dollars.
    fn variant(
        name: &str,
        replications: u64,
        wait: impl Fn(u64) -> u64,
        cost: impl Fn(u64) -> f64,
    ) -> ObservedVariant {
        let replications = (0..replications)
            .map(|i| {
                let mut waits = Histogram::new();
                for _ in 0..100 {
                    waits.record(wait(i) * 1_000_000_000);
                }
                let mut observed = Observed::new(waits);
                observed.set(MeasureId::CostTotal, cost(i));
                observed.set(MeasureId::RefusedShare, 0.0);
                observed
            })
            .collect();
        ObservedVariant { name: name.to_owned(), overrides: Vec::new(), replications }
    }

    #[test]
    fn the_best_is_named_and_the_rest_is_not_claimed() {
        let noise = |i: u64| (i * 7 % 5) as f64 / 10.0;
        let text = answer(&[
            variant("a", 12, |i| 10 + i % 3, |i| 0.3 + noise(i)),
            variant("b", 12, |i| 4 + i % 3, |i| 0.3 + noise(i + 1)),
            variant("c", 12, |i| 10 + i % 2, |i| 0.3 + noise(i + 2)),
        ]);
        assert!(
            text.starts_with("Exposed wait (95th percentile) is least with “b” (5.99 s;"),
            "{text}"
        );
        assert!(text.contains("share refused is the same in all (0 %)"), "{text}");
        assert!(text.contains("cost does not tell the variants apart ($"), "{text}");
        assert!(text.ends_with('.') && !text.contains('\n'), "{text}");
    }

    #[test]
    fn those_level_with_the_best_are_named_with_it() {
        let text = answer(&[
            variant("a", 12, |i| 4 + i % 3, |_| 1.0),
            variant("b", 12, |i| 4 + (i + 1) % 3, |_| 2.0),
            variant("c", 12, |_| 20, |_| 3.0),
        ]);
        assert!(text.contains("is least with “a” and “b”, which cannot be told apart"), "{text}");
        assert!(text.contains("cost is least with “a” ($1 an hour; at most $3 an hour)"), "{text}");
    }

    #[test]
    fn one_variant_and_one_replication_claim_nothing() {
        let one = answer(&[variant("a", 12, |_| 4, |_| 1.0)]);
        assert!(one.contains("cost is $1 an hour") && !one.contains("least"), "{one}");
        let single = answer(&[variant("a", 1, |_| 4, |_| 1.0), variant("b", 1, |_| 9, |_| 2.0)]);
        assert!(single.contains("cannot be told apart by a single replication"), "{single}");
        assert_eq!(answer(&[]), "Nothing was measured.");
    }
}
