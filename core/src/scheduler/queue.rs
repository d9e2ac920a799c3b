//! Waiting claims.
//!
//! Whether a claim is admissible depends only on its account and class, so claims wait in *lines*:
//! one for each account, class and level (blocked or speculative). Lines that stand under the same
//! rule (class, within the share or beyond it) are kept in one ordered set by the key of their
//! first claim. A decision looks at the first line of each set: its cost does not grow with the
//! number of waiting claims.

use super::small_set::SmallSet;
use super::state::Claim;
use crate::id::{AccountId, Arena, ClaimId, ClassId};
use crate::policy::QueuePolicy;
use crate::policy::queue::{WaiterView, key};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Whether an account's next sandbox of a class would be within its share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tier {
    Within,
    Borrowing,
}

impl Tier {
    pub(super) const BOTH: [Tier; 2] = [Tier::Within, Tier::Borrowing];
}

/// The key of a line's first claim, and the line.
type LineKey = ((u64, u64), u32);

#[derive(Clone, Copy, Debug, Default)]
struct Line {
    first: Option<ClaimId>,
    last: Option<ClaimId>,
    /// The set and key under which the line is filed.
    filed: Option<(u32, LineKey)>,
}

/// All waiting claims.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    policy: QueuePolicy,
    classes: usize,
    /// By account, class, level.
    lines: Vec<Line>,
    /// By class, tier, level.
    sets: Vec<SmallSet<LineKey>>,
    blocked: usize,
    speculative: usize,
    /// Waiting claims that have been overtaken as often as is allowed.
    pub(super) overtaken: Vec<ClaimId>,
}

/// What filing a line needs to know of its account.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    pub held: i64,
    pub tier: Tier,
}

impl Queue {
    pub(super) fn new(policy: QueuePolicy, classes: usize) -> Self {
        Self {
            policy,
            classes,
            lines: Vec::new(),
            sets: vec![SmallSet::default(); classes * 4],
            blocked: 0,
            speculative: 0,
            overtaken: Vec::new(),
        }
    }

    /// Waiting claims behind which an execute waits.
    pub(super) fn blocked(&self) -> usize {
        self.blocked
    }

    pub(super) fn len(&self) -> usize {
        self.blocked + self.speculative
    }

    pub(super) fn ensure_account(&mut self, account: AccountId) {
        let wanted = (account.0 as usize + 1) * self.classes * 2;
        if self.lines.len() < wanted {
            self.lines.resize(wanted, Line::default());
        }
    }

    fn line_index(&self, account: AccountId, class: ClassId, blocked: bool) -> usize {
        (account.0 as usize * self.classes + class.0 as usize) * 2 + usize::from(!blocked)
    }

    fn set_index(class: ClassId, tier: Tier, blocked: bool) -> usize {
        class.0 as usize * 4 + tier as usize * 2 + usize::from(!blocked)
    }

    fn line_parts(&self, line: u32) -> (AccountId, ClassId, bool) {
        let line = line as usize;
        let blocked = line.is_multiple_of(2);
        let class = line / 2 % self.classes;
        (AccountId((line / 2 / self.classes) as u32), ClassId(class as u16), blocked)
    }

    /// Adds a claim to its line, by its order. Gives whether it is the first one there, so that the
    /// line must be refiled.
    pub(super) fn insert(&mut self, claims: &mut Arena<ClaimId, Claim>, id: ClaimId) -> bool {
        let (account, class, blocked, order) = {
            let claim = &claims[id];
            (claim.account, claim.class, claim.blocked, claim.order)
        };
        let line = self.line_index(account, class, blocked);
        // Nearly always the youngest; a claim that lost its admission goes further to the front.
        let mut after = self.lines[line].last;
        while let Some(other) = after {
            if claims[other].order < order {
                break;
            }
            after = claims[other].previous;
        }
        let before = match after {
            Some(other) => claims[other].next,
            None => self.lines[line].first,
        };
        claims[id].previous = after;
        claims[id].next = before;
        match after {
            Some(other) => claims[other].next = Some(id),
            None => self.lines[line].first = Some(id),
        }
        match before {
            Some(other) => claims[other].previous = Some(id),
            None => self.lines[line].last = Some(id),
        }
        if blocked {
            self.blocked += 1;
        } else {
            self.speculative += 1;
        }
        after.is_none()
    }

    /// Takes a claim out of its line. Gives whether it was the first one there, so that the line
    /// must be refiled.
    pub(super) fn remove(&mut self, claims: &mut Arena<ClaimId, Claim>, id: ClaimId) -> bool {
        let (account, class, blocked, previous, next, overtakes) = {
            let claim = &mut claims[id];
            let neighbours = (claim.previous.take(), claim.next.take());
            (claim.account, claim.class, claim.blocked, neighbours.0, neighbours.1, claim.overtakes)
        };
        let line = self.line_index(account, class, blocked);
        match previous {
            Some(other) => claims[other].next = next,
            None => self.lines[line].first = next,
        }
        match next {
            Some(other) => claims[other].previous = previous,
            None => self.lines[line].last = previous,
        }
        if blocked {
            self.blocked -= 1;
        } else {
            self.speculative -= 1;
        }
        if overtakes > 0 {
            self.overtaken.retain(|&other| other != id);
        }
        previous.is_none()
    }

    /// Files a line where it belongs now: its first claim or its account's standing has changed.
    pub(super) fn refile(
        &mut self,
        claims: &Arena<ClaimId, Claim>,
        account: AccountId,
        class: ClassId,
        blocked: bool,
        standing: Standing,
    ) {
        let index = self.line_index(account, class, blocked);
        let line = &mut self.lines[index];
        let wanted = line.first.map(|first| {
            let view = WaiterView { held: standing.held, order: claims[first].order };
            let set = Self::set_index(class, standing.tier, blocked) as u32;
            (set, (key(self.policy, &view), index as u32))
        });
        let filed = std::mem::replace(&mut line.filed, wanted);
        if filed == wanted {
            return;
        }
        if let Some((set, line_key)) = filed {
            self.sets[set as usize].remove(&line_key);
        }
        if let Some((set, line_key)) = wanted {
            self.sets[set as usize].insert(line_key);
        }
    }

