//! `[store]`: where what must not be lost is kept.

use serde::Deserialize;
use std::path::PathBuf;

/// Where what must not be lost is kept.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoreSettings {
    /// The SQLite file; made if it is not there. Relative to the working directory.
    pub file: PathBuf,
    /// Lines of the journal of inputs that are kept at least; 0: all. It is what replays and
    /// what-if questions are made of; a restart does not need it. A line is about 200 bytes, an
    /// execute makes about three (2,000,000).
    pub keep_journal_lines: u64,
}

impl Default for StoreSettings {
    fn default() -> Self {
        Self { file: PathBuf::from("sandpool.sqlite"), keep_journal_lines: 2_000_000 }
    }
}
