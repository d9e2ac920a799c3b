//! Process groups: a command and everything that it started and that did not leave the group.

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The groups whose leaders have not been waited for: their numbers cannot belong to anybody else.
#[derive(Debug, Default)]
pub(super) struct ProcessGroups(Mutex<BTreeSet<i32>>);

impl ProcessGroups {
    fn lock(&self) -> MutexGuard<'_, BTreeSet<i32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a group by its leader's process id.
    pub(super) fn add(&self, leader: i32) {
        self.lock().insert(leader);
    }

    /// Forgets it: its leader has been waited for.
    pub(super) fn remove(&self, leader: i32) {
        self.lock().remove(&leader);
    }

    /// Kills all of them. Their leaders are still to be waited for.
    pub(super) fn kill_all(&self) {
        for leader in self.lock().iter() {
            kill_group(*leader);
        }
    }
}

/// Kills a group, without asking.
pub(super) fn kill_group(leader: i32) {
    // That it has ended already is just as good.
    let _ = killpg(Pid::from_raw(leader), Signal::SIGKILL);
}
