//! What a test may ask of the simulated account while it runs: faults, delays, a machine that is
//! down, a suspended organization, a warm pool.
//!
//! One command is one JSON object with a field `do`. Milliseconds and seconds are the provider's
//! own, which may run faster than the clock on the wall.

use super::Account;
use super::call::Call;
use super::settings::ApiLimit;
use crate::daytona::cloud::{Arrival, RunnerState, Work};
use sandpool_core::{Span, Time};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// Why a command was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ControlError {
    /// There is no such command.
    #[error("unknown command {0:?}")]
    Unknown(String),
    /// A field is missing or has a value that means nothing.
    #[error("field {field:?}: {problem}")]
    Field {
        /// Which.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
}

/// What goes wrong with a call to a toolbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolboxFault {
    /// Something in front of the sandbox answers 502, in HTML.
    BadGateway,
    /// The command is carried out and nobody hears of it.
    LostAnswer,
    /// Nobody answers and nothing is done.
    LostRequest,
}

/// What was asked for and has not happened yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Interference {
    /// What becomes of the next calls of a kind, each once.
    arrivals: VecDeque<(&'static str, Arrival)>,
    toolbox: VecDeque<ToolboxFault>,
}

/// Kinds of calls whose answers can be tampered with.
const CALLS: [&str; 8] =
    ["create", "get", "list", "start", "stop", "delete", "label", "keep_alive"];

impl Interference {
    pub(super) fn take_arrival(&mut self, call: &Call) -> Option<Arrival> {
        let kind = match call {
            Call::Create { .. } => "create",
            Call::Get { .. } => "get",
            Call::List { .. } | Call::ListPaginated { .. } => "list",
            Call::Start { .. } => "start",
            Call::Stop { .. } => "stop",
            Call::Delete { .. } => "delete",
            Call::SetLabels { .. } => "label",
            Call::LastActivity { .. } => "keep_alive",
            _ => return None,
        };
        let place = self.arrivals.iter().position(|(asked, _)| *asked == kind)?;
        self.arrivals.remove(place).map(|(_, arrival)| arrival)
    }
}

impl Account {
    /// What goes wrong with the next call to a toolbox, if that was asked for.
    pub fn take_toolbox_fault(&mut self) -> Option<ToolboxFault> {
        self.interference.toolbox.pop_front()
    }

    /// Whether toolboxes can be reached: not in an outage, and not on a machine that is down.
    /// `Err` is how a call to one fails.
    ///
    /// # Errors
    /// [`ToolboxFault::LostRequest`] where nobody answers, [`ToolboxFault::BadGateway`] otherwise.
    pub fn toolbox_reachable(&mut self, now: Time) -> Result<(), ToolboxFault> {
        self.advance(now);
        if self.cloud.is_mute(now) {
            return Err(ToolboxFault::LostRequest);
        }
        let up = self.cloud.runner() == RunnerState::Up;
        if up && self.cloud.is_reachable(now) { Ok(()) } else { Err(ToolboxFault::BadGateway) }
    }

