//! `schema`: the JSON Schema of scenario files.

use super::examples;
use super::failure::Failure;
use clap::Args;
use std::io::Write;

/// Print the JSON Schema of scenario files, by which editors complete keys
#[derive(Args, Debug)]
#[command(after_help = examples!("  sandpool-sim schema > scenario.schema.json"))]
pub(crate) struct Arguments {}

pub(crate) fn execute(out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "{:#}", sandpool_sim::schema())?;
    Ok(())
}
