//! The provider's texts for sandboxes and the scheduler's numbers for them, both ways.

use sandpool_core::ProviderId;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Numbers texts as they are learned, from 1. A number is never used for a second text: an id
/// that outlived its sandbox must find nothing, not its successor.
///
/// Nothing here needs to be durable. After a restart every sandbox is found again by its labels,
/// and gets a number then.
#[derive(Debug, Default)]
pub struct IdTable {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    texts: Vec<String>,
    numbers: BTreeMap<String, u64>,
}

impl IdTable {
    /// The number of a text, the same one for ever.
    pub fn number_of(&self, text: &str) -> ProviderId {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = entries.numbers.get(text) {
            return ProviderId(*number);
        }
        entries.texts.push(text.to_owned());
        let number = entries.texts.len() as u64;
        entries.numbers.insert(text.to_owned(), number);
        ProviderId(number)
    }

    /// The text of a number, if that number was given out.
    pub fn text_of(&self, provider: ProviderId) -> Option<String> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let index = usize::try_from(provider.0.checked_sub(1)?).ok()?;
        entries.texts.get(index).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_keeps_its_number_and_a_number_its_text() {
        let table = IdTable::default();
        let (a, b) = (table.number_of("a"), table.number_of("b"));
        assert_ne!(a, b);
        assert_eq!(table.number_of("a"), a);
        assert_eq!(table.text_of(b).as_deref(), Some("b"));
        assert_eq!(table.text_of(ProviderId(0)), None);
        assert_eq!(table.text_of(ProviderId(3)), None);
    }
}
