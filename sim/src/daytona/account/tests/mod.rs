//! Behaviour of the account, in virtual time: what Daytona v0.190.0 does and a toy would not.

mod archive;
mod create;
mod credentials;
mod failures;
mod intervals;
mod limits;
mod lists;
mod lost;
mod names;
mod one_model;
mod quota;
mod refusals;
mod snapshots;
mod states;
mod warm_pool;

use super::{Account, AccountSettings, Call, Caller, Outcome, Reply, Ticket};
use sandpool_core::{Span, Time};
use serde_json::{Value, json};

/// An account at which somebody calls, and their watch.
pub(super) struct Desk {
    pub(super) account: Account,
    pub(super) now: Time,
}

impl Desk {
    pub(super) fn new() -> Self {
        Self::with(AccountSettings::default())
    }

    pub(super) fn with(settings: AccountSettings) -> Self {
        Self { account: Account::new(settings), now: Time::ZERO }
    }

    /// Time passes.
    pub(super) fn pass(&mut self, seconds: f64) {
        self.now = self.now.plus(Span::from_secs_f64(seconds));
        self.account.advance(self.now);
    }

    /// A call with the account's own key, answered at once or not.
    pub(super) fn reply(&mut self, call: Call) -> Reply {
        let authorization = format!("Bearer {}", self.account.settings().api_key);
        let caller =
            Caller { address: "10.0.0.1", authorization: Some(&authorization), organization: None };
        self.account.handle(self.now, &caller, call)
    }

    /// Lets time pass until the answer is there.
    pub(super) fn wait(&mut self, ticket: &Ticket) -> Outcome {
        loop {
            if let Some(outcome) = self.account.redeem(self.now, ticket) {
                return outcome;
            }
            let next = self.account.next_at().unwrap_or(ticket.until).min(ticket.until);
            self.now = self.now.max(next);
        }
    }

    /// A call with the account's own key, and its final answer: status and body, or the text of
    /// the refusal.
    pub(super) fn call(&mut self, call: Call) -> (u16, Value) {
        let mut outcome = self.reply(call).outcome;
        if let Outcome::Wait(ticket) = &outcome {
            let ticket = ticket.clone();
            outcome = self.wait(&ticket);
        }
        match outcome {
            Outcome::Answer { status, body } => (status, body.unwrap_or(Value::Null)),
            Outcome::Error { status, message } => (status, Value::String(message)),
            other => panic!("not an answer: {other:?}"),
        }
    }

    /// Creates a sandbox and waits for it; its id.
    pub(super) fn started(&mut self, body: Value) -> String {
        let (status, sandbox) = self.call(Call::Create { body });
        assert_eq!(status, 200, "{sandbox}");
        let id = sandbox["id"].as_str().expect("an id").to_owned();
        assert_eq!(self.state(&id), "started");
        id
    }

    pub(super) fn get(&mut self, key: &str) -> (u16, Value) {
        self.call(Call::Get { key: key.to_owned() })
    }

    /// The state that is shown; `"gone"` when there is none.
    pub(super) fn state(&mut self, key: &str) -> String {
        match self.get(key) {
            (200, sandbox) => sandbox["state"].as_str().expect("a state").to_owned(),
            (404, _) => "gone".to_owned(),
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn stop(&mut self, key: &str) -> (u16, Value) {
        self.call(Call::Stop { key: key.to_owned() })
    }

    pub(super) fn start(&mut self, key: &str) -> (u16, Value) {
        self.call(Call::Start { key: key.to_owned() })
    }

    pub(super) fn delete(&mut self, key: &str) -> (u16, Value) {
        self.call(Call::Delete { key: key.to_owned() })
    }

    pub(super) fn list(&mut self, query: &[(&str, &str)]) -> (u16, Value) {
        let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        self.call(Call::List { query: query.iter().map(owned).collect() })
    }

    /// The names that a list shows, in its order.
    pub(super) fn listed(&mut self, query: &[(&str, &str)]) -> Vec<String> {
        let (status, page) = self.list(query);
        assert_eq!(status, 200, "{page}");
        let items = page["items"].as_array().expect("items");
        items.iter().map(|item| item["name"].as_str().expect("a name").to_owned()).collect()
    }

    pub(super) fn control(&mut self, command: Value) -> Value {
        self.account.control(self.now, &command).expect("a command that is known")
    }
}

/// A refusal as [`Desk::call`] gives it.
pub(super) fn refused(status: u16, message: &str) -> (u16, Value) {
    (status, json!(message))
}

pub(super) const IN_PROGRESS: &str = "Sandbox state change in progress";