    /// The first claim of each line under one rule, best first.
    pub(super) fn heads(
        &self,
        class: ClassId,
        tier: Tier,
        blocked: bool,
    ) -> impl Iterator<Item = ((u64, u64), ClaimId)> + '_ {
        self.sets[Self::set_index(class, tier, blocked)].iter().map(|&(key, line)| {
            let first = self.lines[line as usize].first;
            (key, first.expect("a filed line has a first claim"))
        })
    }

    /// Whether nothing waits under one rule.
    pub(super) fn is_line_set_empty(&self, class: ClassId, tier: Tier, blocked: bool) -> bool {
        self.sets[Self::set_index(class, tier, blocked)].is_empty()
    }

    /// Counts that a claim with this order was admitted before older blocked ones of one tier.
    pub(super) fn count_overtaken(
        &mut self,
        claims: &mut Arena<ClaimId, Claim>,
        tier: Tier,
        order: u64,
        max_overtakes: i64,
    ) {
        for class in 0..self.classes {
            let set = Self::set_index(ClassId(class as u16), tier, true);
            // Keys of the first-in-first-out policy are orders, so that the walk can stop early.
            let by_age = self.policy == QueuePolicy::Fifo;
            let lines: &SmallSet<LineKey> = &self.sets[set];
            for &(line_key, line) in lines.iter() {
                if by_age && line_key.1 >= order {
                    break;
                }
                let mut next = self.lines[line as usize].first;
                while let Some(id) = next {
                    let claim = &mut claims[id];
                    if claim.order >= order {
                        break;
                    }
                    claim.overtakes += 1;
                    if claim.overtakes == max_overtakes {
                        self.overtaken.push(id);
                    }
                    next = claim.next;
                }
            }
        }
    }

    /// Every waiting claim, line by line.
    pub(super) fn iter<'a>(
        &'a self,
        claims: &'a Arena<ClaimId, Claim>,
    ) -> impl Iterator<Item = ClaimId> + 'a {
        self.lines
            .iter()
            .flat_map(move |line| std::iter::successors(line.first, move |&id| claims[id].next))
    }

    /// The first `limit` blocked claims in the order in which they would be admitted if all fitted.
    pub(super) fn in_order(&self, claims: &Arena<ClaimId, Claim>, limit: usize) -> Vec<ClaimId> {
        let mut iterators: Vec<_> = (0..self.classes)
            .flat_map(|class| Tier::BOTH.map(|tier| self.heads(ClassId(class as u16), tier, true)))
            .collect();
        // The next candidates: one head of each set, and the successors of heads already taken.
        let mut next = BinaryHeap::new();
        for (set, heads) in iterators.iter_mut().enumerate() {
            if let Some((key, id)) = heads.next() {
                next.push(Reverse((key, id, set, true)));
            }
        }
        let mut found = Vec::new();
        while found.len() < limit
            && let Some(Reverse((key, id, set, is_head))) = next.pop()
        {
            found.push(id);
            if let Some(behind) = claims[id].next {
                next.push(Reverse(((key.0, claims[behind].order), behind, set, false)));
            }
            if is_head && let Some((key, id)) = iterators[set].next() {
                next.push(Reverse((key, id, set, true)));
            }
        }
        found
    }

    /// Checks that lines, sets and counters agree. For invariant checks.
    pub(super) fn check(
        &self,
        claims: &Arena<ClaimId, Claim>,
        standing: impl Fn(AccountId, ClassId) -> Standing,
    ) -> Result<(), String> {
        let (mut blocked, mut speculative) = (0, 0);
        for (index, line) in self.lines.iter().enumerate() {
            let (account, class, is_blocked) = self.line_parts(index as u32);
            let mut previous: Option<ClaimId> = None;
            let mut next = line.first;
            while let Some(id) = next {
                let claim =
                    claims.get(id).ok_or_else(|| format!("claim {id} waits but is gone"))?;
                if claim.previous != previous
                    || claim.account != account
                    || claim.class != class
                    || claim.blocked != is_blocked
                {
                    return Err(format!("claim {id} stands in a wrong line"));
                }
                if let Some(previous) = previous
                    && claims[previous].order >= claim.order
                {
                    return Err(format!("claim {id} stands behind a younger one"));
                }
                *(if is_blocked { &mut blocked } else { &mut speculative }) += 1;
                previous = Some(id);
                next = claim.next;
            }
            if line.last != previous {
                return Err(format!("line {index} has a wrong end"));
            }
            let wanted = line.first.map(|first| {
                let standing = standing(account, class);
                let view = WaiterView { held: standing.held, order: claims[first].order };
                let set = Self::set_index(class, standing.tier, is_blocked) as u32;
                (set, (key(self.policy, &view), index as u32))
            });
            if line.filed != wanted {
                return Err(format!(
                    "line {index} is filed under {:?}, not {wanted:?}",
                    line.filed
                ));
            }
        }
        let filed = self.sets.iter().map(SmallSet::len).sum::<usize>();
        let wanted = self.lines.iter().filter(|line| line.filed.is_some()).count();
        if filed != wanted {
            return Err(format!("{filed} lines are filed, {wanted} should be"));
        }
        if (blocked, speculative) != (self.blocked, self.speculative) {
            return Err("the counters of waiting claims are wrong".to_owned());
        }
        Ok(())
    }
}
