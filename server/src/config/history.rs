//! `[history]`: what of a conversation goes to the model.

use super::Wrong;
use serde::Deserialize;

/// What of a conversation goes to the model.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HistorySettings {
    /// Tool outputs longer than this are shortened in a context, bytes (200 to 1,000,000).
    pub tool_output_bytes: u32,
}

impl Default for HistorySettings {
    fn default() -> Self {
        Self { tool_output_bytes: 8_000 }
    }
}

impl HistorySettings {
    pub(super) fn wrong(&self) -> Vec<Wrong> {
        if (200..=1_000_000).contains(&self.tool_output_bytes) {
            return Vec::new();
        }
        vec![Wrong {
            table: "history",
            key: "tool_output_bytes",
            message: format!("{} bytes are out of range", self.tool_output_bytes),
            hint: "from 200 to 1000000",
        }]
    }
}
