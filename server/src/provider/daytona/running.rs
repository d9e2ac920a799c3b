//! Commands that this process has under way, by sandbox.

use sandpool_core::ProviderId;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Counts commands under way.
#[derive(Debug, Default)]
pub(super) struct Running {
    counts: Mutex<BTreeMap<ProviderId, u32>>,
}

impl Running {
    /// One more is under way until the guard is dropped, which also happens when its caller is.
    pub(super) fn begin(&self, provider: ProviderId) -> UnderWay<'_> {
        *self.counts().entry(provider).or_default() += 1;
        UnderWay { running: self, provider }
    }

    /// Whether none is under way.
    pub(super) fn is_quiet(&self, provider: ProviderId) -> bool {
        !self.counts().contains_key(&provider)
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, BTreeMap<ProviderId, u32>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A command under way.
#[derive(Debug)]
pub(super) struct UnderWay<'a> {
    running: &'a Running,
    provider: ProviderId,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut counts = self.running.counts();
        if let Some(count) = counts.get_mut(&self.provider) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.provider);
            }
        }
    }
}
