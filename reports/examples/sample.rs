//! Writes a report and its charts from made-up numbers, to look at them:
//! `cargo run -p sandpool-reports --example sample -- target/sample`.
//!
//! The numbers are drawn by hand to resemble results. Nothing was simulated.

use sandpool_reports::{
    Better, CdfPoint, Chart, CostByCause, Difference, Estimate, Measure, OverTime, ReportData,
    StateCounts, TimeBin, VariantData, render_html, render_svg,
};
use std::path::PathBuf;

/// What one made-up variant is like.
struct Shape {
    name: &'static str,
    overrides: &'static [&'static str],
    /// Share of first executes that do not wait at all.
    hidden: f64,
    /// Median of the other waits, seconds.
    median: f64,
    /// Share refused.
    refused: f64,
    warm: f64,
    idle_minutes: f64,
}

const SHAPES: [Shape; 8] = [
    Shape {
        name: "base",
        overrides: &[],
        hidden: 0.61,
        median: 2.6,
        refused: 0.041,
        warm: 1.0,
        idle_minutes: 15.0,
    },
    Shape {
        name: "no warm pool",
        overrides: &["warm_sandboxes = 0"],
        hidden: 0.38,
        median: 4.1,
        refused: 0.033,
        warm: 0.0,
        idle_minutes: 15.0,
    },
    Shape {
        name: "three warm",
        overrides: &["warm_sandboxes = 3", "borrow_keep_free = 1"],
        hidden: 0.78,
        median: 2.2,
        refused: 0.068,
        warm: 3.0,
        idle_minutes: 15.0,
    },
    Shape {
        name: "likely starts, short idle",
        overrides: &["start_policy = \"likely\"", "idle_seconds = 300"],
        hidden: 0.66,
        median: 1.7,
        refused: 0.012,
        warm: 1.0,
        idle_minutes: 5.0,
    },
    Shape {
        name: "idle < 2 min & patience > 60 s",
        overrides: &["idle_seconds = 120", "sandbox_wait_seconds = 60"],
        hidden: 0.55,
        median: 3.3,
        refused: 0.004,
        warm: 1.0,
        idle_minutes: 2.0,
    },
    Shape {
        name: "forecast warm target with a rather long descriptive name",
        overrides: &["warm_policy = \"forecast\""],
        hidden: 0.72,
        median: 2.0,
        refused: 0.029,
        warm: 1.8,
        idle_minutes: 10.0,
    },
    Shape {
        name: "pressure-adaptive",
        overrides: &["idle_policy = \"pressure_adaptive\""],
        hidden: 0.64,
        median: 2.1,
        refused: 0.009,
        warm: 1.0,
        idle_minutes: 9.0,
    },
    Shape {
        name: "keep 4 free",
        overrides: &["borrow_keep_free = 4"],
        hidden: 0.58,
        median: 2.9,
        refused: 0.055,
        warm: 1.0,
        idle_minutes: 15.0,
    },
];

/// A deterministic wobble between -1 and 1.
fn wobble(i: usize, k: usize) -> f64 {
    ((i * 7919 + k * 104_729 + 31) as f64 * 0.618_034).fract() * 2.0 - 1.0
}

/// Traffic by hour of a day, 0 to 1: quiet nights, a peak before noon and one after.
fn load(hours: f64) -> f64 {
    let peak = |at: f64, width: f64| (-((hours - at) / width).powi(2)).exp();
    (0.12 + 0.85 * peak(10.5, 2.2) + 0.95 * peak(15.0, 2.6) + 0.25 * peak(20.5, 2.0)).min(1.0)
}

fn wait_cdf(shape: &Shape) -> Vec<CdfPoint> {
    let served = 1.0 - shape.refused;
    (0..=300)
        .map(|i| {
            let seconds = 40.0 * (f64::from(i) / 300.0).powi(3);
            let started = 1.0 / (1.0 + (seconds / shape.median).powf(-2.3));
            let share = if i == 0 {
                shape.hidden
            } else {
                shape.hidden + (served - shape.hidden) * started
            };
            CdfPoint { seconds, share: share.min(served) }
        })
        .collect()
}

fn over_time(shape: &Shape, k: usize) -> OverTime {
    let bins = (0..96)
        .map(|i| {
            let start_hours = f64::from(i) * 0.25;
            let at = load(start_hours);
            let noise = 1.0 + 0.12 * wobble(i as usize, k);
            let in_use = 4.6 * at * noise;
            let idle = (shape.idle_minutes / 15.0).sqrt()
                * 4.2
                * at
                * (1.0 + 0.1 * wobble(i as usize, k + 50));
            let starting = 0.55 * at;
            let lost: f64 = if (52..55).contains(&i) { 0.7 } else { 0.03 };
            let destroying = 0.25 * at;
            let room = (10.0 - in_use - idle - starting - lost - destroying).max(0.0);
            let warm = (shape.warm * 0.95).min(room);
            let full = (in_use + idle + starting + warm - 8.6).max(0.0);
            TimeBin {
                start_hours,
                waiting: 0.02 + 0.9 * full * noise * (0.4 + shape.refused * 12.0),
                refusals_per_hour: 26.0 * full * shape.refused * 10.0 * noise,
                sandboxes: StateCounts {
                    starting,
                    warm,
                    in_use,
                    idle: idle.min(10.0 - in_use - starting - warm - lost - destroying),
                    lost,
                    destroying,
                },
            }
        })
        .collect();
    OverTime { bin_hours: 0.25, bins }
}

