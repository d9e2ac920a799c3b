//! What the account keeps about one sandbox beside the machine's own record.

use super::identity::Uuid;
use super::view::Item;
use sandpool_core::Time;
use serde_json::Value;
use std::collections::VecDeque;

/// One sandbox, as its owner described it.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) id: Uuid,
    /// Which create call made it: its key to the luck of lists.
    pub(super) number: u64,
    pub(super) name: String,
    /// Whether a delete has taken its name away.
    pub(super) renamed: bool,
    pub(super) labels: Value,
    pub(super) env: Value,
    pub(super) user: String,
    pub(super) public: bool,
    pub(super) network_block_all: bool,
    pub(super) network_allow_list: Option<String>,
    pub(super) domain_allow_list: Option<String>,
    pub(super) snapshot: Option<String>,
    pub(super) build: Option<Build>,
    pub(super) volumes: Value,
    pub(super) target: String,
    /// Minutes.
    pub(super) auto_stop: i64,
    /// Minutes.
    pub(super) auto_archive: i64,
    /// Minutes; negative is never, zero is when it stops.
    pub(super) auto_delete: i64,
    pub(super) ttl_from: Time,
    /// Minutes; zero is never.
    pub(super) ttl: i64,
    pub(super) created_at: Time,
    pub(super) backed_up_at: Option<Time>,
    pub(super) daemon_version: Option<&'static str>,
    /// The token of its previews.
    pub(super) token: String,
    /// What lists may still show, oldest first.
    pub(super) history: VecDeque<(Time, Item)>,
}

/// The recipe of an image.
#[derive(Clone, Debug)]
pub(super) struct Build {
    pub(super) dockerfile: String,
    pub(super) context_hashes: Value,
    pub(super) created_at: Time,
}
