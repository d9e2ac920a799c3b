//! Process groups: a command and everything that it started and that did not leave the group.

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The groups of a sandbox.
#[derive(Debug, Default)]
pub(super) struct ProcessGroups(Mutex<Groups>);

#[derive(Debug, Default)]
struct Groups {
    /// Those whose leaders have not been waited for: their numbers cannot belong to anybody else.
    under_way: BTreeSet<i32>,
    /// All that there ever were. A number may be somebody else's by now.
    ever: BTreeSet<i32>,
}

impl ProcessGroups {
    fn lock(&self) -> MutexGuard<'_, Groups> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a group by its leader's process id.
    pub(super) fn add(&self, leader: i32) {
        let mut groups = self.lock();
        groups.under_way.insert(leader);
        groups.ever.insert(leader);
    }

    /// Its leader has been waited for.
    pub(super) fn remove(&self, leader: i32) {
        self.lock().under_way.remove(&leader);
    }

    /// Whether there ever was a group with this number.
    pub(super) fn had(&self, group: i32) -> bool {
        self.lock().ever.contains(&group)
    }

    /// Kills all that are under way. Their leaders are still to be waited for.
    pub(super) fn kill_all(&self) {
        for leader in &self.lock().under_way {
            kill_group(*leader);
        }
    }
}

/// Kills a group, without asking.
pub(super) fn kill_group(leader: i32) {
    // That it has ended already is just as good.
    let _ = killpg(Pid::from_raw(leader), Signal::SIGKILL);
}
