//! The selection over a conversation in the store, without reading more of it than is needed.

use super::rules::ContextRules;
use super::select::{Selection, select_context};
use super::tokens::TokenEstimate;
use crate::store::{
    ConversationKey, MAX_PAGE, Message, MessageKind, MessageRange, Order, Store, StoreError,
};
use std::collections::{BTreeSet, VecDeque};

/// Messages a read.
const PAGE: u32 = 100;

/// What [`select_context`] selects from the whole conversation, as of the first read. Of more than
/// [`MAX_PAGE`] notices beyond what is read, only the newest are looked at.
///
/// Reads pages from the newest message back until one is left out for the budget: nothing older
/// can be selected then but notices, which are found by themselves.
///
/// # Errors
/// [`StoreError::NotFound`] if the conversation is not the account's, and the store's failures.
pub async fn load_context(
    store: &dyn Store,
    account: u32,
    key: &ConversationKey,
    budget_tokens: u64,
    rules: ContextRules,
    estimate: &(dyn TokenEstimate + Sync),
) -> Result<Selection, StoreError> {
    let mut recent: VecDeque<Message> = VecDeque::new();
    let mut notices = store.notices(account, key, MAX_PAGE).await?;
    notices.reverse();
    loop {
        let after = recent.front().map(|oldest| oldest.sequence);
        let range = MessageRange { order: Order::NewestFirst, after, limit: PAGE };
        let page = store.messages(account, key, range).await?;
        let exhausted = page.len() < PAGE as usize;
        for message in page {
            recent.push_front(message);
        }
        let oldest = recent.front().map_or(0, |oldest| oldest.sequence);
        let newest = recent.back().map_or(0, |newest| newest.sequence);
        let older = notices.iter().filter(|notice| notice.sequence < oldest);
        let known: Vec<Message> = older.chain(&recent).cloned().collect();
        let mut selection = select_context(&known, budget_tokens, rules, estimate);
        if exhausted || is_settled(&recent, &selection) {
            selection.left_out = usize::try_from(newest)
                .unwrap_or(usize::MAX)
                .saturating_sub(selection.messages.len());
            return Ok(selection);
        }
    }
}

/// Whether older messages could not change the selection: every result's call has been read, so
/// that the units are the final ones, and one of them did not fit.
fn is_settled(recent: &VecDeque<Message>, selection: &Selection) -> bool {
    let mut calls = BTreeSet::new();
    for message in recent {
        let call = message.call.as_deref();
        match message.kind {
            MessageKind::ToolCall => calls.extend(call),
            MessageKind::ToolResult if call.is_some_and(|call| !calls.contains(call)) => {
                return false;
            }
            _ => {}
        }
    }
    let oldest = recent.front().map_or(0, |oldest| oldest.sequence);
    let selected = selection.messages.iter().filter(|got| got.message.sequence >= oldest).count();
    // A result without a name of its call is in no unit, and says nothing about the budget.
    let nameless =
        |message: &&Message| message.kind == MessageKind::ToolResult && message.call.is_none();
    selected + recent.iter().filter(nameless).count() < recent.len()
}
