//! Ids: small, dense, never reused.
//!
//! An id packs a *sequence* (counts up, never reused, what people read) and an *index* (a slot in
//! an arena, reused, what the machine reads) into 64 bits. A look-up compares the whole id, so an
//! id that outlived its object finds nothing rather than its successor, and ids order by age.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroU64;

const INDEX_BITS: u32 = 24;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;

/// The most objects of one kind that can live at once (16,777,216).
pub const MAX_LIVE: usize = 1 << INDEX_BITS;

/// Most accounts. They are numbered densely from 0, because each takes memory up to the highest
/// number that was ever used.
pub const MAX_ACCOUNTS: u32 = 1 << 22;

/// The common part of all packed ids.
pub trait Id: Copy + Eq + Ord + fmt::Debug {
    /// Builds an id. `sequence` is 1 to 2^40 - 1, `index` 0 to 2^24 - 1.
    ///
    /// # Panics
    /// When either is out of range: an id that wraps would name two things.
    fn new(sequence: u64, index: u32) -> Self;
    /// The number people read; counts up from 1 and is never reused.
    fn sequence(self) -> u64;
    /// The arena slot.
    fn index(self) -> usize;
}

macro_rules! packed_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(NonZeroU64);

        impl Id for $name {
            #[inline]
            fn new(sequence: u64, index: u32) -> Self {
                assert!(
                    sequence > 0 && sequence < 1 << (64 - INDEX_BITS) && u64::from(index) <= INDEX_MASK,
                    "id out of range: sequence {sequence}, index {index}"
                );
                Self(NonZeroU64::new(sequence << INDEX_BITS | u64::from(index)).expect("sequence is not zero"))
            }
            #[inline]
            fn sequence(self) -> u64 {
                self.0.get() >> INDEX_BITS
            }
            #[inline]
            fn index(self) -> usize {
                (self.0.get() & INDEX_MASK) as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.sequence())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({}@{})"), self.sequence(), self.index())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serialize_packed(*self, serializer)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(PackedVisitor(PhantomData))
            }
        }
    };
}

packed_id! {
    /// A conversation. Chosen by the caller, which recycles the index only after the
    /// conversation is closed.
    ConversationId
}
packed_id! {
    /// One conversation's request for a sandbox.
    ClaimId
}
packed_id! {
    /// A sandbox as the scheduler knows it. Its sequence is part of the sandbox's name.
    SandboxId
}
packed_id! {
    /// One operation asked of the provider.
    OpId
}

/// Written as the sequence where the index follows from it (`index = sequence - 1`), else as
/// `"sequence@index"`, so that journals stay readable and nothing is lost.
fn serialize_packed<I: Id, S: Serializer>(id: I, serializer: S) -> Result<S::Ok, S::Error> {
    if id.index() as u64 == id.sequence() - 1 {
        serializer.serialize_u64(id.sequence())
    } else {
        serializer.collect_str(&format_args!("{}@{}", id.sequence(), id.index()))
    }
}

struct PackedVisitor<I>(PhantomData<I>);

impl<I: Id> de::Visitor<'_> for PackedVisitor<I> {
    type Value = I;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id: a sequence such as 7, or \"7@3\" with its slot")
    }

    fn visit_u64<E: de::Error>(self, sequence: u64) -> Result<I, E> {
        checked(sequence, sequence.wrapping_sub(1))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<I, E> {
        let (sequence, index) = text
            .split_once('@')
            .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))?;
        let sequence = sequence.parse().map_err(E::custom)?;
        let index = index.parse().map_err(E::custom)?;
        checked(sequence, index)
    }
}

fn checked<I: Id, E: de::Error>(sequence: u64, index: u64) -> Result<I, E> {
    if sequence == 0 || sequence >= 1 << (64 - INDEX_BITS) || index > INDEX_MASK {
        return Err(E::custom(format_args!("id out of range: {sequence}@{index}")));
    }
    Ok(I::new(sequence, index as u32))
}

