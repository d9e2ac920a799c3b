//! `[store]`: where what must not be lost is kept.

use serde::Deserialize;
use std::path::PathBuf;

/// Where what must not be lost is kept.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoreSettings {
    /// The SQLite file; made if it is not there. Relative to the working directory.
    pub file: PathBuf,
}

impl Default for StoreSettings {
    fn default() -> Self {
        Self { file: PathBuf::from("sandpool.sqlite") }
    }
}
