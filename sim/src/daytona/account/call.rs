//! What can be asked over the API, and by whom.

use sandpool_core::Verb;
use serde_json::Value;

/// Who calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Caller<'a> {
    /// The address that the call comes from.
    pub address: &'a str,
    /// The `Authorization` header.
    pub authorization: Option<&'a str>,
    /// The `X-Daytona-Organization-ID` header.
    pub organization: Option<&'a str>,
}

/// The intervals that can be set one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    /// Minutes without activity until a stop.
    AutoStop,
    /// Minutes in `stopped` until an archive.
    AutoArchive,
    /// Minutes in `stopped` until a delete.
    AutoDelete,
    /// Minutes from now until a delete.
    Ttl,
}

/// One call. Keys are ids or names as given; bodies are JSON, `null` where there was none; queries
/// are the decoded pairs in their order.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields are explained above, once for all of them")]
pub enum Call {
    /// `POST /sandbox`
    Create { body: Value },
    /// `GET /sandbox/{key}`
    Get { key: String },
    /// `GET /sandbox`
    List { query: Vec<(String, String)> },
    /// `GET /sandbox/paginated`
    ListPaginated { query: Vec<(String, String)> },
    /// `POST /sandbox/{key}/start`
    Start { key: String },
    /// `POST /sandbox/{key}/stop`
    Stop { key: String },
    /// `DELETE /sandbox/{key}`
    Delete { key: String },
    /// `POST /sandbox/{key}/archive`
    Archive { key: String },
    /// `POST /sandbox/{key}/recover`
    Recover { key: String, skip_start: bool },
    /// `POST /sandbox/{key}/resize`
    Resize { key: String, body: Value },
    /// `POST /sandbox/{key}/pause`
    Pause { key: String },
    /// `POST /sandbox/{key}/fork`
    Fork { key: String },
    /// `PUT /sandbox/{key}/labels`
    SetLabels { key: String, body: Value },
    /// `POST /sandbox/{key}/autostop/{text}` and its kind
    SetInterval { key: String, interval: Interval, text: String },
    /// `POST /sandbox/{key}/public/{text}`
    SetPublic { key: String, text: String },
    /// `POST /sandbox/{key}/network-settings`
    SetNetwork { key: String, body: Value },
    /// `POST /sandbox/{key}/last-activity`
    LastActivity { key: String },
    /// `GET /sandbox/{key}/ports/{port}/preview-url`
    PreviewUrl { key: String, port: String },
    /// `GET /sandbox/{key}/ports/{port}/signed-preview-url`
    SignedPreviewUrl { key: String, port: String, query: Vec<(String, String)> },
    /// `GET /sandbox/{key}/toolbox-proxy-url`
    ToolboxUrl { key: String },
    /// `GET /snapshots`
    Snapshots { query: Vec<(String, String)> },
    /// `GET /snapshots/{key}`
    Snapshot { key: String },
    /// `POST /snapshots`
    CreateSnapshot { body: Value },
    /// `DELETE /snapshots/{key}`
    DeleteSnapshot { key: String },
    /// `POST /snapshots/{key}/activate`
    ActivateSnapshot { key: String },
    /// `GET /api-keys/current`
    CurrentKey,
    /// `GET /api-keys`
    Keys,
    /// `POST /api-keys`
    CreateKey { body: Value },
    /// `DELETE /api-keys/{name}`
    DeleteKey { name: String },
    /// `GET /organizations`
    Organizations,
    /// `GET /organizations/{organization}/usage`
    Usage { organization: String },
    /// `GET /config`
    Config,
    /// `GET /health`
    Health,
}

/// Which rate limit counts a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    Create,
    Lifecycle,
    Authenticated,
    Anonymous,
}

/// Who may make a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Everybody.
    Open,
    /// A key, or a login together with its organization.
    Organization,
    /// A login alone.
    Login,
    /// A login together with its organization, and no key.
    LoginInOrganization,
}

impl Call {
    /// The scheduler's verb whose faults strike the call.
    pub(super) fn verb(&self) -> Option<Verb> {
        Some(match self {
            Call::Create { .. } => Verb::Create,
            Call::Get { .. } => Verb::Probe,
            Call::List { .. } | Call::ListPaginated { .. } => Verb::FindAll,
            Call::Start { .. }
            | Call::Stop { .. }
            | Call::Delete { .. }
            | Call::Archive { .. }
            | Call::Recover { .. }
            | Call::Resize { .. }
            | Call::Pause { .. }
            | Call::Fork { .. } => Verb::Destroy,
            Call::SetLabels { .. } => Verb::Relabel,
            Call::LastActivity { .. } => Verb::KeepAlive,
            _ => return None,
        })
    }

    /// The sandbox that the call is about, as it was named.
    pub(super) fn key(&self) -> Option<&str> {
        match self {
            Call::Get { key }
            | Call::Start { key }
            | Call::Stop { key }
            | Call::Delete { key }
            | Call::Archive { key }
            | Call::Recover { key, .. }
            | Call::Resize { key, .. }
            | Call::Pause { key }
            | Call::Fork { key }
            | Call::SetLabels { key, .. }
            | Call::LastActivity { key } => Some(key),
            _ => None,
        }
    }

    pub(super) fn counted(&self) -> Counted {
        match self {
            Call::Create { .. } => Counted::Create,
            Call::Config | Call::Health => Counted::Anonymous,
            call if call.verb() == Some(Verb::Destroy) => Counted::Lifecycle,
            _ => Counted::Authenticated,
        }
    }

    pub(super) fn access(&self) -> Access {
        match self {
            Call::Config | Call::Health => Access::Open,
            Call::Organizations => Access::Login,
            Call::Usage { .. } | Call::Keys | Call::CreateKey { .. } | Call::DeleteKey { .. } => {
                Access::LoginInOrganization
            }
            _ => Access::Organization,
        }
    }

    /// The permission that a key needs for it.
    pub(super) fn permission(&self) -> Option<&'static str> {
        Some(match self {
            Call::Create { .. }
            | Call::Start { .. }
            | Call::Stop { .. }
            | Call::Archive { .. }
            | Call::Recover { .. }
            | Call::Resize { .. }
            | Call::Pause { .. }
            | Call::Fork { .. }
            | Call::SetLabels { .. }
            | Call::SetInterval { .. }
            | Call::SetPublic { .. }
            | Call::SetNetwork { .. } => "write:sandboxes",
            Call::Delete { .. } => "delete:sandboxes",
            Call::CreateSnapshot { .. } | Call::ActivateSnapshot { .. } => "write:snapshots",
            Call::DeleteSnapshot { .. } => "delete:snapshots",
            _ => return None,
        })
    }
}
