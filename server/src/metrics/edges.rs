//! What is counted where it happens: calls to the provider, commits, requests.

use super::families::{Asked, ByRoute, ByVerb, Called, Metrics};
use sandpool_core::{Reply, Verb};
use std::time::Duration;

impl Metrics {
    /// The provider answered a call.
    pub(crate) fn provider_called(&self, verb: Verb, reply: &Reply, took: Duration) {
        let called = Called { verb: verb.name(), outcome: outcome_of(reply) };
        self.provider_calls.get_or_create(&called).inc();
        let by_verb = ByVerb { verb: verb.name() };
        self.provider_call.get_or_create(&by_verb).observe(took.as_secs_f64());
    }

    /// A batch is safe.
    pub(crate) fn committed(&self, took: Duration) {
        self.store_commits.inc();
        self.store_commit.observe(took.as_secs_f64());
    }

    /// A request was answered. `route` is as the router has it, never the path that was asked for.
    pub(crate) fn requested(&self, method: &str, route: &str, status: u16, took: Duration) {
        let class = match status {
            0..200 => "1xx",
            200..300 => "2xx",
            300..400 => "3xx",
            400..500 => "4xx",
            _ => "5xx",
        };
        let asked = Asked { method: method.to_owned(), route: route.to_owned(), status: class };
        self.http_requests.get_or_create(&asked).inc();
        let by_route = ByRoute { route: route.to_owned() };
        self.http_request.get_or_create(&by_route).observe(took.as_secs_f64());
    }
}

fn outcome_of(reply: &Reply) -> &'static str {
    match reply {
        Reply::Failed(failure) => failure.name(),
        _ => "ok",
    }
}
