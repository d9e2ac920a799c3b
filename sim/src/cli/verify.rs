//! `sandpool-sim verify`: the real scheduler against closed forms of queueing theory.

use clap::Args;
use sandpool_sim::{
    Case, CaseReport, VERIFY_SEED, VerifyOptions, oracle_cases, quick_cases, verify_case,
    verify_json, verify_table,
};
use std::io::{self, Write};
use std::process::ExitCode;

/// What can be asked of `verify`.
#[derive(Args, Debug)]
#[command(after_help = "\
Every case runs the production scheduler on a queue whose answer is known exactly: Erlang B, C and
A, deterministic patience, M/M/c/K, M/G/1, M/G/inf, keep-alive. Each quantity must be within 4
standard errors of its closed form, and each standard error must be at most 1 % of it. In every
run conservation of executes and Little's law hold to the nanosecond.

Exit codes: 0 all agree, 1 something does not, 2 bad usage, 3 the output cannot be written.

Examples:
  sandpool-sim verify --quick
  sandpool-sim verify
  sandpool-sim verify --case 'M/M/c+D, c=10, arrivals=1.1' --seed 7
  sandpool-sim verify --quick --json")]
pub(crate) struct VerifyArgs {
    /// A short form: one or two cases a model, standard errors of at most 4 %.
    #[arg(long)]
    quick: bool,
    /// Only the cases whose name begins with this (M/M/c, M/G/1, ...); may be given more than once.
    #[arg(long = "case", value_name = "NAME")]
    cases: Vec<String>,
    /// Seed of every random stream.
    #[arg(long, value_name = "N", default_value_t = VERIFY_SEED)]
    seed: u64,
    /// Threads to use; by default all cores. The result does not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print the result as JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
#[must_use]
pub(crate) fn run(args: &VerifyArgs) -> ExitCode {
    let cases = match chosen(args) {
        Ok(cases) => cases,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads.unwrap_or(0)).build();
    let pool = match pool {
        Ok(pool) => pool,
        Err(error) => {
            eprintln!("error: cannot start threads: {error}");
            return ExitCode::from(2);
        }
    };
    let options =
        if args.quick { VerifyOptions::quick(args.seed) } else { VerifyOptions::full(args.seed) };
    let reports = pool.install(|| verify_all(&cases, &options, args.json));
    match reports {
        Ok(reports) if reports.iter().all(CaseReport::is_fine) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        // Whoever reads the output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: cannot write the result: {error}");
            ExitCode::from(3)
        }
    }
}

fn chosen(args: &VerifyArgs) -> Result<Vec<Case>, String> {
    let all = if args.quick && args.cases.is_empty() { quick_cases() } else { oracle_cases() };
    if args.cases.is_empty() {
        return Ok(all);
    }
    if let Some(unknown) =
        args.cases.iter().find(|name| !all.iter().any(|case| case.name.starts_with(name.as_str())))
    {
        let mut message =
            format!("error: no case has a name that begins with {unknown:?}\nhint: choose from\n");
        for case in &all {
            message.push_str("  ");
            message.push_str(&case.name);
            message.push('\n');
        }
        return Err(message);
    }
    let wanted = |case: &Case| args.cases.iter().any(|name| case.name.starts_with(name.as_str()));
    Ok(all.into_iter().filter(wanted).collect())
}

fn verify_all(
    cases: &[Case],
    options: &VerifyOptions,
    as_json: bool,
) -> io::Result<Vec<CaseReport>> {
    let mut out = io::stdout().lock();
    let mut reports: Vec<CaseReport> = Vec::new();
    for case in cases {
        let report = verify_case(case, options);
        if !as_json {
            out.write_all(verify_table(&report, reports.is_empty()).as_bytes())?;
            out.flush()?;
        }
        reports.push(report);
    }
    if as_json {
        writeln!(out, "{}", verify_json(&reports))?;
    } else {
        let failed = reports.iter().filter(|report| !report.is_fine()).count();
        let quantities: usize = reports.iter().map(|report| report.comparisons.len()).sum();
        let customers: u64 = reports.iter().map(|report| report.customers).sum();
        writeln!(
            out,
            "{} cases, {quantities} quantities, {customers} customers: {}",
            reports.len(),
            if failed == 0 { "all agree".to_owned() } else { format!("{failed} cases FAILED") }
        )?;
    }
    Ok(reports)
}
