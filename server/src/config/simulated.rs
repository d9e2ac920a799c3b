//! `[simulated]`: the simulated Daytona that is started where there is no key.

use super::Wrong;
use sandpool_sim::{ApiLimit, ApiLimits, CommandExecution, DaytonaApiOptions, WorkLatencies, load};
use serde::Deserialize;
use std::path::PathBuf;

/// The simulated Daytona that is started where there is no key.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimulatedSettings {
    /// So many times as fast as the clock on the wall, more than 0 (1). Commands run no faster.
    pub speed: f64,
    /// Whether commands run, as processes of this machine (true). If not, each ends at once with
    /// exit code 0 and no output.
    pub run_commands: bool,
    /// A scenario file whose `[provider]` says how long things take, what fails, and what the quota
    /// is; none: all is quick, and nothing fails.
    pub scenario: Option<PathBuf>,
}

impl Default for SimulatedSettings {
    fn default() -> Self {
        Self { speed: 1.0, run_commands: true, scenario: None }
    }
}

impl SimulatedSettings {
    pub(super) fn wrong(&self) -> Vec<Wrong> {
        if self.speed.is_finite() && self.speed > 0.0 {
            return Vec::new();
        }
        vec![Wrong {
            table: "simulated",
            key: "speed",
            message: format!("{} is no speed", self.speed),
            hint: "a number above 0; 10 makes a minute last six seconds",
        }]
    }

    /// How it is started.
    ///
    /// # Errors
    /// With what is wrong with the scenario file.
    pub(crate) fn options(&self) -> Result<DaytonaApiOptions, String> {
        let mut options = DaytonaApiOptions { speed: self.speed, ..DaytonaApiOptions::default() };
        if !self.run_commands {
            options.execution = CommandExecution::None;
        }
        let Some(path) = &self.scenario else { return Ok(options) };
        let scenario = load(path).map_err(|error| error.to_string())?;
        let first = scenario.variants.first().ok_or("the scenario has no variant")?;
        let limits = first.provider.rate_limits;
        let per_minute =
            |limit: u32| (limit < u32::MAX).then_some(ApiLimit { limit, window_seconds: 60 });
        options.account.seed = scenario.seed;
        options.account.limits = ApiLimits {
            create: per_minute(limits.creates),
            lifecycle: per_minute(limits.lifecycle),
            ..ApiLimits::default()
        };
        options.account.profile = first.provider.clone();
        options.account.work = WorkLatencies::default();
        Ok(options)
    }
}
