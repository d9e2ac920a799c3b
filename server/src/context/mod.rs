//! What of a conversation's history goes to the model: a pure function of the messages, a budget
//! and the rules. The same input gives the same selection.
//!
//! In order of precedence, each within the budget:
//! 1. the newest message;
//! 2. notices of what happened to the sandbox (files lost, sandbox replaced), newest first;
//! 3. the other messages, newest first, up to the first that does not fit: the history has no
//!    holes but its old end.
//!
//! A tool's long output is shortened before it is counted. A tool call and its results count as
//! one message, at the place of the last of them. A result whose call is not among the messages is
//! left out, because models refuse it.

mod load;
mod rules;
mod select;
mod shorten;
mod tokens;

pub use load::load_context;
pub use rules::ContextRules;
pub use select::{Selected, Selection, select_context};
pub use tokens::{BytesOverFour, TokenEstimate};
