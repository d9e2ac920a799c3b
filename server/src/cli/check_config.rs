//! `check-config`.

use super::Failure;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(super) struct Arguments {
    /// The configuration file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn execute(arguments: &Arguments) -> Result<(), Failure> {
    let settings = super::settings(Some(&arguments.file))?;
    crate::provider_templates(&settings).map_err(Failure::Mistakes)?;
    println!("{}: valid", arguments.file.display());
    Ok(())
}
