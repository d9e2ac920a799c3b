//! What sandboxes cost, and what for.

use crate::output::Cause;
use crate::scenario::{Prices, Variant};
use sandpool_core::{ClassId, SandboxState, Span, Time};

/// Sandbox time by class and cause, and the provider's own bill to hold it against.
#[derive(Clone, Debug)]
pub(super) struct Bill {
    /// Nanoseconds by class and cause.
    nanos: Vec<[u128; Cause::ALL.len()]>,
    /// Nanoseconds that the provider bills, by class.
    provider: Vec<u128>,
    /// US dollars an hour, by class.
    prices: Vec<f64>,
}

impl Bill {
    pub(super) fn new(variant: &Variant, _from: Time) -> Self {
        let classes = &variant.server.classes;
        Self {
            nanos: vec![[0; Cause::ALL.len()]; classes.len()],
            provider: vec![0; classes.len()],
            prices: classes.iter().map(|class| hourly(&variant.prices, class)).collect(),
        }
    }

    /// A sandbox spent `passed` in `before`. Time bound to a conversation but unused is undecided
    /// until it is used or not.
    #[inline]
    pub(super) fn stayed(
        &mut self,
        class: ClassId,
        before: SandboxState,
        after: SandboxState,
        passed: Span,
        assigned: &mut Span,
    ) {
        let cause = match before {
            SandboxState::Preparing => Cause::Starting,
            SandboxState::Warm => Cause::Warm,
            SandboxState::Busy => Cause::Busy,
            SandboxState::Idle => Cause::Idle,
            SandboxState::Assigned => {
                *assigned = assigned.plus(passed);
                let cause =
                    if after == SandboxState::Busy { Cause::Idle } else { Cause::NeverUsed };
                self.add(class, cause, std::mem::take(assigned));
                return;
            }
            // Not billed by the provider, or nobody knows whether it is.
            _ => return,
        };
        self.add(class, cause, passed);
    }

    fn add(&mut self, class: ClassId, cause: Cause, span: Span) {
        self.nanos[class.0 as usize][cause as usize] += u128::from(span.as_nanos());
    }

    pub(super) fn provider(&mut self, class: ClassId, span: Span) {
        self.provider[class.0 as usize] += u128::from(span.as_nanos());
    }

    /// US dollars by cause. What the provider bills beyond what the scheduler knew of is orphaned.
    pub(super) fn dollars(&self) -> [f64; Cause::ALL.len()] {
        let mut dollars = [0.0; Cause::ALL.len()];
        for (class, nanos) in self.nanos.iter().enumerate() {
            let known: u128 = nanos.iter().sum();
            for cause in Cause::ALL {
                let mut part = nanos[cause as usize];
                if cause == Cause::Orphaned {
                    part += self.provider[class].saturating_sub(known);
                }
                dollars[cause as usize] += part as f64 / 3.6e12 * self.prices[class];
            }
        }
        dollars
    }
}

fn hourly(prices: &Prices, class: &sandpool_core::Class) -> f64 {
    let resources = class.resources;
    prices.cpu_hour * resources.cpu_milli as f64 / 1_000.0
        + prices.memory_gb_hour * resources.memory_mb as f64 / 1_024.0
        + prices.disk_gb_hour * resources.disk_mb as f64 / 1_024.0
}
