//! The verification as a table and as JSON.

use super::runner::{Agreement, CaseReport, Comparison, MOST_DEVIATIONS};
use std::fmt::Write;

/// The heading and the lines of one case, with a heading if `is_first`.
#[must_use]
pub fn verify_table(report: &CaseReport, is_first: bool) -> String {
    let mut text = String::new();
    if is_first {
        let _ = writeln!(
            text,
            "{:<22} {:>13} {:>13} {:>12} {:>10}  verdict",
            "quantity", "exact", "simulated", "std. error", "deviation"
        );
    }
    let _ = writeln!(
        text,
        "{} ({} replications of {} s after {} s, {} customers)",
        report.case,
        report.replications,
        rounded(report.measured_seconds),
        rounded(report.warm_up_seconds),
        report.customers
    );
    for one in &report.comparisons {
        let Comparison { quantity, exact, simulated, standard_error, deviations, .. } = one;
        let verdict = match one.agreement {
            Agreement::Agrees => "agrees".to_owned(),
            Agreement::Deviates => format!("DEVIATES by more than {MOST_DEVIATIONS} std. errors"),
            Agreement::Imprecise => "IMPRECISE".to_owned(),
        };
        let _ = writeln!(
            text,
            "  {quantity:<20} {exact:>13.7} {simulated:>13.7} {standard_error:>12.7} \
             {deviations:>+10.2}  {verdict}"
        );
    }
    for fault in &report.broken {
        let _ = writeln!(text, "  BROKEN: {fault}");
    }
    text
}

/// Every case, and the counts that the last line of the table shows.
///
/// # Panics
/// Never: the reports are plain data.
#[must_use]
pub fn verify_json(reports: &[CaseReport]) -> String {
    let failed = reports.iter().filter(|report| !report.is_fine()).count();
    let value = serde_json::json!({
        "cases": reports,
        "failed_cases": failed,
        "most_deviations": MOST_DEVIATIONS,
    });
    serde_json::to_string_pretty(&value).expect("plain data is always JSON")
}

/// Three digits are enough for a length of time that was chosen.
fn rounded(seconds: f64) -> String {
    if seconds >= 100.0 { format!("{seconds:.0}") } else { format!("{seconds:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(agreement: Agreement) -> CaseReport {
        CaseReport {
            case: "M/M/1".to_owned(),
            replications: 20,
            warm_up_seconds: 12.5,
            measured_seconds: 1_000.0,
            customers: 5_000,
            comparisons: vec![Comparison {
                quantity: "mean_wait",
                exact: 1.0,
                simulated: 1.02,
                standard_error: 0.01,
                deviations: 2.0,
                agreement,
            }],
            broken: Vec::new(),
        }
    }

    #[test]
    fn a_line_says_everything_that_is_needed_to_judge() {
        let table = verify_table(&report(Agreement::Agrees), true);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[1], "M/M/1 (20 replications of 1000 s after 12.500 s, 5000 customers)");
        let words: Vec<&str> = lines[2].split_whitespace().collect();
        assert_eq!(words, ["mean_wait", "1.0000000", "1.0200000", "0.0100000", "+2.00", "agrees"]);
    }

    #[test]
    fn what_fails_stands_out_and_is_counted() {
        let mut broken = report(Agreement::Agrees);
        broken.broken.push("replication 3: 1 illegal transitions".to_owned());
        assert!(verify_table(&broken, false).contains("BROKEN: replication 3"));
        assert!(verify_table(&report(Agreement::Deviates), false).contains("DEVIATES"));
        let reports = [report(Agreement::Agrees), broken, report(Agreement::Imprecise)];
        let json: serde_json::Value = serde_json::from_str(&verify_json(&reports)).unwrap();
        assert_eq!(json["failed_cases"], 2);
        assert_eq!(json["cases"][2]["comparisons"][0]["agreement"], "imprecise");
    }
}
