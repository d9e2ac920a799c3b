//! Small reports for tests.

use crate::data::{
    Better, CdfPoint, CostByCause, Difference, Estimate, Measure, OverTime, ReportData,
    StateCounts, TimeBin, VariantData,
};

/// A report of so many variants whose numbers are all `scale` times something simple.
pub(crate) fn report(variants: usize, scale: f64) -> ReportData {
    let variants: Vec<VariantData> = (0..variants).map(|index| variant(index, scale)).collect();
    let differences = variants
        .iter()
        .skip(1)
        .map(|variant| Difference {
            variant: variant.name.clone(),
            measure: "exposed wait".into(),
            unit: "s".into(),
            estimate: Estimate::new(-scale, -2.0 * scale, -0.5 * scale),
            better: Better::Lower,
        })
        .collect();
    ReportData {
        scenario: "office-day".into(),
        question: "How many warm?".into(),
        answer: "One is enough.".into(),
        seed: 42,
        replications: 20,
        confidence: 0.95,
        interval_method: "Student's t over replications".into(),
        common_random_numbers: true,
        command: "compare office-day.toml".into(),
        scenario_text: "replications = 20".into(),
        assumptions: vec!["Arrivals are Poisson.".into()],
        variants,
        differences,
    }
}

/// One variant of [`report`].
pub(crate) fn variant(index: usize, scale: f64) -> VariantData {
    let step = scale * (14.0 - index as f64);
    let estimate = Some(Estimate::new(step, 0.9 * step, 1.1 * step));
    let bins = (0..24)
        .map(|hour| TimeBin {
            start_hours: f64::from(hour),
            waiting: step * f64::from(hour % 3),
            refusals_per_hour: step,
            sandboxes: StateCounts {
                starting: scale,
                warm: scale,
                in_use: step,
                idle: scale,
                lost: scale,
                destroying: scale,
            },
        })
        .collect();
    VariantData {
        name: format!("variant-{index}"),
        overrides: vec![format!("warm_sandboxes = {index}")],
        measures: vec![Measure {
            name: "exposed wait".into(),
            unit: "s".into(),
            headline: true,
            estimate,
        }],
        wait_cdf: vec![
            CdfPoint { seconds: 0.0, share: 0.5 },
            CdfPoint { seconds: step, share: 0.97 },
        ],
        cost: CostByCause {
            busy: step,
            idle: scale,
            warm: scale,
            starting: scale,
            never_used: scale,
            orphaned: scale,
        },
        over_time: OverTime { bin_hours: 1.0, bins },
        limit_sandboxes: Some(10.0 * scale),
        total_cost: estimate,
        wait_p95: estimate,
    }
}
