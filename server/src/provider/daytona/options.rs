//! How to speak to Daytona.

use crate::provider::{Pool, SandboxTemplate};
use secrecy::SecretString;
use std::num::NonZeroU32;
use std::time::Duration;

/// How to speak to Daytona, and how sandboxes are made there. Its `Debug` form hides the key.
#[derive(Clone, Debug)]
pub struct DaytonaOptions {
    /// The API's address, such as `https://app.daytona.io/api`.
    pub api_url: String,
    /// The key. It is sent to `api_url` and to the toolbox address that the API names.
    pub api_key: SecretString,
    /// The region; the organization's default otherwise.
    pub target: Option<String>,
    /// Whose sandboxes are ours.
    pub pool: Pool,
    /// How sandboxes are made, by class.
    pub templates: Vec<SandboxTemplate>,
    /// The provider stops a sandbox that nobody uses, minutes. Zero would mean never, and a server
    /// that died would leave its sandboxes running for good: it cannot be said.
    pub auto_stop_minutes: NonZeroU32,
    /// The provider deletes a stopped sandbox after this long, minutes; 0: as soon as it stops.
    pub auto_delete_minutes: u32,
    /// Connecting may take this long.
    pub connect_timeout: Duration,
    /// A call that is not named below may take this long.
    pub call_timeout: Duration,
    /// The create call alone: the API holds it for up to 30 s (v0.190.0, sandbox.service.ts).
    pub create_call_timeout: Duration,
    /// From the accepted create until the sandbox answers; then it counts as lost.
    pub start_timeout: Duration,
    /// From when a sandbox is first seen started until it answers; then its start has failed.
    pub silent_timeout: Duration,
    /// From the accepted delete until the sandbox is gone; then it is to be asked for again.
    pub destroy_timeout: Duration,
    /// Pause before a sandbox is first looked at again; it grows to `poll_longest`.
    pub poll_first: Duration,
    /// The longest such pause.
    pub poll_longest: Duration,
    /// What a command's answer may take beyond the command's own time.
    pub execute_grace: Duration,
    /// What a sandbox has to answer to a probe.
    pub probe_timeout: Duration,
}

impl DaytonaOptions {
    /// The usual values.
    #[must_use]
    pub fn new(
        api_url: impl Into<String>,
        api_key: SecretString,
        pool: Pool,
        templates: Vec<SandboxTemplate>,
    ) -> Self {
        Self {
            api_url: api_url.into(),
            api_key,
            target: None,
            pool,
            templates,
            auto_stop_minutes: NonZeroU32::new(60).expect("60 is not zero"),
            auto_delete_minutes: 0,
            connect_timeout: Duration::from_secs(5),
            call_timeout: Duration::from_secs(30),
            create_call_timeout: Duration::from_secs(60),
            start_timeout: Duration::from_secs(120),
            silent_timeout: Duration::from_secs(20),
            destroy_timeout: Duration::from_secs(30),
            poll_first: Duration::from_millis(100),
            poll_longest: Duration::from_secs(1),
            execute_grace: Duration::from_secs(5),
            probe_timeout: Duration::from_secs(5),
        }
    }
}

/// Options from which no client can be made.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    /// The address is none.
    #[error("{0:?} is no address of an API; it begins with https:// or http://")]
    Address(String),
    /// The key holds what cannot stand in a header.
    #[error("the API key holds characters that no key has; look for a line break in it")]
    Key,
    /// There is no class.
    #[error("there is no class to make sandboxes of")]
    NoClass,
    /// The HTTP client could not be made.
    #[error("the HTTP client could not be made")]
    Client(#[from] reqwest::Error),
}
