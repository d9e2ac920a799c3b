//! `[http]`: where the server listens and how much it takes on.

use super::Wrong;
use serde::Deserialize;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

/// Where the server listens and how much it takes on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpSettings {
    /// The address to listen on; loopback unless told otherwise. Port 0 takes any free one.
    pub listen: SocketAddr,
    /// Largest request body, MB (1 to 1,024).
    pub max_body_mb: u32,
    /// Requests that are worked on at once (1 to 100,000); more are answered 503 at once. Executes
    /// that wait count; a stream counts until it has begun.
    pub max_requests: u32,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 8420)),
            max_body_mb: 16,
            max_requests: 4_096,
        }
    }
}

impl HttpSettings {
    pub(super) fn wrong(&self) -> Vec<Wrong> {
        let mut wrong = Vec::new();
        if !(1..=1_024).contains(&self.max_body_mb) {
            wrong.push(Wrong {
                table: "http",
                key: "max_body_mb",
                message: format!("{} MB is out of range", self.max_body_mb),
                hint: "from 1 to 1024",
            });
        }
        if !(1..=100_000).contains(&self.max_requests) {
            wrong.push(Wrong {
                table: "http",
                key: "max_requests",
                message: format!("{} is out of range", self.max_requests),
                hint: "from 1 to 100000",
            });
        }
        wrong
    }
}
