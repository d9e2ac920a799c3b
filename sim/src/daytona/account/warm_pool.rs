//! Started sandboxes of the default snapshot that belong to nobody yet (Daytona v0.190.0,
//! sandbox-warm-pool.service.ts).

use super::Account;
use super::create::Minutes;
use crate::daytona::cloud::Cloud;
use sandpool_core::{ProviderId, Span, Time};
use serde_json::Value;
use std::collections::VecDeque;

/// A create that does not match the pool keeps everybody away from it for this long.
const SKIPPED_FOR: Span = Span::from_secs(60);

/// The pool of the default snapshot.
#[derive(Clone, Debug, Default)]
pub(super) struct WarmPool {
    target: usize,
    ready: VecDeque<ProviderId>,
    skipped_until: Time,
}

impl WarmPool {
    /// A sandbox that may be one of the pool's has changed: forgets it if it is gone.
    pub(super) fn follow(&mut self, id: ProviderId, cloud: &Cloud) {
        if cloud.see(id).is_none() {
            self.ready.retain(|&own| own != id);
        }
    }
}

/// A warm sandbox is not stopped for want of use.
const UNUSED: Minutes =
    Minutes { auto_stop: 0.0, auto_archive: 10_080.0, auto_delete: -1.0, ttl: 0.0 };

impl Account {
    /// The pool has this many sandboxes from now on, ready at once; zero is no pool.
    pub(super) fn set_warm_pool(&mut self, size: usize) {
        self.warm.target = size;
        self.warm.skipped_until = Time::ZERO;
        while self.warm.ready.len() > size {
            if let Some(id) = self.warm.ready.pop_back() {
                self.cloud.kill(self.now, id);
            }
        }
        self.warm_up();
        self.settle(self.now);
    }

    /// Fills the pool up. New members are there at once: what a client can see of a pool that is
    /// filled at the next round is only that it misses it for some seconds.
    pub(super) fn warm_up(&mut self) {
        while self.warm.ready.len() < self.warm.target {
            let (number, _) = self.cloud.arrive_create(self.now);
            let id = self.cloud.make_warm(self.now, number, UNUSED.lifetimes());
            self.warm.ready.push_back(id);
        }
    }

    /// A warm sandbox for a create, if there is one and the create wants nothing of its own.
    pub(super) fn take_warm(&mut self, body: &Value, snapshot: Option<&str>) -> Option<ProviderId> {
        if self.warm.target == 0 {
            return None;
        }
        let empty = |field: &str| match body.get(field) {
            None | Some(Value::Null) => true,
            Some(Value::Object(object)) => object.is_empty(),
            Some(Value::Array(list)) => list.is_empty(),
            Some(_) => false,
        };
        let plain_user = body.get("user").and_then(Value::as_str).is_none_or(|u| u == "daytona");
        if snapshot != Some(self.settings.default_snapshot()) {
            return None;
        }
        if !empty("env") || !plain_user {
            self.warm.skipped_until = self.now.plus(SKIPPED_FOR);
            return None;
        }
        if !empty("volumes") || !empty("linkedSandbox") || self.now < self.warm.skipped_until {
            return None;
        }
        self.warm.ready.pop_front()
    }
}