macro_rules! plain_id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

plain_id! {
    /// Who a quota share belongs to. Dense, chosen by the caller, never freed.
    AccountId(u32)
}
plain_id! {
    /// Index into [`crate::Config::classes`].
    ClassId(u16)
}
plain_id! {
    /// A turn's number within its conversation, chosen by the caller, counting up from 1.
    TurnId(u32)
}
plain_id! {
    /// An execute's number within its conversation, chosen by the caller, counting up from 1.
    ExecuteId(u32)
}
plain_id! {
    /// The provider's own id of a sandbox, interned by the adapter.
    ProviderId(u64)
}

/// Objects of one kind by id: dense slots, ids that are never reused, constant-time look-up.
#[derive(Clone, Debug)]
pub struct Arena<I, T> {
    slots: Vec<Option<(I, T)>>,
    free: Vec<u32>,
    next_sequence: u64,
}

impl<I: Id, T> Default for Arena<I, T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), next_sequence: 1 }
    }
}

impl<I: Id, T> Arena<I, T> {
    /// Stores `value` under a fresh id.
    ///
    /// # Panics
    /// When [`MAX_LIVE`] objects live already.
    pub fn insert_with(&mut self, value: impl FnOnce(I) -> T) -> I {
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            (self.slots.len() - 1) as u32
        });
        let id = I::new(sequence, index);
        self.slots[index as usize] = Some((id, value(id)));
        id
    }

    /// Takes the object out; its index may be used again, its id never.
    pub fn remove(&mut self, id: I) -> Option<T> {
        let slot = self.slots.get_mut(id.index())?;
        let (_, value) = slot.take_if(|(living, _)| *living == id)?;
        self.free.push(id.index() as u32);
        Some(value)
    }

    /// The object, if it still lives.
    #[inline]
    #[must_use]
    pub fn get(&self, id: I) -> Option<&T> {
        match self.slots.get(id.index()) {
            Some(Some((living, value))) if *living == id => Some(value),
            _ => None,
        }
    }

    /// The object, if it still lives.
    #[inline]
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        match self.slots.get_mut(id.index()) {
            Some(Some((living, value))) if *living == id => Some(value),
            _ => None,
        }
    }

    /// Every living object, in slot order (not in order of age).
    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        self.slots.iter().flatten().map(|(id, value)| (*id, value))
    }

    /// How many objects live.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether nothing lives.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<I: Id, T> std::ops::Index<I> for Arena<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        self.get(id).unwrap_or_else(|| panic!("{id:?} is gone"))
    }
}

impl<I: Id, T> std::ops::IndexMut<I> for Arena<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        self.get_mut(id).unwrap_or_else(|| panic!("{id:?} is gone"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_id_finds_nothing_not_its_successor() {
        let mut arena: Arena<ClaimId, &str> = Arena::default();
        let first = arena.insert_with(|_| "first");
        assert_eq!(arena.remove(first), Some("first"));
        let second = arena.insert_with(|_| "second");
        assert_eq!(first.index(), second.index());
        assert_eq!(arena.get(first), None);
        assert_eq!(arena.remove(first), None);
        assert_eq!(arena.get(second), Some(&"second"));
        assert_eq!(arena.len(), 1);
    }

    #[test]
    fn ids_order_by_age_and_survive_json() {
        let (old, new) = (SandboxId::new(5, 900), SandboxId::new(6, 0));
        assert!(old < new);
        for id in [old, SandboxId::new(3, 2)] {
            let text = serde_json::to_string(&id).unwrap();
            assert_eq!(serde_json::from_str::<SandboxId>(&text).unwrap(), id, "{text}");
        }
        assert_eq!(serde_json::to_string(&SandboxId::new(3, 2)).unwrap(), "3");
        for bad in ["0", "\"5\"", "\"0@1\"", "\"5@99999999999\"", "-1"] {
            assert!(serde_json::from_str::<SandboxId>(bad).is_err(), "{bad}");
        }
    }
}