    /// Carries out a command; the answer has what it yields.
    ///
    /// | command | meaning |
    /// |---|---|
    /// | `fail_next` `verb` `message` | the next work of the kind fails with the text |
    /// | `delay` `verb` `ms` | work of the kind takes this long until `reset` |
    /// | `hang` `verb` | work of the kind never ends until `release` or `reset` |
    /// | `release` | work that hangs fails now |
    /// | `runner_down` `known`, `runner_up` | the machine that carries the sandboxes |
    /// | `lose_answer` `call` | the next call of the kind is carried out, its answer lost |
    /// | `lose_request` `call` | the next call of the kind is neither carried out nor answered |
    /// | `bad_gateway` `call` | the next call of the kind is answered 502 in HTML |
    /// | `outage` `seconds` `silent` | every call fails for this long |
    /// | `other_tenants` `sandboxes` | others use so many default sandboxes of the quota |
    /// | `kill` `sandbox`, `kill_all` | a sandbox, or all started ones, vanish silently |
    /// | `suspend` `reason`, `unsuspend` | whether the organization may create |
    /// | `warm_pool` `size` | started sandboxes of the default snapshot, ready to be taken |
    /// | `set_limits` | rate limits: `create`, `lifecycle`, `authenticated`, `failed_auth`, each |
    /// | | a number of calls or null, and `window_seconds` |
    /// | `reset_limits` | counters and blocks are forgotten |
    /// | `mint_token` `subject` | a login of a user with an organization of their own |
    /// | `reset` | none of the above but limits, pools and logins |
    ///
    /// Verbs: create, start, stop, delete, build, archive, restore, resize. Calls: create, get,
    /// list, start, stop, delete, label, keep_alive, execute.
    ///
    /// # Errors
    /// When there is no such command, or a field of it means nothing.
    pub fn control(&mut self, now: Time, command: &Value) -> Result<Value, ControlError> {
        self.advance(now);
        let text = |field: &'static str| {
            command.get(field).and_then(Value::as_str).ok_or_else(|| ControlError::Field {
                field,
                problem: "is missing or no text".to_owned(),
            })
        };
        let number = |field: &'static str| {
            command.get(field).and_then(Value::as_f64).filter(|&n| n >= 0.0).ok_or_else(|| {
                ControlError::Field {
                    field,
                    problem: "is missing, negative or no number".to_owned(),
                }
            })
        };
        let mut answer = json!({ "ok": true });
        let named = text("do")?;
        match named {
            "fail_next" => self.cloud.fail_next(verb(text("verb")?)?, text("message")?),
            "delay" => {
                let delay = Span::from_secs_f64(number("ms")? / 1000.0);
                self.cloud.set_delay(verb(text("verb")?)?, delay);
            }
            "hang" => self.cloud.hang(verb(text("verb")?)?),
            "release" => self.cloud.release(now),
            "runner_down" => {
                let known = command.get("known").and_then(Value::as_bool).unwrap_or(true);
                let state = if known { RunnerState::KnownDown } else { RunnerState::Silent };
                self.cloud.set_runner(now, state);
            }
            "runner_up" => self.cloud.set_runner(now, RunnerState::Up),
            "lose_answer" | "lose_request" | "bad_gateway" => self.tamper(named, text("call")?)?,
            "outage" => {
                let silent = command.get("silent").and_then(Value::as_bool).unwrap_or(false);
                self.cloud.begin_outage(now, Span::from_secs_f64(number("seconds")?), silent);
            }
            "other_tenants" => self.cloud.set_other_tenants(number("sandboxes")? as u32),
            "kill" => {
                let id = self.lookup(text("sandbox")?).ok_or_else(|| ControlError::Field {
                    field: "sandbox",
                    problem: "names no sandbox".to_owned(),
                })?;
                self.cloud.kill(now, id);
            }
            "kill_all" => {
                let started = |id| self.cloud.see(id).is_some_and(|seen| seen.is_started);
                let ids: Vec<_> = self.rows.keys().copied().filter(|&id| started(id)).collect();
                for id in ids {
                    self.cloud.kill(now, id);
                }
            }
            "suspend" => {
                let reason = command.get("reason").and_then(Value::as_str).unwrap_or_default();
                self.suspended = Some(reason.to_owned());
            }
            "unsuspend" => self.suspended = None,
            "warm_pool" => self.set_warm_pool(number("size")? as usize),
            "set_limits" => self.set_limits(command),
            "reset_limits" => self.limits.reset(),
            "mint_token" => {
                let at = self.settings.instant(now);
                let token = self.credentials.mint(text("subject")?, at, &mut self.identities);
                answer["token"] = json!(token);
            }
            "reset" => {
                self.cloud.behave(now);
                self.cloud.end_outages();
                self.cloud.set_other_tenants(0);
                self.interference = Interference::default();
                self.suspended = None;
            }
            other => return Err(ControlError::Unknown(other.to_owned())),
        }
        self.settle(now);
        self.changes += 1;
        Ok(answer)
    }

    fn tamper(&mut self, how: &str, call: &str) -> Result<(), ControlError> {
        if call == "execute" {
            self.interference.toolbox.push_back(match how {
                "lose_answer" => ToolboxFault::LostAnswer,
                "lose_request" => ToolboxFault::LostRequest,
                _ => ToolboxFault::BadGateway,
            });
            return Ok(());
        }
        let kind = CALLS.iter().find(|kind| **kind == call).ok_or_else(|| ControlError::Field {
            field: "call",
            problem: format!("is none of {}, execute", CALLS.join(", ")),
        })?;
        let arrival = match how {
            "lose_answer" => Arrival::Served { heard: false, fails: false },
            "lose_request" => Arrival::Unheard,
            _ => Arrival::Unavailable,
        };
        self.interference.arrivals.push_back((kind, arrival));
        Ok(())
    }

    fn set_limits(&mut self, command: &Value) {
        let window = command.get("window_seconds").and_then(Value::as_u64).unwrap_or(60);
        let limit = |field: &str| {
            let calls = command.get(field)?.as_u64()?;
            Some(ApiLimit { limit: calls as u32, window_seconds: window as u32 })
        };
        self.settings.limits = super::ApiLimits {
            anonymous: limit("anonymous"),
            failed_auth: limit("failed_auth"),
            authenticated: limit("authenticated"),
            create: limit("create"),
            lifecycle: limit("lifecycle"),
        };
        self.limits = super::limits::Limits::new(self.settings.limits);
    }
}

fn verb(text: &str) -> Result<Work, ControlError> {
    Ok(match text {
        "create" => Work::Create,
        "start" => Work::Start,
        "stop" => Work::Stop,
        "delete" => Work::Delete,
        "build" => Work::Build,
        "archive" => Work::Archive,
        "restore" => Work::Restore,
        "resize" => Work::Resize,
        other => {
            return Err(ControlError::Field {
                field: "verb",
                problem: format!("{other:?} is no kind of work"),
            });
        }
    })
}
