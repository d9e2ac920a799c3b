//! The configuration file: the policy block that a scenario was tuned with, unchanged, and what
//! only a server needs beside it.
//!
//! `[server]` and `[classes]` are read by the simulator's own reader. The other tables are read
//! here: `[http]`, `[store]`, `[daytona]`, `[simulated]`, `[history]` and
//! `[prices]`.

mod daytona;
mod history;
mod http;
mod simulated;
mod store;

pub use daytona::DaytonaSettings;
pub use history::HistorySettings;
pub use http::HttpSettings;
pub use simulated::SimulatedSettings;
pub use store::StoreSettings;

use crate::metrics::Prices;
use sandpool_sim::{Mistake, PolicyBlock, ScenarioErrors, parse_policy_block};
use serde::Deserialize;
use std::path::Path;

/// The tables of a configuration file besides the policy block.
const OTHER_TABLES: [&str; 6] = ["http", "store", "daytona", "history", "prices", "simulated"];

/// Everything that a server is told by its configuration file.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `[server]` and `[classes]`: what the scheduler goes by.
    pub policy: PolicyBlock,
    /// `[http]`.
    pub http: HttpSettings,
    /// `[store]`.
    pub store: StoreSettings,
    /// `[daytona]`.
    pub daytona: DaytonaSettings,
    /// `[simulated]`.
    pub simulated: SimulatedSettings,
    /// `[history]`.
    pub history: HistorySettings,
    /// `[prices]`.
    pub prices: Prices,
}

/// A configuration file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// It could not be read at all.
    #[error("cannot read {file}: {source}")]
    Unreadable {
        /// Which file.
        file: String,
        /// Why not.
        source: std::io::Error,
    },
    /// It has mistakes, each with its line and column.
    #[error(transparent)]
    Mistakes(#[from] ScenarioErrors),
}

/// The other tables, as written.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OtherTables {
    http: HttpSettings,
    store: StoreSettings,
    daytona: DaytonaSettings,
    simulated: SimulatedSettings,
    history: HistorySettings,
    prices: Prices,
}

impl Settings {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read or has mistakes.
    pub fn read(path: &Path) -> Result<Self, SettingsError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|source| SettingsError::Unreadable { file: file.clone(), source })?;
        Ok(Self::parse(&file, &text)?)
    }

    /// Reads the text of a file that is called `file`.
    ///
    /// # Errors
    /// With every mistake of the policy block, and the first of each other table.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScenarioErrors> {
        let mut mistakes = Vec::new();
        let policy = match parse_policy_block(file, text, &OTHER_TABLES) {
            Ok(policy) => Some(policy),
            Err(errors) => {
                mistakes.extend(errors.mistakes);
                None
            }
        };
        let others = match toml::from_str::<OtherTables>(text) {
            Ok(others) => {
                mistakes.extend(others.mistakes(text));
                Some(others)
            }
            // What is no TOML at all is told by the policy block's reader.
            Err(_) if policy.is_none() && toml::from_str::<toml::Table>(text).is_err() => None,
            Err(error) => {
                let span = error.span().unwrap_or(0..0);
                mistakes.push(Mistake::new(span, error.message().to_lowercase()));
                None
            }
        };
        match (policy, others) {
            (Some(policy), Some(others)) if mistakes.is_empty() => Ok(Self {
                policy,
                http: others.http,
                store: others.store,
                daytona: others.daytona,
                simulated: others.simulated,
                history: others.history,
                prices: others.prices,
            }),
            _ => {
                mistakes.sort_by_key(|mistake| mistake.span.start);
                Err(ScenarioErrors { file: file.to_owned(), text: text.to_owned(), mistakes })
            }
        }
    }
}

impl OtherTables {
    /// Values that have the right type and still make no sense.
    fn mistakes(&self, text: &str) -> Vec<Mistake> {
        let wrong = self.http.wrong().into_iter().chain(self.daytona.wrong());
        wrong
            .chain(self.simulated.wrong())
            .chain(self.history.wrong())
            .map(|wrong| {
                Mistake::new(place_of(text, wrong.table, wrong.key), wrong.message).hint(wrong.hint)
            })
            .collect()
    }
}

/// A value out of its range.
struct Wrong {
    table: &'static str,
    key: &'static str,
    message: String,
    hint: &'static str,
}

/// Where a key of a table is written; the file's beginning if it is not.
fn place_of(text: &str, table: &str, key: &str) -> std::ops::Range<usize> {
    let found = toml::de::DeTable::parse(text).ok().and_then(|root| {
        let table = root.get_ref().get(table)?.get_ref().as_table()?;
        table.get(key).map(|value| value.span())
    });
    found.unwrap_or(0..0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_written_is_all_defaults() {
        let settings = Settings::parse("pool.toml", "").unwrap();
        assert_eq!(settings.policy.config, sandpool_core::Config::default());
        assert_eq!(settings.http, HttpSettings::default());
        assert!(settings.http.listen.ip().is_loopback());
    }

    #[test]
    fn the_policy_block_of_a_scenario_is_read_unchanged() {
        let block = "[server]\nwarm_sandboxes = 2\nborrow_keep_free = 1\n\n[classes.large]\nmemory_gb = 4\n";
        let settings = Settings::parse("pool.toml", block).unwrap();
        let direct = parse_policy_block("pool.toml", block, &[]).unwrap();
        assert_eq!(settings.policy, direct);
    }

    #[test]
    fn mistakes_of_all_tables_come_at_once_with_their_places() {
        let text = "[server]\nwarm_sandboxes = -1\n\n[http]\nmax_body_mb = 0\n\n[stroe]\n";
        let told = Settings::parse("pool.toml", text).unwrap_err().to_string();
        assert!(told.contains("pool.toml:2:18: "), "{told}");
        assert!(told.contains("pool.toml:5:15: "), "{told}");
        assert!(told.contains("did you mean `store`?"), "{told}");
    }

    #[test]
    fn an_unknown_key_of_an_own_table_is_named() {
        let text = "[http]\nlissten = \"127.0.0.1:1\"\n";
        let told = Settings::parse("pool.toml", text).unwrap_err().to_string();
        assert!(told.contains("pool.toml:2:1: unknown field `lissten`"), "{told}");
    }
}
