//! `sandpool-sim bench`: how many customers a second, and what a decision costs.

use clap::{Args, ValueEnum};
use sandpool_sim::{
    BenchOptions, DecisionTime, Loop, W1Run, decision_benchmark, decision_table, run_w1, w1_table,
};
use std::env;
use std::io::{self, Write};
use std::process::{Command, ExitCode};

/// What can be asked of `bench`.
#[derive(Args, Debug)]
#[command(after_help = "\
W1 is a queue of ten servers (mean service 10 s, 1.1 customers a second, patience 30 s). It runs
through the real scheduler and, beside it, through a plain event loop with the same random numbers:
both must print the same probabilities. The two take turns, each run in a process of its own.
Then the scheduler's decisions are timed as the pool grows.

Exit codes: 0 done, 1 the two loops disagree, 2 bad usage or a run failed, 3 the output cannot be
written.

Examples:
  sandpool-sim bench
  sandpool-sim bench --customers 200000 --pairs 3 --no-decisions
  sandpool-sim bench --only core --json")]
pub(crate) struct BenchArgs {
    /// Customers of each run.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    customers: u64,
    /// Run one of the two, once, in this process.
    #[arg(long, value_enum)]
    only: Option<Which>,
    /// Pairs of runs.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(3..))]
    pairs: u64,
    /// Leave the timing of single decisions out.
    #[arg(long)]
    no_decisions: bool,
    /// The most conversations with which decisions are timed.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    conversations: u32,
    /// Seed of every random stream.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print the result as JSON instead of a table.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Which {
    /// The plain event loop.
    Plain,
    /// The real scheduler.
    Core,
}

impl Which {
    fn to_loop(self) -> Loop {
        match self {
            Which::Plain => Loop::Plain,
            Which::Core => Loop::Core,
        }
    }
}

/// Runs the command.
#[must_use]
pub(crate) fn run(args: &BenchArgs) -> ExitCode {
    let result = match args.only {
        Some(which) => run_one(args, which.to_loop()),
        None => run_all(args),
    };
    match result {
        Ok(code) => code,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: cannot write the result: {error}");
            ExitCode::from(3)
        }
    }
}

fn run_one(args: &BenchArgs, which: Loop) -> io::Result<ExitCode> {
    let run = run_w1(which, &BenchOptions { customers: args.customers, seed: args.seed });
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&run).expect("plain data is always JSON"))?;
    } else {
        out.write_all(w1_table(&[run]).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn run_all(args: &BenchArgs) -> io::Result<ExitCode> {
    let mut runs: Vec<W1Run> = Vec::new();
    for _ in 0..args.pairs {
        for which in [Loop::Plain, Loop::Core] {
            match run_apart(args, which) {
                Ok(run) => runs.push(run),
                Err(message) => {
                    eprintln!("error: a run of the {} loop failed: {message}", which.name());
                    return Ok(ExitCode::from(2));
                }
            }
        }
    }
    let agree = runs.iter().all(|run| run.counts == runs[0].counts);
    let mut out = io::stdout().lock();
    if !args.json {
        out.write_all(w1_table(&runs).as_bytes())?;
        if !agree {
            writeln!(out, "the two loops DISAGREE")?;
        }
        out.flush()?;
    }
    let mut times: Vec<DecisionTime> = Vec::new();
    if !args.no_decisions {
        times = decision_benchmark(args.conversations, |_| {});
        if !args.json {
            write!(out, "\n{}", decision_table(&times))?;
        }
    }
    if args.json {
        let value = serde_json::json!({ "w1": runs, "loops_agree": agree, "decisions": times });
        writeln!(out, "{value:#}")?;
    }
    Ok(ExitCode::from(u8::from(!agree)))
}

/// One run in a process of its own, so that memory is its own and no run warms the next one up.
fn run_apart(args: &BenchArgs, which: Loop) -> Result<W1Run, String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program)
        .args(["bench", "--json", "--only", which.name()])
        .args(["--customers", &args.customers.to_string(), "--seed", &args.seed.to_string()])
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {}", output.status, said.trim()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}
