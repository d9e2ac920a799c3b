//! Addresses of what runs in a sandbox. The previews themselves are not served here.

use super::Account;
use super::answer::{Outcome, Refused};
use super::credentials::Identity;
use super::row::Row;
use serde_json::json;

impl Account {
    pub(super) fn preview_url(
        &mut self,
        identity: &Identity,
        key: &str,
        port: &str,
    ) -> Result<Outcome, Refused> {
        let port = port_of(port)?;
        let row = self.row(identity, key)?;
        Ok(Outcome::ok(json!({
            "sandboxId": row.id.to_string(),
            "url": format!("{}/{port}-{}", self.settings.preview_url, row.id),
            "token": row.token,
        })))
    }

    pub(super) fn signed_preview_url(
        &mut self,
        identity: &Identity,
        key: &str,
        port: &str,
        query: &[(String, String)],
    ) -> Result<Outcome, Refused> {
        let port = port_of(port)?;
        let asked = query.iter().find(|(name, _)| name == "expiresInSeconds");
        let expires = asked.map_or(Some(60), |(_, text)| text.parse::<u32>().ok());
        let in_range = |seconds: &u32| (1..=86_400).contains(seconds);
        if expires.filter(in_range).is_none() {
            return Err(Refused::bad("expiresInSeconds must be between 1 and 86400"));
        }
        let (id, token) = {
            let row = self.row(identity, key)?;
            (row.id, row.token[..16].to_owned())
        };
        Ok(Outcome::ok(json!({
            "sandboxId": id.to_string(),
            "port": port,
            "token": token,
            "url": format!("{}/{port}-{token}", self.settings.preview_url),
        })))
    }

    /// Takes an id alone.
    pub(super) fn toolbox_url(
        &mut self,
        identity: &Identity,
        key: &str,
    ) -> Result<Outcome, Refused> {
        let row = self.row(identity, key)?;
        if row.id.to_string() != key {
            return Err(Refused::not_found(key));
        }
        Ok(Outcome::ok(json!({ "url": self.settings.toolbox_url })))
    }

    fn row(&self, identity: &Identity, key: &str) -> Result<&Row, Refused> {
        let id = self.find(identity, key)?;
        self.rows.get(&id).ok_or_else(|| Refused::not_found(key))
    }
}

fn port_of(text: &str) -> Result<u16, Refused> {
    text.parse().map_err(|_| Refused::bad("Invalid port"))
}