fn variant(shape: &Shape, k: usize) -> VariantData {
    let over_time = over_time(shape, k);
    let mean = |value: fn(&TimeBin) -> f64| {
        over_time.bins.iter().map(value).sum::<f64>() / over_time.bins.len() as f64
    };
    let price = 0.0669;
    let cost = CostByCause {
        busy: price * mean(|b| b.sandboxes.in_use) * 0.4,
        idle: price * mean(|b| b.sandboxes.idle),
        warm: price * mean(|b| b.sandboxes.warm),
        starting: price * mean(|b| b.sandboxes.starting),
        never_used: price * mean(|b| b.sandboxes.in_use) * 0.6 * (1.0 - shape.hidden),
        orphaned: price * mean(|b| b.sandboxes.lost),
    };
    let p95 = shape.median * 3.1 * (1.0 - shape.hidden) + shape.refused * 60.0;
    let near = |value: f64, relative: f64| {
        Estimate::new(value, value * (1.0 - relative), value * (1.0 + relative))
    };
    let measure = |name: &str, unit: &str, estimate| Measure {
        name: name.into(),
        unit: unit.into(),
        estimate,
        headline: true,
    };
    VariantData {
        name: shape.name.into(),
        overrides: shape.overrides.iter().map(|line| (*line).to_string()).collect(),
        measures: vec![
            measure("exposed wait, mean", "s", Some(near(p95 / 4.2, 0.04))),
            measure("exposed wait, 95th percentile", "s", Some(near(p95, 0.06))),
            measure("executes refused", "%", Some(near(shape.refused * 100.0, 0.09))),
            measure("start hidden", "%", Some(near(shape.hidden * 100.0, 0.008))),
            measure("turns that lost files", "%", Some(near(9.0 / shape.idle_minutes, 0.07))),
            measure("utilisation", "%", Some(near(10.0 * mean(|b| b.sandboxes.total()), 0.011))),
            measure("warm hits", "%", (shape.warm > 0.0).then(|| near(shape.hidden * 93.0, 0.012))),
            measure("total cost", "$/h", Some(near(cost.total(), 0.013))),
        ],
        wait_cdf: wait_cdf(shape),
        cost,
        over_time,
        limit_sandboxes: Some(10.0),
        total_cost: Some(near(cost.total(), 0.013)),
        wait_p95: Some(near(p95, 0.06)),
    }
}

fn differences(variants: &[VariantData]) -> Vec<Difference> {
    let directions = [
        Better::Lower,
        Better::Lower,
        Better::Lower,
        Better::Higher,
        Better::Lower,
        Better::Neither,
        Better::Higher,
        Better::Lower,
    ];
    let mut all = Vec::new();
    for (row, better) in directions.into_iter().enumerate() {
        for variant in variants.iter().skip(1) {
            let (first, other) = (&variants[0].measures[row], &variant.measures[row]);
            if let (Some(a), Some(b)) = (first.estimate, other.estimate) {
                let mean = b.mean - a.mean;
                // Paired over the same arrivals: narrower than either interval alone.
                let half = 0.45 * (a.high() - a.mean);
                all.push(Difference {
                    variant: variant.name.clone(),
                    measure: first.name.clone(),
                    unit: first.unit.clone(),
                    estimate: Estimate::new(mean, mean - half, mean + half),
                    better,
                });
            }
        }
    }
    all
}

fn sample(count: usize) -> ReportData {
    let variants: Vec<VariantData> =
        SHAPES[..count].iter().enumerate().map(|(k, shape)| variant(shape, k)).collect();
    let differences = differences(&variants);
    ReportData {
        scenario: "sample-office-day".into(),
        question: "With an office day of agent traffic on ten sandboxes, how many should be kept \
                   warm, and how long should an idle one be held?"
            .into(),
        answer: "Sample data, nothing was simulated: starting only for likely turns and ending \
                 idle sandboxes after five minutes cuts refusals by two thirds and costs less \
                 than the base."
            .into(),
        seed: 20_260_801,
        replications: 20,
        confidence: 0.95,
        interval_method: "Student's t over the means of replications".into(),
        common_random_numbers: true,
        command: "sandpool-sim compare scenarios/sample-office-day.toml --replications 20 --seed \
                  20260801 --report report.html"
            .into(),
        scenario_text: "# Sample text: an office day on ten sandboxes.\nquestion = \"How many warm, \
                        and for how long?\"\nduration_hours = 24\nreplications = 20\n\n[arrival.\
                        poisson]\nper_hour = 38.0\n\n[policy]\nmax_sandboxes = 10\nwarm_sandboxes = \
                        1\nidle_seconds = 900\n\n[[variant]]\nname = \"idle < 2 min & patience > 60 \
                        s\"\npolicy.idle_seconds = 120\n"
            .into(),
        assumptions: vec![
            "Start latency is a mixture of three lognormals fitted to public measurements.".into(),
            "Arrivals follow the hour of the day; within an hour they are Poisson.".into(),
            "Prices are the provider's public list: $0.0504 per vCPU-hour, $0.0162 per GiB-hour \
             of memory."
                .into(),
        ],
        variants,
        differences,
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "target/sample-report".into()));
    let count = arguments.next().map_or(Ok(4), |text| text.parse::<usize>())?.min(SHAPES.len());
    std::fs::create_dir_all(&folder)?;
    let data = sample(count);
    for chart in Chart::ALL {
        std::fs::write(folder.join(chart.file_name()), render_svg(chart, &data)?)?;
    }
    std::fs::write(folder.join("report.html"), render_html(&data)?)?;
    println!("wrote {} charts and report.html to {}", Chart::ALL.len(), folder.display());
    Ok(())
}
