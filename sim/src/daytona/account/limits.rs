//! Rate limits of the API (Daytona v0.190.0, authenticated-rate-limit.guard.ts and
//! failed-auth-tracker.service.ts).
//!
//! One counter for each kind of call and organization. A call that is refused for another reason
//! has counted. The failed logins of an address are counted apart: too many of them block
//! everything that comes from there, good keys included.

use super::answer::Refused;
use super::call::{Call, Counted};
use super::credentials::Identity;
use super::settings::{ApiLimit, ApiLimits};
use crate::daytona::rate_limit::RateLimiter;
use sandpool_core::{Span, Time};
use std::collections::BTreeMap;

/// Every limiter that has counted something.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    limits: ApiLimits,
    /// By kind, and by organization or address.
    counters: BTreeMap<(&'static str, String), RateLimiter>,
}

impl Limits {
    pub(super) fn new(limits: ApiLimits) -> Self {
        Self { limits, counters: BTreeMap::new() }
    }

    /// All counters and blocks are forgotten.
    pub(super) fn reset(&mut self) {
        self.counters.clear();
    }

    /// Whether the address is blocked for its failed logins.
    pub(super) fn check_address(&self, now: Time, address: &str) -> Result<(), Refused> {
        let key = ("failed-auth", address.to_owned());
        match self.counters.get(&key).and_then(|limiter| limiter.blocked(now)) {
            Some(left) => Err(retry_after("Retry-After".to_owned(), left)),
            None => Ok(()),
        }
    }

    /// A login has failed. The one that reaches the limit is refused for that instead.
    pub(super) fn count_failed_login(&mut self, now: Time, address: &str) -> Result<(), Refused> {
        let Some(limit) = self.limits.failed_auth else { return Ok(()) };
        // The last of the window's logins is the one that is refused, hence one less.
        let limit = ApiLimit { limit: limit.limit.saturating_sub(1), ..limit };
        let limiter = self.counter("failed-auth", address, limit);
        limiter.admit(now).map_err(|left| retry_after("Retry-After".to_owned(), left))
    }

    /// Counts a call and writes the headers that tell of the limit.
    pub(super) fn admit(
        &mut self,
        now: Time,
        address: &str,
        identity: &Identity,
        call: &Call,
        headers: &mut Vec<(String, String)>,
    ) -> Result<(), Refused> {
        let organization = identity.organization.as_deref().unwrap_or(address);
        let (kind, limit, whose) = match call.counted() {
            Counted::Create => ("sandbox-create", self.limits.create, organization),
            Counted::Lifecycle => ("sandbox-lifecycle", self.limits.lifecycle, organization),
            Counted::Authenticated => ("authenticated", self.limits.authenticated, organization),
            Counted::Anonymous => ("anonymous", self.limits.anonymous, address),
        };
        let Some(limit) = limit else { return Ok(()) };
        let limiter = self.counter(kind, whose, limit);
        limiter.admit(now).map_err(|left| retry_after(format!("Retry-After-{kind}"), left))?;
        let (left, reset) = limiter.left(now);
        for (what, value) in [
            ("Limit", u64::from(limit.limit)),
            ("Remaining", u64::from(left)),
            ("Reset", seconds(reset)),
        ] {
            headers.push((format!("X-RateLimit-{what}-{kind}"), value.to_string()));
        }
        Ok(())
    }

    fn counter(&mut self, kind: &'static str, whose: &str, limit: ApiLimit) -> &mut RateLimiter {
        let window = Span::from_secs(u64::from(limit.window_seconds));
        self.counters
            .entry((kind, whose.to_owned()))
            .or_insert_with(|| RateLimiter::with_window(limit.limit, window))
    }
}

fn retry_after(header: String, left: Span) -> Refused {
    Refused::Throttled { header, seconds: seconds(left) }
}

fn seconds(span: Span) -> u64 {
    span.as_nanos() / 1_000_000_000
}
