//! Amounts of what a quota counts: slots, memory, cpu, disk.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What a quota counts. One sandbox takes one slot and its class's memory, cpu and disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Number of sandboxes.
    Slots,
    /// Memory, in MB (1 GB = 1,024 MB).
    Memory,
    /// Processor, in thousandths of a vCPU.
    Cpu,
    /// Disk, in MB (1 GB = 1,024 MB).
    Disk,
}

impl Dimension {
    /// Every dimension, in the order in which they are stored and reported.
    pub const ALL: [Dimension; 4] =
        [Dimension::Slots, Dimension::Memory, Dimension::Cpu, Dimension::Disk];

    /// The word used in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Dimension::Slots => "slots",
            Dimension::Memory => "memory",
            Dimension::Cpu => "cpu",
            Dimension::Disk => "disk",
        }
    }
}

/// An amount of each dimension: what a sandbox takes, what is in use, what is free.
///
/// Signed, because discovery (an adoption under a lowered limit, an orphan) may push use above a
/// limit, and the free amount is then honestly negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// Number of sandboxes.
    pub slots: i64,
    /// Memory, MB.
    pub memory_mb: i64,
    /// Processor, thousandths of a vCPU.
    pub cpu_milli: i64,
    /// Disk, MB.
    pub disk_mb: i64,
}

impl Resources {
    /// Nothing.
    pub const ZERO: Resources = Resources { slots: 0, memory_mb: 0, cpu_milli: 0, disk_mb: 0 };

    /// More than any sum that is reached: an unlimited amount. A quarter of the range, so that
    /// sums and differences of it cannot overflow.
    pub const UNLIMITED: i64 = i64::MAX / 4;

    /// What one sandbox takes. `memory_gb` and `disk_gb` in GB, `cpu` in vCPUs.
    #[must_use]
    pub fn of_sandbox(memory_gb: f64, cpu: f64, disk_gb: f64) -> Resources {
        Resources {
            slots: 1,
            memory_mb: (memory_gb * 1024.0).round() as i64,
            cpu_milli: (cpu * 1000.0).round() as i64,
            disk_mb: (disk_gb * 1024.0).round() as i64,
        }
    }

    /// The amount in one dimension.
    #[must_use]
    pub const fn get(&self, dimension: Dimension) -> i64 {
        match dimension {
            Dimension::Slots => self.slots,
            Dimension::Memory => self.memory_mb,
            Dimension::Cpu => self.cpu_milli,
            Dimension::Disk => self.disk_mb,
        }
    }

    /// Sets the amount in one dimension.
    pub const fn set(&mut self, dimension: Dimension, amount: i64) {
        match dimension {
            Dimension::Slots => self.slots = amount,
            Dimension::Memory => self.memory_mb = amount,
            Dimension::Cpu => self.cpu_milli = amount,
            Dimension::Disk => self.disk_mb = amount,
        }
    }

    /// Sum, dimension by dimension.
    #[inline]
    #[must_use]
    pub const fn plus(self, other: Resources) -> Resources {
        Resources {
            slots: self.slots + other.slots,
            memory_mb: self.memory_mb + other.memory_mb,
            cpu_milli: self.cpu_milli + other.cpu_milli,
            disk_mb: self.disk_mb + other.disk_mb,
        }
    }

    /// Difference, dimension by dimension; may be negative.
    #[inline]
    #[must_use]
    pub const fn minus(self, other: Resources) -> Resources {
        Resources {
            slots: self.slots - other.slots,
            memory_mb: self.memory_mb - other.memory_mb,
            cpu_milli: self.cpu_milli - other.cpu_milli,
            disk_mb: self.disk_mb - other.disk_mb,
        }
    }

    /// This amount `count` times.
    #[inline]
    #[must_use]
    pub const fn times(self, count: i64) -> Resources {
        Resources {
            slots: self.slots * count,
            memory_mb: self.memory_mb * count,
            cpu_milli: self.cpu_milli * count,
            disk_mb: self.disk_mb * count,
        }
    }

    /// Whether this amount is at most `free` in every dimension that it needs. A dimension of
    /// which nothing is needed never refuses, even when `free` is negative there.
    #[inline]
    #[must_use]
    pub const fn fits_into(&self, free: &Resources) -> bool {
        (self.slots <= 0 || self.slots <= free.slots)
            && (self.memory_mb <= 0 || self.memory_mb <= free.memory_mb)
            && (self.cpu_milli <= 0 || self.cpu_milli <= free.cpu_milli)
            && (self.disk_mb <= 0 || self.disk_mb <= free.disk_mb)
    }

    /// The first dimension in which this amount does not fit into `free`.
    #[must_use]
    pub fn short_of(&self, free: &Resources) -> Option<Dimension> {
        Dimension::ALL.into_iter().find(|&d| self.get(d) > 0 && self.get(d) > free.get(d))
    }
}

impl fmt::Display for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} slots, {} MB memory, {} mCPU, {} MB disk",
            self.slots, self.memory_mb, self.cpu_milli, self.disk_mb
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_needed_fits_even_into_a_deficit() {
        let free = Resources { slots: 1, memory_mb: 1024, cpu_milli: -500, disk_mb: 0 };
        let no_cpu = Resources { slots: 1, memory_mb: 1024, cpu_milli: 0, disk_mb: 0 };
        assert!(no_cpu.fits_into(&free));
        assert_eq!(no_cpu.short_of(&free), None);
        let default_class = Resources::of_sandbox(1.0, 1.0, 3.0);
        assert!(!default_class.fits_into(&free));
        assert_eq!(default_class.short_of(&free), Some(Dimension::Cpu));
    }
}
