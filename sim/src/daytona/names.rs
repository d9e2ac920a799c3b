//! Which slot holds a name: a small open-addressed table.
//!
//! Look-ups only, so that its order can never reach a result. It stores slots, not names: the
//! caller says what name a slot has.

use sandpool_core::SandboxName;

/// Slots by name. Linear probing, at most half full, without tombstones.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// Slot and 1; 0 is empty. The length is zero or a power of two.
    cells: Vec<u32>,
    len: usize,
}

impl Names {
    /// The slot that holds the name.
    #[inline]
    pub(super) fn get(
        &self,
        name: SandboxName,
        name_of: impl Fn(u32) -> Option<SandboxName>,
    ) -> Option<u32> {
        if self.cells.is_empty() {
            return None;
        }
        let mut cell = self.home(name);
        loop {
            let slot = self.cells[cell].checked_sub(1)?;
            if name_of(slot) == Some(name) {
                return Some(slot);
            }
            cell = (cell + 1) & (self.cells.len() - 1);
        }
    }

    /// Notes that the slot holds the name, which no other slot may hold.
    pub(super) fn insert(
        &mut self,
        name: SandboxName,
        slot: u32,
        name_of: impl Fn(u32) -> Option<SandboxName>,
    ) {
        if (self.len + 1) * 2 > self.cells.len() {
            let old = std::mem::take(&mut self.cells);
            self.cells = vec![0; (old.len() * 2).max(16)];
            for slot in old.iter().filter_map(|cell| cell.checked_sub(1)) {
                self.place(name_of(slot).expect("a slot in the table has a name"), slot);
            }
        }
        self.place(name, slot);
        self.len += 1;
    }

    /// Frees the name. Call it while the slot still has it.
    pub(super) fn remove(
        &mut self,
        name: SandboxName,
        name_of: impl Fn(u32) -> Option<SandboxName>,
    ) {
        if self.cells.is_empty() {
            return;
        }
        let mask = self.cells.len() - 1;
        let mut hole = self.home(name);
        loop {
            let Some(slot) = self.cells[hole].checked_sub(1) else { return };
            if name_of(slot) == Some(name) {
                break;
            }
            hole = (hole + 1) & mask;
        }
        // Close the gap: whatever probed past the hole on its way from home moves into it.
        let mut cell = hole;
        loop {
            cell = (cell + 1) & mask;
            let Some(slot) = self.cells[cell].checked_sub(1) else { break };
            let home = self.home(name_of(slot).expect("a slot in the table has a name"));
            if (cell.wrapping_sub(home) & mask) >= (cell.wrapping_sub(hole) & mask) {
                self.cells[hole] = self.cells[cell];
                hole = cell;
            }
        }
        self.cells[hole] = 0;
        self.len -= 1;
    }

    fn place(&mut self, name: SandboxName, slot: u32) {
        let mut cell = self.home(name);
        while self.cells[cell] != 0 {
            cell = (cell + 1) & (self.cells.len() - 1);
        }
        self.cells[cell] = slot + 1;
    }

    #[inline]
    fn home(&self, name: SandboxName) -> usize {
        let key = name.sequence ^ u64::from(name.epoch).rotate_left(40);
        let spread = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (spread >> 32) as usize & (self.cells.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};
    use std::collections::BTreeMap;

    #[test]
    fn agrees_with_a_sorted_map_under_random_use() {
        let seed = 77;
        let mut stream = Stream::new(seed, 0, Purpose::Oracle, 0);
        let mut names = Names::default();
        let mut held: Vec<Option<SandboxName>> = vec![None; 200];
        let mut slots: BTreeMap<SandboxName, u32> = BTreeMap::new();
        for step in 0..30_000 {
            let name =
                SandboxName { epoch: (stream.bits() % 3) as u32, sequence: stream.bits() % 90 };
            let found = names.get(name, |slot| held[slot as usize]);
            assert_eq!(found, slots.get(&name).copied(), "seed {seed}, step {step}");
            if let Some(slot) = found {
                names.remove(name, |slot| held[slot as usize]);
                held[slot as usize] = None;
                slots.remove(&name);
            } else if let Some(slot) = held.iter().position(Option::is_none) {
                names.insert(name, slot as u32, |slot| held[slot as usize]);
                held[slot] = Some(name);
                slots.insert(name, slot as u32);
            }
        }
        assert!(slots.len() > 20, "the test exercised a table of some size");
    }
}
