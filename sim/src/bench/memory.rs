//! How much memory the process has taken at most.

/// The largest resident size of this process so far, in kB (1,024 bytes); `None` where the
/// operating system does not tell it in `/proc`.
#[must_use]
pub fn peak_memory_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_grows_with_what_is_taken() {
        let Some(before) = peak_memory_kb() else { return };
        let taken = vec![1_u8; 64 << 20];
        let after = peak_memory_kb().expect("told before");
        assert!(taken.iter().all(|&byte| byte == 1));
        assert!(after >= 64 << 10 && after >= before, "{before} {after}");
    }
}
