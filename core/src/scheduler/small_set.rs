//! An ordered set that is nearly always small.
//!
//! What waits, what is warm, what starts: mostly a handful, sometimes a hundred thousand. A handful
//! is kept as a sorted vector, which keeps its memory and its neighbours in the cache; a set that
//! outgrows it moves into a tree, so that no operation ever costs more than its logarithm.

use std::collections::BTreeSet;

/// A vector that grows beyond this many elements becomes a tree.
const LARGE: usize = 64;

/// A tree that shrinks to this many elements becomes a vector: far enough below [`LARGE`] that a
/// set at the border does not move to and fro.
const SMALL: usize = 16;

/// A set of `T`, in order. One of the two holds everything, the other is empty.
#[derive(Clone, Debug)]
pub(super) struct SmallSet<T> {
    vector: Vec<T>,
    tree: BTreeSet<T>,
}

impl<T> Default for SmallSet<T> {
    fn default() -> Self {
        Self { vector: Vec::new(), tree: BTreeSet::new() }
    }
}

impl<T: Copy + Ord> SmallSet<T> {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.vector.len() + self.tree.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.vector.is_empty() && self.tree.is_empty()
    }

    #[inline]
    pub(super) fn first(&self) -> Option<&T> {
        if self.tree.is_empty() { self.vector.first() } else { self.tree.first() }
    }

    /// Every element, in order.
    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> + '_ {
        self.vector.iter().chain(&self.tree)
    }

    pub(super) fn contains(&self, value: &T) -> bool {
        self.vector.binary_search(value).is_ok() || self.tree.contains(value)
    }

    /// Adds an element; gives whether it was new.
    #[inline]
    pub(super) fn insert(&mut self, value: T) -> bool {
        if !self.tree.is_empty() {
            return self.tree.insert(value);
        }
        // What is added is mostly the youngest and goes to the end.
        if self.vector.last().is_none_or(|last| *last < value) {
            self.vector.push(value);
        } else {
            match self.vector.binary_search(&value) {
                Ok(_) => return false,
                Err(place) => self.vector.insert(place, value),
            }
        }
        if self.vector.len() > LARGE {
            self.tree.extend(self.vector.drain(..));
        }
        true
    }

    /// Takes an element out; gives whether it was there.
    #[inline]
    pub(super) fn remove(&mut self, value: &T) -> bool {
        if self.tree.is_empty() {
            let found = self.vector.binary_search(value);
            if let Ok(place) = found {
                self.vector.remove(place);
            }
            return found.is_ok();
        }
        let was = self.tree.remove(value);
        self.shrink();
        was
    }

    /// Takes the smallest element out.
    #[inline]
    pub(super) fn pop_first(&mut self) -> Option<T> {
        if self.tree.is_empty() {
            return (!self.vector.is_empty()).then(|| self.vector.remove(0));
        }
        let first = self.tree.pop_first();
        self.shrink();
        first
    }

    fn shrink(&mut self) {
        if self.tree.len() <= SMALL {
            self.vector.extend(std::mem::take(&mut self.tree));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_tree_while_it_grows_and_shrinks_across_the_border() {
        let seed = 20_262_u64;
        let mut state = seed;
        let mut next = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 33
        };
        let (mut set, mut tree) = (SmallSet::default(), BTreeSet::new());
        let (mut was_vector, mut was_tree) = (0, 0);
        for step in 0..60_000_u64 {
            let value = next() % 200;
            // Grows for a while, then shrinks for a while.
            let grows = step / 500 % 2 == 0;
            match (next() % 8, grows) {
                (0..=5, true) | (0, false) => {
                    assert_eq!(set.insert(value), tree.insert(value), "seed {seed}, step {step}");
                }
                (6, _) | (1..=3, false) => {
                    let was = tree.remove(&value);
                    assert_eq!(set.remove(&value), was, "seed {seed}, step {step}");
                }
                _ => assert_eq!(set.pop_first(), tree.pop_first(), "seed {seed}, step {step}"),
            }
            assert_eq!(set.len(), tree.len(), "seed {seed}, step {step}");
            assert_eq!(set.is_empty(), tree.is_empty(), "seed {seed}, step {step}");
            assert_eq!(set.first(), tree.first(), "seed {seed}, step {step}");
            assert_eq!(set.contains(&value), tree.contains(&value), "seed {seed}, step {step}");
            assert!(set.iter().eq(&tree), "seed {seed}, step {step}");
            assert!(set.vector.is_empty() || set.tree.is_empty(), "seed {seed}, step {step}");
            was_vector += u32::from(!set.vector.is_empty());
            was_tree += u32::from(!set.tree.is_empty());
        }
        assert!(was_vector > 1_000 && was_tree > 1_000, "{was_vector} and {was_tree}");
    }
}
