//! What the toolbox asks of the control plane, and nothing more.

use super::exec::is_variable_name;
use super::real_time::Live;
use crate::daytona::{ToolboxAccess, ToolboxFault};
use serde_json::Value;
use std::collections::BTreeMap;
use tokio::sync::watch;

/// Where a sandbox stands, as far as its toolbox is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Commands can run in it.
    Started {
        /// How often it had been stopped before: what ran in it before that many stops is over.
        stops: u32,
    },
    /// Its files are there and nothing runs in it.
    Stopped,
    /// Nothing is left of it.
    Gone,
}

/// A sandbox as a request to its toolbox meets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ToolboxSandbox {
    /// Its id, however the request named it.
    pub(super) id: String,
    /// Where it stands.
    pub(super) standing: Standing,
    /// The environment that it was created with.
    pub(super) env: BTreeMap<String, String>,
}

/// What becomes of one call to a toolbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// It reaches the sandbox. If the answer is lost, it is carried out and nobody hears of it.
    Reached {
        /// The sandbox.
        sandbox: ToolboxSandbox,
        /// Whether nobody hears the answer.
        answer_is_lost: bool,
    },
    /// The key opens nothing here.
    Refused,
    /// There is no such sandbox.
    Unknown,
    /// The proxy does not reach the sandbox: 502 without a body.
    Unreachable,
    /// Something in front of the proxy answers 502, in HTML.
    BadGateway,
    /// Nobody answers and nothing is done.
    Silence,
}

/// The control plane, as the toolbox sees it.
pub(super) trait ControlPlane: Send + Sync + 'static {
    /// Decides about one call to the toolbox of a sandbox, named by id or name, and counts it as
    /// activity. `secret` is the bearer's, if there is one.
    fn enter(&self, sandbox: &str, secret: Option<&str>) -> Entry;

    /// Where the sandbox stands now.
    fn standing(&self, id: &str) -> Standing;

    /// A command begins in the sandbox: auto-stop keeps away until it ends.
    fn command_begun(&self, id: &str);

    /// A command has ended.
    fn command_ended(&self, id: &str);

    /// Changes whenever a sandbox may have changed its standing.
    fn changes(&self) -> watch::Receiver<u64>;

    /// The time of an answer in ISO 8601.
    fn timestamp(&self) -> String;
}

impl ControlPlane for Live {
    fn enter(&self, sandbox: &str, secret: Option<&str>) -> Entry {
        self.with(|account, now| {
            if !secret.is_some_and(|secret| account.may_use_toolbox(secret)) {
                return Entry::Refused;
            }
            let fault = account.take_toolbox_fault();
            match fault {
                Some(ToolboxFault::LostRequest) => return Entry::Silence,
                Some(ToolboxFault::BadGateway) => return Entry::BadGateway,
                Some(ToolboxFault::LostAnswer) | None => {}
            }
            match account.toolbox_reachable(now) {
                Err(ToolboxFault::LostRequest) => return Entry::Silence,
                Err(_) if account.cloud().is_reachable(now) => return Entry::Unreachable,
                Err(_) => return Entry::BadGateway,
                Ok(()) => {}
            }
            let Some(access) = account.toolbox_access(now, sandbox) else { return Entry::Unknown };
            account.note_activity(now, access.provider);
            Entry::Reached {
                sandbox: ToolboxSandbox {
                    id: access.id.to_string(),
                    standing: standing_of(&access),
                    env: text_pairs(&access.env),
                },
                answer_is_lost: fault.is_some(),
            }
        })
    }

    fn standing(&self, id: &str) -> Standing {
        self.with(|account, now| {
            account.toolbox_access(now, id).as_ref().map_or(Standing::Gone, standing_of)
        })
    }

    fn command_begun(&self, id: &str) {
        self.with(|account, now| {
            if let Some(access) = account.toolbox_access(now, id) {
                account.command_begun(now, access.provider);
            }
        });
    }

    fn command_ended(&self, id: &str) {
        self.with(|account, now| {
            if let Some(access) = account.toolbox_access(now, id) {
                account.command_ended(now, access.provider);
            }
        });
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.subscribe()
    }

    fn timestamp(&self) -> String {
        self.with(|account, now| account.instant_text(now))
    }
}

fn standing_of(access: &ToolboxAccess) -> Standing {
    match (access.exists, access.is_started) {
        (false, _) => Standing::Gone,
        (true, true) => Standing::Started { stops: access.stops },
        (true, false) => Standing::Stopped,
    }
}

/// The environment as it was given, as far as it can be one.
fn text_pairs(env: &Value) -> BTreeMap<String, String> {
    let pairs = env.as_object().into_iter().flatten();
    pairs
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .filter(|(name, value)| is_variable_name(name) && !value.contains('\0'))
        .collect()
}
