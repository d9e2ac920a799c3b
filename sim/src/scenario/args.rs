//! The command-line arguments that name a scenario and change it for one run.

use super::file::{LoadError, load_with};
use super::model::Scenario;
use super::settings::{KeySetting, Point, ReadOptions};
use std::path::PathBuf;

/// A scenario file, and what is different in this run.
#[derive(Clone, Debug, clap::Args)]
pub struct ScenarioArgs {
    /// The scenario file.
    #[arg(value_name = "SCENARIO")]
    pub file: PathBuf,

    /// Sets a key of the scenario, such as server.warm_sandboxes=3 or duration=2h; may be repeated.
    /// Variants that set the key themselves keep their own value.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<KeySetting>,

    /// Seed of every random stream, in place of the scenario's.
    #[arg(long, value_parser = clap::value_parser!(i64).range(0..))]
    pub seed: Option<i64>,

    /// Number of replications, in place of the scenario's.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub replications: Option<u32>,
}

impl ScenarioArgs {
    /// Reads the scenario with what the arguments change. `measures` are the names that `[[expect]]`
    /// may use; `points`, if any, take the place of the file's variants.
    ///
    /// # Errors
    /// When the file cannot be read, or with every mistake in it and in the arguments.
    pub fn load(&self, measures: Option<&[&str]>, points: &[Point]) -> Result<Scenario, LoadError> {
        let mut set = self.set.clone();
        let extra = [
            ("seed", self.seed.map(|seed| seed.to_string())),
            ("replications", self.replications.map(|count| count.to_string())),
        ];
        for (key, value) in extra {
            if let Some(value) = value {
                set.push(KeySetting { key: key.to_owned(), value });
            }
        }
        load_with(&self.file, &ReadOptions { measures, set: &set, points })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use std::path::Path;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        scenario: ScenarioArgs,
    }

    fn args(rest: &[&str]) -> Result<ScenarioArgs, String> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/rush-hour.toml");
        let file = file.to_string_lossy().into_owned();
        let words = ["sim", &file].into_iter().chain(rest.iter().copied());
        Cli::try_parse_from(words).map(|cli| cli.scenario).map_err(|error| error.to_string())
    }

    #[test]
    fn arguments_change_the_scenario() {
        let args = args(&["--seed", "7", "--replications", "3", "--set", "bin=1m"]).unwrap();
        let scenario = args.load(None, &[]).unwrap();
        assert_eq!((scenario.seed, scenario.replications), (7, 3));
        assert_eq!(scenario.bin, sandpool_core::Span::from_secs(60));
    }

    #[test]
    fn wrong_arguments_are_refused() {
        assert!(args(&["--set", "bin"]).unwrap_err().contains("key=value"));
        assert!(args(&["--seed", "-1"]).is_err());
        assert!(args(&["--replications", "0"]).is_err());
        let twice = args(&["--seed", "7", "--set", "seed=8"]).unwrap();
        let error = twice.load(None, &[]).unwrap_err().to_string();
        assert!(error.contains("`seed` is set twice"), "{error}");
    }
}
