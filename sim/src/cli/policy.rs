//! `policy`: the block to deploy.

use super::examples;
use super::failure::Failure;
use super::input::{SettingArguments, load_one, variant_index};
use clap::Args;
use sandpool_sim::to_policy_block;
use std::io::Write;
use std::path::PathBuf;

/// Print a variant's policy as the block that the server's configuration takes
#[derive(Args, Debug)]
#[command(after_help = examples!("  sandpool-sim policy scenarios/rush-hour.toml --variant likely >> sandpool.toml"))]
pub(crate) struct Arguments {
    /// The scenario file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The variant; the first one if none is named
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    #[command(flatten)]
    settings: SettingArguments,
}

pub(crate) fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let loaded = load_one(&arguments.file, &arguments.settings.set)?;
    let variants = &loaded.scenario.variants;
    let variant = &variants[variant_index(variants, arguments.variant.as_deref())?];
    writeln!(out, "# Policy `{}` of scenario `{}`.", variant.name, loaded.scenario.name)?;
    write!(out, "{}", to_policy_block(&variant.server))?;
    Ok(())
}
