//! `validate`: every mistake of every file at once.

use super::examples;
use super::failure::{Failure, InputProblem};
use super::input::load_file;
use clap::Args;
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

/// Check scenario files and show every mistake with its line, column and a hint
#[derive(Args, Debug)]
#[command(after_help = examples!("  sandpool-sim validate scenarios/*.toml
  sandpool-sim validate --json my.toml | jq '.files[].mistakes[]'"))]
pub(crate) struct Arguments {
    /// Scenario files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write the result to standard output as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let mut problems = Vec::new();
    let mut reports = Vec::new();
    for path in &arguments.files {
        let name = path.to_string_lossy();
        let problem = match load_file(path, &[]) {
            Ok(loaded) => {
                let variants = loaded.scenario.variants.len();
                if !arguments.json {
                    let s = if variants == 1 { "" } else { "s" };
                    writeln!(out, "{name}: good, {variants} variant{s}")?;
                }
                reports.push(json!({ "file": name, "good": true, "variants": variants,
                    "mistakes": [] }));
                continue;
            }
            Err(problem) => problem,
        };
        reports.push(json!({ "file": name, "good": false, "mistakes": mistakes(&problem) }));
        problems.push(problem);
    }
    if arguments.json {
        let report = json!({ "good": problems.is_empty(), "files": reports });
        writeln!(out, "{report:#}")?;
    }
    if problems.is_empty() { Ok(()) } else { Err(Failure::Input(problems)) }
}

fn mistakes(problem: &InputProblem) -> Vec<Value> {
    match problem {
        InputProblem::Scenario(errors) => errors
            .mistakes
            .iter()
            .map(|mistake| {
                let (line, column) = errors.line_column(mistake.span.start);
                json!({ "line": line, "column": column, "message": mistake.message,
                    "hint": mistake.hint })
            })
            .collect(),
        other => {
            vec![json!({ "line": null, "column": null, "message": other.to_string(),
            "hint": null })]
        }
    }
}
