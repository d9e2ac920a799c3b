//! Who may call: keys of organizations, and logins of users.
//!
//! The account's own organization has the sandboxes. A login is a user with an organization of
//! their own that has no default region and no sandboxes, as a new user's is.

use super::answer::{Outcome, Refused};
use super::call::{Access, Call, Caller};
use super::identity::Identities;
use super::settings::{AccountSettings, iso};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Who a call is from, once that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// The organization that it acts for; `None` for open routes and for logins alone.
    pub(super) organization: Option<String>,
    /// The user of a login.
    user: Option<String>,
    /// The name of the key, and whether it belongs to the account's own organization.
    key: Option<String>,
    own: bool,
}

impl Identity {
    /// Whether it acts for the organization that has the sandboxes.
    pub(super) fn owns_sandboxes(&self) -> bool {
        self.own
    }
}

/// An API key.
#[derive(Clone, Debug)]
struct Key {
    name: String,
    organization: String,
    permissions: Vec<String>,
    created_at: String,
}

/// A user with an organization of their own.
#[derive(Clone, Debug)]
struct User {
    subject: String,
    organization: String,
    created_at: String,
}

/// Every key and login.
#[derive(Clone, Debug)]
pub(super) struct Credentials {
    own_organization: String,
    by_value: BTreeMap<String, Key>,
    by_token: BTreeMap<String, User>,
}

const PERMISSIONS: [&str; 15] = [
    "write:registries",
    "delete:registries",
    "write:snapshots",
    "delete:snapshots",
    "write:sandboxes",
    "delete:sandboxes",
    "read:volumes",
    "write:volumes",
    "delete:volumes",
    "write:regions",
    "delete:regions",
    "read:runners",
    "write:runners",
    "delete:runners",
    "read:audit_logs",
];

impl Credentials {
    pub(super) fn new(settings: &AccountSettings) -> Self {
        let key = Key {
            name: "default".to_owned(),
            organization: settings.organization_id.clone(),
            permissions: PERMISSIONS.map(str::to_owned).to_vec(),
            created_at: iso(settings.epoch_ms),
        };
        Self {
            own_organization: settings.organization_id.clone(),
            by_value: BTreeMap::from([(settings.api_key.clone(), key)]),
            by_token: BTreeMap::new(),
        }
    }

    /// Who calls, and whether they may.
    pub(super) fn identify(&self, caller: &Caller<'_>, call: &Call) -> Result<Identity, Refused> {
        let access = call.access();
        if access == Access::Open {
            return Ok(Identity { organization: None, user: None, key: None, own: false });
        }
        let invalid = || Refused::because(401, "Invalid credentials");
        let bearer = caller.authorization.and_then(|value| value.strip_prefix("Bearer "));
        let secret = bearer.ok_or_else(invalid)?;
        if let Some(key) = self.by_value.get(secret) {
            // The organization header means nothing beside a key.
            if access != Access::Organization {
                return Err(invalid());
            }
            let missing = |permission: &str| !key.permissions.iter().any(|own| own == permission);
            if call.permission().is_some_and(missing) {
                return Err(Refused::because(403, "Access denied"));
            }
            return Ok(Identity {
                organization: Some(key.organization.clone()),
                user: None,
                key: Some(key.name.clone()),
                own: key.organization == self.own_organization,
            });
        }
        let user = self.by_token.get(secret).ok_or_else(invalid)?;
        let named = caller.organization.map(str::to_owned);
        if access != Access::Login && named.as_deref() != Some(&user.organization) {
            return Err(Refused::because(403, "Invalid authentication context"));
        }
        Ok(Identity {
            organization: named,
            user: Some(user.subject.clone()),
            key: None,
            own: false,
        })
    }

    /// Whether the secret is a key or a login of the organization that has the sandboxes.
    pub(super) fn opens_sandboxes(&self, secret: &str) -> bool {
        self.by_value.get(secret).is_some_and(|key| key.organization == self.own_organization)
    }

    /// A login of a user, who is new if nobody of that name has one.
    pub(super) fn mint(
        &mut self,
        subject: &str,
        at_ms: i64,
        identities: &mut Identities,
    ) -> String {
        let known = self.by_token.values().find(|user| user.subject == subject);
        let organization =
            known.map_or_else(|| identities.next().to_string(), |user| user.organization.clone());
        let token = format!("login_{}", identities.secret());
        let user = User { subject: subject.to_owned(), organization, created_at: iso(at_ms) };
        self.by_token.insert(token.clone(), user);
        token
    }

    pub(super) fn current_key(
        &self,
        identity: &Identity,
        settings: &AccountSettings,
    ) -> Result<Outcome, Refused> {
        let own = |key: &&Key| {
            identity.key.as_ref() == Some(&key.name)
                && identity.organization.as_ref() == Some(&key.organization)
        };
        let key = self.by_value.values().find(own);
        let key = key.ok_or_else(|| Refused::because(401, "Invalid credentials"))?;
        Ok(Outcome::ok(shown(key, settings)))
    }

