//! Makes a failing history small: first fewer actions, then settings nearer to the defaults.

use crate::Plot;
use sandpool_core::{Config, KEYS};

/// Histories played at most while shrinking one.
const ATTEMPTS: usize = 6_000;

/// The smallest plot found for which `fails` still holds. `fails` tells after how many actions.
pub(crate) fn shrink(plot: &Plot, fails: &dyn Fn(&Plot) -> Option<usize>) -> Plot {
    let mut best = plot.clone();
    let mut attempts = 0;
    let mut better = |candidate: &Plot, best: &mut Plot| -> bool {
        attempts += 1;
        if attempts > ATTEMPTS {
            return false;
        }
        match fails(candidate) {
            Some(used) => {
                *best = candidate.clone();
                best.actions.truncate(used);
                true
            }
            None => false,
        }
    };
    let whole = best.clone();
    better(&whole, &mut best);
    loop {
        let before = (best.actions.len(), differing(&best.config).len());
        let mut chunk = best.actions.len().div_ceil(2).max(1);
        loop {
            let mut from = 0;
            while from < best.actions.len() {
                let mut candidate = best.clone();
                let to = (from + chunk).min(candidate.actions.len());
                candidate.actions.drain(from..to);
                if !better(&candidate, &mut best) {
                    from += chunk;
                }
            }
            if chunk == 1 {
                break;
            }
            chunk /= 2;
        }
        simplify_settings(&mut best, &mut better);
        if before == (best.actions.len(), differing(&best.config).len()) {
            return best;
        }
    }
}

fn simplify_settings(best: &mut Plot, better: &mut impl FnMut(&Plot, &mut Plot) -> bool) {
    for key in KEYS {
        let mut candidate = best.clone();
        (key.set)(&mut candidate.config, key.default);
        if candidate.config != best.config && candidate.config.conflicts().is_empty() {
            better(&candidate, best);
        }
    }
    for trouble in [true, false] {
        let mut candidate = best.clone();
        if trouble {
            candidate.temper.trouble_percent = 0;
        } else {
            candidate.temper.silent_percent = 0;
        }
        better(&candidate, best);
    }
    while best.config.classes.len() > 1 {
        let mut candidate = best.clone();
        candidate.config.classes.pop();
        if !better(&candidate, best) {
            break;
        }
    }
    for place in 0..best.config.classes.len() {
        let mut candidate = best.clone();
        candidate.config.classes[place].prepares = false;
        candidate.config.classes[place].warm_sandboxes = 0;
        if candidate.config != best.config {
            better(&candidate, best);
        }
    }
}

/// The keys whose values are not the defaults, as people write them.
pub(crate) fn differing(config: &Config) -> Vec<String> {
    if config.classes.is_empty() {
        return vec!["no class".to_owned()];
    }
    let default = Config::default();
    let differs = KEYS.iter().filter(|key| (key.get)(config) != (key.get)(&default));
    differs.map(|key| format!("{} = {:?}", key.name, (key.get)(config))).collect()
}
