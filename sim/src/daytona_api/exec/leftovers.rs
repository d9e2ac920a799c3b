//! Finding and killing what a sandbox left running: children that outlived their command, and
//! those that left its process group.
//!
//! A process belongs to a sandbox if it was started with the sandbox's mark in its environment, or
//! is in a process group of one of its commands and works in its directory: the number of a group
//! whose processes have all ended may have become somebody else's. Merely to look into a sandbox's
//! directory makes nobody one of its processes. Both are read from `/proc`; where there is none
//! (macOS), only process groups of commands under way are killed. Who clears its environment and
//! leaves its process group as well is not found.

use super::environment::MARK;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpgid};
use std::fs;
use std::path::Path;

/// So often at most is looked for processes: one that forks while it is being killed has children
/// that the look before did not see.
const ROUNDS: u32 = 20;

/// Which processes are meant.
pub(super) struct Wanted<'a> {
    /// The directory of all sandboxes.
    pub(super) root: &'a Path,
    /// The start of every sandbox's mark.
    pub(super) mark: &'a str,
    /// Whether a sandbox is meant, by its id.
    pub(super) sandbox: &'a dyn Fn(&str) -> bool,
    /// Whether a sandbox ever had a process group with this number.
    pub(super) had_group: &'a dyn Fn(&str, i32) -> bool,
}

/// Kills every process that is meant.
///
/// One look over all processes for any number of sandboxes: a look takes longer the more processes
/// the machine has, and sandboxes end by the hundred.
pub(super) fn kill_leftovers(wanted: &Wanted<'_>) {
    let mark = format!("{MARK}={}", wanted.mark);
    for _ in 0..ROUNDS {
        let found = processes(wanted, &mark);
        if found.is_empty() {
            return;
        }
        for process in found {
            // That it has ended already is just as good.
            let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
        }
        // The killed ones need an instant to be gone; nothing else waits for it meanwhile.
        std::thread::yield_now();
    }
}

fn processes(wanted: &Wanted<'_>, mark: &str) -> Vec<i32> {
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter(|process| *process != own && belongs(*process, wanted, mark))
        .collect()
}

fn belongs(process: i32, wanted: &Wanted<'_>, mark: &str) -> bool {
    // Of a process that has ended or is another user's, neither can be read.
    let by_mark = fs::read(format!("/proc/{process}/environ")).is_ok_and(|environment| {
        environment
            .split(|byte| *byte == 0)
            .filter_map(|pair| std::str::from_utf8(pair).ok()?.strip_prefix(mark))
            .any(wanted.sandbox)
    });
    by_mark
        || fs::read_link(format!("/proc/{process}/cwd")).is_ok_and(|directory| {
            let inside = directory.strip_prefix(wanted.root).ok();
            let id = inside.and_then(|inside| inside.iter().next()?.to_str());
            id.filter(|id| (wanted.sandbox)(id)).is_some_and(|id| {
                let group = getpgid(Some(Pid::from_raw(process)));
                group.is_ok_and(|group| (wanted.had_group)(id, group.as_raw()))
            })
        })
}
