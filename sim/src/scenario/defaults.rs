//! The defaults of a scenario that are measurements, as TOML, each with where it comes from. A
//! file's own value always replaces a default as a whole.
//!
//! The figures marked "public traces" were fitted to published data sets of agent coding sessions
//! and chat services; those marked "measured at Daytona" to published and own measurements of its
//! public API. They say what is typical, not what yours is: measure, and write your own.

/// Seconds from a create request to a reachable sandbox, alone, without prepare steps. Measured at
/// Daytona; most likely answered from the provider's own warm pool.
pub(crate) const CREATE_SECONDS: &str = "{ mixture = [\
    { weight = 0.7823, lognormal = { mu = -2.121, sigma = 0.297 } }, \
    { weight = 0.1048, lognormal = { mu = -1.218, sigma = 0.076 } }, \
    { weight = 0.1129, lognormal = { mu = -0.651, sigma = 0.864 } }] }";

/// Share by which each further start under way lengthens a create. Measured at Daytona: in bursts
/// of 100 the median is 2.2 times that of a create alone, and the hundred start together.
pub(crate) const CREATE_SLOWDOWN: &str = "0.012";

/// Seconds of the prepare steps, median 10.6, such that a cold start with prepare takes about 11 s:
/// what the first user of this system saw. The spread is an assumption.
pub(crate) const PREPARE_SECONDS: &str = "{ lognormal = { mu = 2.365, sigma = 0.15 } }";

/// Seconds from a delete request to gone, median 1.35. One public report of Daytona says about 1.4;
/// the spread is an assumption.
pub(crate) const DELETE_SECONDS: &str = "{ lognormal = { mu = 0.3, sigma = 0.25 } }";

/// Seconds by which a list by label is late. Reported of Daytona: one to three.
pub(crate) const LIST_LAG_SECONDS: &str = "3";

/// Seconds that a stuck sandbox stays stuck: Daytona gives a hanging create up after 15 minutes.
pub(crate) const STUCK_SECONDS: &str = "900";

/// Seconds of a short call. Measured at Daytona.
pub(crate) const CALL_SECONDS: &str = "0.08";

/// Daytona's first-tier quota: memory, GB.
pub(crate) const QUOTA_MEMORY_GB: &str = "10";

/// Daytona's first-tier quota: vCPUs.
pub(crate) const QUOTA_CPU: &str = "10";

/// Daytona's first-tier quota: disk, GB.
pub(crate) const QUOTA_DISK_GB: &str = "30";

/// Daytona's first-tier rate limit: creates a minute.
pub(crate) const CREATES_PER_MINUTE: &str = "300";

/// Daytona's first-tier rate limit: deletes, starts and stops a minute.
pub(crate) const LIFECYCLE_PER_MINUTE: &str = "10000";

/// Turns per conversation: median 3, mean 5.5 (public traces of agent coding sessions).
pub(crate) const TURNS: &str = "{ lognormal = { mu = 1.0986, sigma = 1.101 } }";

/// Think time between turns, seconds: median 198, p90 3,123, a quarter above a 15-minute idle end
/// (public traces of agent coding sessions).
pub(crate) const THINK_SECONDS: &str = "{ lognormal = { median = 198, p90 = 3123 } }";

/// Chance that a turn runs code: 18 % of turns use no tool at all (public traces of agent coding
/// sessions). In plain chat it is 0.06 to 0.07.
pub(crate) const NEEDS_CODE: &str = "0.82";

/// Executes of a turn that runs code. Fitted to tool steps per turn of all turns, median 6 and p90
/// 38 with 18 % at none (public traces of agent coding sessions), as if each step ran a command.
pub(crate) const EXECUTES: &str = "{ lognormal = { mu = 2.149, sigma = 1.278 } }";

/// One model step, seconds: median 6.9 (public traces of agent coding sessions). Taken for the
/// work before the first execute, between two, and after the last.
pub(crate) const MODEL_STEP_SECONDS: &str = "{ lognormal = { mu = 1.93, sigma = 0.677 } }";

/// One shell command, seconds: median 0.56, p99 17 (public traces of agent coding sessions).
pub(crate) const EXECUTE_SECONDS: &str = "{ lognormal = { mu = -0.586, sigma = 1.476 } }";

/// Number of accounts: that of the public trace in which the busiest makes 29 % of the requests
/// and the top ten 68 %.
pub(crate) const ACCOUNTS: &str = "73";

/// Zipf exponent that gives, over that many accounts, 29 % to the busiest and 71 % to the top ten.
pub(crate) const ACCOUNT_SKEW: &str = "1.2";

/// Seconds from the last turn's end to the conversation's closing. People mostly just leave, so
/// that it is the idle end that gives the sandbox back: a day.
pub(crate) const CLOSE_AFTER_SECONDS: &str = "86400";

/// US dollars per vCPU and hour (Daytona's public price list, 2026).
pub(crate) const CPU_HOUR: &str = "0.0504";

/// US dollars per GB of memory and hour (Daytona's public price list, 2026).
pub(crate) const MEMORY_GB_HOUR: &str = "0.0162";

/// US dollars per GB of disk and hour (Daytona's public price list, 2026; its free allowance of
/// 5 GB is left out, which a pool of ten uses up anyway).
pub(crate) const DISK_GB_HOUR: &str = "0.000108";

#[cfg(test)]
mod tests {
    use crate::workload::Accounts;

    #[test]
    fn the_account_skew_gives_the_shares_that_it_was_chosen_for() {
        let count = super::ACCOUNTS.parse().unwrap();
        let weights = Accounts::zipf(count, super::ACCOUNT_SKEW.parse().unwrap()).weights;
        let total: f64 = weights.iter().sum();
        assert!((weights[0] / total - 0.29).abs() < 0.01, "{}", weights[0] / total);
        let ten: f64 = weights[..10].iter().sum();
        assert!((ten / total - 0.68).abs() < 0.04, "{}", ten / total);
    }
}
