//! How long a 429 asks to wait.

use reqwest::header::HeaderMap;
use std::time::Duration;

/// Daytona blocks for a whole window once a limit is passed, and its windows are a minute
/// (v0.190.0, authenticated-rate-limit.guard.ts): the wait where no header says one.
const USUAL: Duration = Duration::from_secs(60);

/// No header makes us wait longer than this.
const LONGEST: Duration = Duration::from_secs(3600);

/// The longest wait that any `Retry-After` or `Retry-After-<limit>` header asks for, seconds. The
/// plain one comes only for failed log-ins; all others name their limit.
pub(super) fn retry_after(headers: &HeaderMap) -> Duration {
    headers
        .iter()
        .filter(|(name, _)| {
            let rest = name.as_str().strip_prefix("retry-after");
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        })
        .filter_map(|(_, value)| value.to_str().ok()?.trim().parse::<u64>().ok())
        .map(Duration::from_secs)
        .max()
        .map_or(USUAL, |wait| wait.min(LONGEST))
}
