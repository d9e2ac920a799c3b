//! The selection itself.

use super::rules::ContextRules;
use super::shorten::shorten;
use super::tokens::TokenEstimate;
use crate::store::{Message, MessageKind};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A message that goes to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    /// The message, its text shortened where the rules say so.
    pub message: Message,
    /// Whether it was shortened.
    pub shortened: bool,
}

/// What goes to the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The messages, in the order in which they were given.
    pub messages: Vec<Selected>,
    /// Their tokens by the estimate; never above the budget.
    pub tokens: u64,
    /// How many messages were left out.
    pub left_out: usize,
}

/// Messages that stay together or go together.
struct Unit {
    members: Vec<usize>,
    tokens: u64,
    is_notice: bool,
}

/// Selects from messages in the order of the conversation; the rules are the module's.
#[must_use]
pub fn select_context(
    messages: &[Message],
    budget_tokens: u64,
    rules: ContextRules,
    estimate: &dyn TokenEstimate,
) -> Selection {
    let texts: Vec<Cow<'_, str>> = messages
        .iter()
        .map(|message| match message.kind {
            MessageKind::ToolResult => shorten(&message.text, rules.tool_output_bytes),
            _ => Cow::Borrowed(message.text.as_str()),
        })
        .collect();
    let units = units(messages, &texts, estimate);
    let mut taken = vec![false; units.len()];
    let mut tokens = 0_u64;
    let mut take = |at: usize| {
        let fits = taken[at]
            || tokens.checked_add(units[at].tokens).is_some_and(|sum| sum <= budget_tokens);
        if fits && !taken[at] {
            taken[at] = true;
            tokens += units[at].tokens;
        }
        fits
    };
    let newest_first = || (0..units.len()).rev();
    if let Some(newest) = newest_first().next() {
        let newest_fits = take(newest);
        for notice in newest_first().filter(|&at| units[at].is_notice) {
            take(notice);
        }
        if newest_fits {
            // Whatever is older than one that does not fit is left out, however short.
            let _ = newest_first().all(&mut take);
        }
    }
    let mut members: Vec<usize> = units
        .iter()
        .zip(&taken)
        .filter(|&(_, &taken)| taken)
        .flat_map(|(unit, _)| unit.members.iter().copied())
        .collect();
    members.sort_unstable();
    Selection {
        left_out: messages.len() - members.len(),
        messages: members
            .into_iter()
            .map(|at| {
                let shortened = matches!(texts[at], Cow::Owned(_));
                let message = Message { text: texts[at].to_string(), ..messages[at].clone() };
                Selected { message, shortened }
            })
            .collect(),
        tokens,
    }
}

/// Groups tool calls with their results, ordered by the last message of each unit. A result goes
/// to the nearest call before it of the same name: models use names again.
fn units(messages: &[Message], texts: &[Cow<'_, str>], estimate: &dyn TokenEstimate) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::with_capacity(messages.len());
    let mut calls: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, message) in messages.iter().enumerate() {
        let tokens = estimate.tokens(&texts[at]);
        let call = message.call.as_deref();
        if message.kind == MessageKind::ToolResult {
            if let Some(&unit) = call.and_then(|call| calls.get(call)) {
                units[unit].members.push(at);
                units[unit].tokens = units[unit].tokens.saturating_add(tokens);
            }
            continue;
        }
        if let (MessageKind::ToolCall, Some(call)) = (message.kind, call) {
            calls.insert(call, units.len());
        }
        let is_notice = message.kind == MessageKind::Notice;
        units.push(Unit { members: vec![at], tokens, is_notice });
    }
    units.sort_by_key(|unit| unit.members.last().copied());
    units
}
