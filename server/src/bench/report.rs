//! What was measured, as a table for people and as JSON for scripts.

use super::load::Latencies;
use super::{Measured, Part};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Duration;

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// The middle one of some values, of which there is at least one.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

/// What the server adds to a quantile of the latency at the rate that was asked for: the median
/// over the pairs, milliseconds.
fn added(measured: &Measured, q: f64) -> f64 {
    let of = |part: &Part| ms(part.at_rate.quantile(q));
    median(measured.pairs.iter().map(|(direct, through)| of(through) - of(direct)).collect())
}

/// The rate that callers who never wait came to through the server: the median over the pairs.
fn most(measured: &Measured) -> f64 {
    median(measured.pairs.iter().map(|(_, through)| through.most.rate()).collect())
}

/// For people.
pub(crate) fn table(measured: &Measured) -> String {
    let options = measured.options;
    let mut text = String::new();
    let mut line = |words: std::fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{words}");
    };
    line(format_args!(
        "{} callers; at {} executes a second (p50, p99, p99.9, ms), and as many as can be had",
        options.callers, options.rate
    ));
    line(format_args!(
        "{:<5} {:<8} {:>9} {:>9} {:>9}   {:>10} {:>9} {:>9} {:>9}",
        "pair", "", "p50", "p99", "p99.9", "executes/s", "p50", "p99", "cpu us"
    ));
    for (pair, (direct, through)) in measured.pairs.iter().enumerate() {
        for (name, part) in [("direct", direct), ("through", through)] {
            let processor = part
                .processor
                .map_or_else(String::new, |time| format!("{:.0}", time.as_secs_f64() * 1e6));
            line(format_args!(
                "{:<5} {:<8} {:>9.3} {:>9.3} {:>9.3}   {:>10.0} {:>9.3} {:>9.3} {:>9}",
                pair + 1,
                name,
                ms(part.at_rate.quantile(0.5)),
                ms(part.at_rate.quantile(0.99)),
                ms(part.at_rate.quantile(0.999)),
                part.most.rate(),
                ms(part.most.quantile(0.5)),
                ms(part.most.quantile(0.99)),
                processor,
            ));
        }
    }
    line(format_args!(
        "the server adds {:.3} ms at the median and {:.3} ms at p99, and comes to {:.0} executes a \
         second (medians of {} pairs)",
        added(measured, 0.5),
        added(measured, 0.99),
        most(measured),
        measured.pairs.len()
    ));
    if let Some(many) = measured.many {
        let megabytes = |bytes: Option<u64>| {
            bytes.map_or_else(|| "?".to_owned(), |bytes| format!("{:.1} MB", bytes as f64 / 1e6))
        };
        line(format_args!(
            "{} open conversations: {} resident ({} without any, {} after a restart); ready {:.3} s \
             after a restart",
            many.conversations,
            megabytes(many.memory_after),
            megabytes(many.memory_before),
            megabytes(many.memory_restarted),
            many.restart.as_secs_f64(),
        ));
    }
    text
}

/// For scripts.
pub(crate) fn json(measured: &Measured) -> Value {
    let latencies = |it: &Latencies| {
        json!({
            "executes": it.count(),
            "executes_per_second": it.rate(),
            "p50_ms": ms(it.quantile(0.5)),
            "p99_ms": ms(it.quantile(0.99)),
            "p999_ms": ms(it.quantile(0.999)),
        })
    };
    let part = |it: &Part| {
        json!({
            "at_rate": latencies(&it.at_rate),
            "most": latencies(&it.most),
            "processor_us_per_execute": it.processor.map(|time| time.as_secs_f64() * 1e6),
        })
    };
    let pairs: Vec<Value> = measured
        .pairs
        .iter()
        .map(|(direct, through)| json!({ "direct": part(direct), "through": part(through) }))
        .collect();
    json!({
        "rate_per_second": measured.options.rate,
        "callers": measured.options.callers,
        "pairs": pairs,
        "added_p50_ms": added(measured, 0.5),
        "added_p99_ms": added(measured, 0.99),
        "most_per_second": most(measured),
        "many": measured.many.map(|many| json!({
            "conversations": many.conversations,
            "memory_before_bytes": many.memory_before,
            "memory_after_bytes": many.memory_after,
            "memory_restarted_bytes": many.memory_restarted,
            "restart_seconds": many.restart.as_secs_f64(),
        })),
    })
}
