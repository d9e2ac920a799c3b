//! Dense numbers for conversations: the scheduler keeps one place for each that is open.

use sandpool_core::{ConversationId, Id};

/// Hands out places and takes them back.
#[derive(Debug, Default)]
pub(super) struct Slots {
    vacant: Vec<u32>,
    next: u32,
}

impl Slots {
    /// A place for the conversation with this number.
    pub(super) fn take(&mut self, number: u64) -> ConversationId {
        let index = self.vacant.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        ConversationId::new(number, index)
    }

    /// The conversation is closed.
    pub(super) fn give_back(&mut self, id: ConversationId) {
        self.vacant.push(u32::try_from(id.index()).expect("an index is a u32"));
    }
}
