//! The `[workload]` table of a scenario, resolved.

use crate::random::Distribution;
use sandpool_core::ClassId;

/// Everything that can be set about the conversations that arrive.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// When conversations start.
    pub arrivals: Arrivals,
    /// Whose they are.
    pub accounts: Accounts,
    /// Turns per conversation, rounded to at least 1.
    pub turns: Distribution,
    /// From the end of a turn to the next turn of the conversation, seconds.
    pub think_seconds: Distribution,
    /// Chance that a turn runs any code, 0 to 1.
    pub needs_code: f64,
    /// Whether the caller tells at the turn's begin how likely code is: the chance above, blurred
    /// towards what will really happen by this share (0: knows nothing more, 1: knows exactly).
    pub hint_quality: Option<f64>,
    /// Executes per turn that runs code, rounded to at least 1.
    pub executes: Distribution,
    /// Agent work from the turn's begin to its first execute, seconds.
    pub work_before_seconds: Distribution,
    /// Agent work between two executes of a turn, seconds.
    pub work_between_seconds: Distribution,
    /// Agent work from the last execute (or, in a turn without code, from the first step) to the
    /// turn's end, seconds.
    pub work_after_seconds: Distribution,
    /// How long an execute runs, seconds.
    pub execute_seconds: Distribution,
    /// Class of a conversation's sandboxes, with weights.
    pub classes: Vec<(ClassId, f64)>,
    /// Patience of a blocked execute, seconds, where it differs from `sandbox_wait_seconds`.
    pub patience_seconds: Option<Distribution>,
    /// After a refusal: chance that the agent tries the execute again, 0 to 1 (at most 10 times).
    pub retry_after_refusal: f64,
    /// Pause before such a new attempt, seconds.
    pub retry_pause_seconds: Distribution,
    /// From the last turn's end to the conversation's closing, seconds; the user mostly just
    /// leaves, so this is long by default.
    pub close_after_seconds: Distribution,
    /// Most conversations in one run; `u64::MAX` is unlimited.
    pub max_conversations: u64,
}

/// When conversations start.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// Independent of each other at a constant rate.
    Poisson {
        /// Conversations an hour.
        per_hour: f64,
    },
    /// Gamma-distributed gaps: coefficient of variation above 1 means bursts.
    Bursty {
        /// Conversations an hour.
        per_hour: f64,
        /// Coefficient of variation of the gaps.
        cv: f64,
    },
    /// Poisson with a rate that follows the time of day, repeated every `day_hours`.
    ByTimeOfDay {
        /// Conversations an hour, in equal parts of the day, first part first.
        per_hour: Vec<f64>,
        /// Length of the day, hours.
        day_hours: f64,
    },
    /// At these times, seconds from the start of the run, ascending.
    At(Vec<f64>),
}

/// Whose conversations they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Accounts {
    /// Relative weight of each account; its length is the number of accounts.
    pub weights: Vec<f64>,
}

impl Accounts {
    /// `count` accounts whose weights fall as rank to the power of `-skew` (0: all equal).
    #[must_use]
    pub fn zipf(count: usize, skew: f64) -> Self {
        Self { weights: (1..=count).map(|rank| (rank as f64).powf(-skew)).collect() }
    }
}
