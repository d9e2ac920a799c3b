//! Finding and killing what a sandbox left running: children that outlived their command, and
//! those that left its process group.
//!
//! A process belongs to a sandbox if it was started with the sandbox's mark in its environment, or
//! works in the sandbox's directory. Both are read from `/proc`; where there is none (macOS), only
//! process groups of commands under way are killed.

use super::environment::MARK;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::path::Path;

/// So often at most is looked for processes: one that forks while it is being killed has children
/// that the look before did not see.
const ROUNDS: u32 = 20;

/// Kills every process with the mark, or that works below `directory`.
pub(super) fn kill_leftovers(mark: &str, directory: &Path) {
    let wanted = format!("{MARK}={mark}");
    for _ in 0..ROUNDS {
        let found = processes(&wanted, directory);
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

fn processes(wanted: &str, directory: &Path) -> Vec<i32> {
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter(|process| *process != own && belongs(*process, wanted, directory))
        .collect()
}

fn belongs(process: i32, wanted: &str, directory: &Path) -> bool {
    // Of a process that has ended or is another user's, neither can be read.
    let has_mark = fs::read(format!("/proc/{process}/environ")).is_ok_and(|environment| {
        environment.split(|byte| *byte == 0).any(|pair| pair.starts_with(wanted.as_bytes()))
    });
    has_mark
        || fs::read_link(format!("/proc/{process}/cwd")).is_ok_and(|cwd| cwd.starts_with(directory))
}
