//! `[daytona]`: whose sandboxes they are. The key is never written here: it comes from
//! `DAYTONA_API_KEY`, or from the file that `DAYTONA_API_KEY_FILE` names.

use super::Wrong;
use serde::Deserialize;

/// Whose sandboxes they are.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DaytonaSettings {
    /// The API's address, without a slash at its end.
    pub api_url: String,
    /// The region in which sandboxes start; none: the organization's default.
    pub target: Option<String>,
    /// Name of this pool in names and labels: letters, digits and dashes, at most 40. Two servers
    /// of one organization need two names.
    pub pool: String,
}

impl Default for DaytonaSettings {
    fn default() -> Self {
        Self {
            api_url: "https://app.daytona.io/api".to_owned(),
            target: None,
            pool: "sandpool".to_owned(),
        }
    }
}

impl DaytonaSettings {
    pub(super) fn wrong(&self) -> Vec<Wrong> {
        let mut wrong = Vec::new();
        let is_named = !self.pool.is_empty()
            && self.pool.len() <= 40
            && self.pool.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_named {
            wrong.push(Wrong {
                table: "daytona",
                key: "pool",
                message: format!("{:?} is no name of a pool", self.pool),
                hint: "1 to 40 letters, digits and dashes",
            });
        }
        if !self.api_url.starts_with("http://") && !self.api_url.starts_with("https://") {
            wrong.push(Wrong {
                table: "daytona",
                key: "api_url",
                message: format!("{:?} is no address", self.api_url),
                hint: "it begins with https:// (or http:// for a server on this machine)",
            });
        }
        wrong
    }
}