    pub(super) fn keys(
        &self,
        identity: &Identity,
        settings: &AccountSettings,
    ) -> Result<Outcome, Refused> {
        let own = |key: &&Key| identity.organization.as_ref() == Some(&key.organization);
        let keys: Vec<Value> =
            self.by_value.values().filter(own).map(|key| shown(key, settings)).collect();
        Ok(Outcome::ok(Value::Array(keys)))
    }

    pub(super) fn create_key(
        &mut self,
        identity: &Identity,
        body: &Value,
        at_ms: i64,
        identities: &mut Identities,
    ) -> Result<Outcome, Refused> {
        let organization = identity.organization.clone().unwrap_or_default();
        let name = body.get("name").and_then(Value::as_str);
        let name = name.ok_or_else(|| Refused::bad("name must be a string"))?.to_owned();
        let asked = body.get("permissions").and_then(Value::as_array);
        let asked = asked.ok_or_else(|| Refused::bad("permissions must be an array"))?;
        let mut permissions = Vec::with_capacity(asked.len());
        for permission in asked {
            match permission.as_str().filter(|permission| PERMISSIONS.contains(permission)) {
                Some(permission) => permissions.push(permission.to_owned()),
                None => {
                    return Err(Refused::bad(format!(
                        "each value in permissions must be one of the following values: {}",
                        PERMISSIONS.join(", ")
                    )));
                }
            }
        }
        let taken = |key: &Key| key.organization == organization && key.name == name;
        if self.by_value.values().any(taken) {
            return Err(Refused::because(409, "API key with this name already exists"));
        }
        let value = format!("dtn_{}", identities.secret());
        let created_at = iso(at_ms);
        let body = json!({
            "name": name,
            "value": value,
            "createdAt": created_at,
            "permissions": permissions,
            "expiresAt": null,
        });
        self.by_value.insert(value, Key { name, organization, permissions, created_at });
        Ok(Outcome::Answer { status: 201, body: Some(body) })
    }

    pub(super) fn delete_key(
        &mut self,
        identity: &Identity,
        name: &str,
    ) -> Result<Outcome, Refused> {
        let organization = identity.organization.clone().unwrap_or_default();
        let before = self.by_value.len();
        self.by_value.retain(|_, key| !(key.organization == organization && key.name == name));
        if self.by_value.len() == before {
            return Err(Refused::because(404, "API key not found"));
        }
        Ok(Outcome::Answer { status: 204, body: None })
    }

    /// The organizations of a login: the user's own.
    pub(super) fn organizations(
        &self,
        identity: &Identity,
        settings: &AccountSettings,
    ) -> Result<Outcome, Refused> {
        let mine = |user: &&User| identity.user.as_ref() == Some(&user.subject);
        let user = self.by_token.values().find(mine);
        let user = user.ok_or_else(|| Refused::because(401, "Invalid credentials"))?;
        Ok(Outcome::ok(json!([{
            "id": user.organization,
            "name": "Personal",
            "createdBy": user.subject,
            "personal": true,
            "createdAt": user.created_at,
            "updatedAt": user.created_at,
            "suspended": false,
            "suspensionReason": null,
            "suspendedAt": null,
            "suspendedUntil": null,
            "suspensionCleanupGracePeriodHours": 24,
            "maxCpuPerSandbox": settings.largest.cpu,
            "maxMemoryPerSandbox": settings.largest.memory_gib,
            "maxDiskPerSandbox": settings.largest.disk_gib,
            "snapshotDeactivationTimeoutMinutes": 20160,
            "sandboxLimitedNetworkEgress": false,
            "defaultRegionId": null,
        }])))
    }

    /// What the organization of a login uses: nothing, because it has no region yet.
    pub(super) fn usage(
        &self,
        identity: &Identity,
        organization: &str,
    ) -> Result<Outcome, Refused> {
        if identity.organization.as_deref() != Some(organization) {
            return Err(Refused::because(403, "Invalid authentication context"));
        }
        Ok(Outcome::ok(json!({
            "regionUsage": [],
            "totalSnapshotQuota": 30,
            "currentSnapshotUsage": 0,
            "totalVolumeQuota": 100,
            "currentVolumeUsage": 0,
        })))
    }
}

/// A key as answers show it, its value hidden.
fn shown(key: &Key, settings: &AccountSettings) -> Value {
    json!({
        "name": key.name,
        "value": "dtn_********",
        "createdAt": key.created_at,
        "permissions": key.permissions,
        "lastUsedAt": null,
        "expiresAt": null,
        "userId": settings.organization_id,
    })
}
