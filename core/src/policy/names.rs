//! The policies by name. The first of each is the default.

use serde::{Deserialize, Serialize};

macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// Every choice, the default first.
            pub const ALL: &[$name] = &[$($name::$variant),+];
            /// Their names in configuration files, in the same order.
            pub const NAMES: &[&str] = &[$($word),+];

            /// The name in configuration files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }

        impl Default for $name {
            fn default() -> Self { Self::ALL[0] }
        }
    };
}

named! {
    /// When a turn's sandbox is asked for.
    StartPolicy {
        /// As the turn begins, so that the start hides under the agent's own work.
        OnTurn = "on_turn",
        /// At the first execute, so that nothing is started in vain.
        OnExecute = "on_execute",
        /// As the turn begins, if the turn is likely to need code.
        Likely = "likely",
    }
}

named! {
    /// How many sandboxes are kept warm.
    WarmPolicy {
        /// The number written in the configuration.
        Fixed = "fixed",
        /// What arrives during one start, from the recent rate of demand.
        Demand = "demand",
        /// Enough for a wanted hit rate, from the demand at the same time of earlier windows.
        Forecast = "forecast",
    }
}

named! {
    /// Who is admitted first among those that fit.
    QueuePolicy {
        /// Who has waited longest.
        Fifo = "fifo",
        /// Whose account holds least, then who has waited longest.
        FewestHeld = "fewest_held",
    }
}

named! {
    /// Whose idle sandbox is taken first.
    ReclaimPolicy {
        /// Borrowers' first, then the least recently used.
        BorrowedFirst = "borrowed_first",
        /// The least recently used.
        Lru = "lru",
        /// The one whose loss costs least: little used, small class, long idle.
        CostAware = "cost_aware",
    }
}

named! {
    /// When an idle sandbox ends.
    IdlePolicy {
        /// After `idle_seconds`.
        Fixed = "fixed",
        /// After `idle_seconds`, or `idle_pressure_seconds` while capacity is short.
        Pressure = "pressure",
    }
}
