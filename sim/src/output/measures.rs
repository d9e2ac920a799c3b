//! The measures: one table from which result tables, documentation and expectations are made.

use serde::{Deserialize, Serialize};

/// What a measure counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// A share, 0 to 1.
    #[serde(rename = "share")]
    Share,
    /// A fairness index, 0 to 1.
    #[serde(rename = "index")]
    Index,
    /// A count per replication.
    #[serde(rename = "count")]
    Count,
    /// A number of sandboxes or of claims, averaged over time.
    #[serde(rename = "average")]
    Average,
    /// Per thousand turns.
    #[serde(rename = "per 1,000 turns")]
    PerThousandTurns,
    /// US dollars per thousand turns.
    #[serde(rename = "$ per 1,000 turns")]
    DollarsPerThousandTurns,
    /// US dollars an hour.
    #[serde(rename = "$/h")]
    DollarsPerHour,
}

impl Unit {
    /// The unit in headers and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Seconds => "s",
            Unit::Share => "share",
            Unit::Index => "index",
            Unit::Count => "count",
            Unit::Average => "average",
            Unit::PerThousandTurns => "per 1,000 turns",
            Unit::DollarsPerThousandTurns => "$ per 1,000 turns",
            Unit::DollarsPerHour => "$/h",
        }
    }
}

/// Which direction is the good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
    /// It depends.
    Neither,
}

impl Better {
    /// The word in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Better::Lower => "lower",
            Better::Higher => "higher",
            Better::Neither => "neither",
        }
    }
}

/// What a sandbox was paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A command ran.
    Busy,
    /// Bound to a conversation and used before, no command running.
    Idle,
    /// Ready, bound to nobody.
    Warm,
    /// Created or preparing.
    Starting,
    /// Bound to a conversation that never used it.
    NeverUsed,
    /// Owned by nobody.
    Orphaned,
}

impl Cause {
    /// Every cause, in the order of tables and charts.
    pub const ALL: [Cause; 6] =
        [Cause::Busy, Cause::Idle, Cause::Warm, Cause::Starting, Cause::NeverUsed, Cause::Orphaned];

    /// The word in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Busy => "busy",
            Cause::Idle => "idle",
            Cause::Warm => "warm",
            Cause::Starting => "starting",
            Cause::NeverUsed => "never_used",
            Cause::Orphaned => "orphaned",
        }
    }

    /// The measure that holds its cost.
    #[must_use]
    pub const fn measure(self) -> MeasureId {
        match self {
            Cause::Busy => MeasureId::CostBusy,
            Cause::Idle => MeasureId::CostIdle,
            Cause::Warm => MeasureId::CostWarm,
            Cause::Starting => MeasureId::CostStarting,
            Cause::NeverUsed => MeasureId::CostNeverUsed,
            Cause::Orphaned => MeasureId::CostOrphaned,
        }
    }
}

/// What is known about a measure before anything is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasureInfo {
    /// Which one.
    pub id: MeasureId,
    /// Its name in tables, files and expectations.
    pub name: &'static str,
    /// What it counts in.
    pub unit: Unit,
    /// Which direction is the good one.
    pub better: Better,
    /// Whether the short table on the terminal shows it.
    pub headline: bool,
    /// What it is, in one sentence.
    pub doc: &'static str,
}

macro_rules! measures {
    ($($id:ident = $name:literal, $unit:ident, $better:ident, $place:ident, $doc:literal;)+) => {
        /// The measures, in the order of tables.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum MeasureId { $(#[doc = $doc] $id),+ }

        /// Every measure, in the order of [`MeasureId`] and of tables.
        pub const MEASURES: &[MeasureInfo] = &[$(MeasureInfo {
            id: MeasureId::$id,
            name: $name,
            unit: Unit::$unit,
            better: Better::$better,
            headline: measures!(@$place),
            doc: $doc,
        }),+];
    };
    (@headline) => { true };
    (@detail) => { false };
}

measures! {
    ExposedWaitMean = "exposed_wait_mean", Seconds, Lower, headline,
        "Mean time that the first execute of a turn waited for its sandbox, over those that were served.";
    ExposedWaitP50 = "exposed_wait_p50", Seconds, Lower, detail,
        "Median of the exposed wait of first executes that were served.";
    ExposedWaitP95 = "exposed_wait_p95", Seconds, Lower, headline,
        "95th percentile of the exposed wait of first executes that were served.";
    ExposedWaitP99 = "exposed_wait_p99", Seconds, Lower, headline,
        "99th percentile of the exposed wait of first executes that were served.";
    WaitedShare = "waited_share", Share, Lower, headline,
        "Share of served first executes that waited at all.";
    HiddenStartShare = "hidden_start_share", Share, Higher, headline,
        "Share of the start time of sandboxes for claims that ran under the agent's own work instead of a waiting execute.";
    RefusedShare = "refused_share", Share, Lower, headline,
        "Share of executes that needed a sandbox and were refused one, for whatever reason.";
    UnservedTurnShare = "unserved_turn_share", Share, Lower, detail,
        "Share of turns that needed a sandbox for their first execute and ended without one.";
    RefusedFull = "refused_full", Count, Lower, detail,
        "Executes refused because all sandboxes were in use until patience ended.";
    RefusedCouldNotStart = "refused_could_not_start", Count, Lower, detail,
        "Executes refused because no sandbox could be started in time or in the attempts allowed.";
    RefusedNeverFits = "refused_never_fits", Count, Lower, detail,
        "Executes refused because the sandbox can never fit the limits.";
    RefusedQueueTooLong = "refused_queue_too_long", Count, Lower, detail,
        "Executes refused at once because too many claims waited.";
    RefusedShuttingDown = "refused_shutting_down", Count, Lower, detail,
        "Executes refused because the server was shutting down or had crashed.";
    RefusedCancelled = "refused_cancelled", Count, Neither, detail,
        "Executes whose wait was ended by the caller's own cancel.";
    LostFilesTurns = "lost_files_turns", PerThousandTurns, Lower, headline,
        "Turns that found the files of an earlier turn lost, because the sandbox had ended, died or been reclaimed.";
    WarmHitShare = "warm_hit_share", Share, Higher, headline,
        "Share of served claims that got a sandbox that was ready when they asked.";
    ColdStartShare = "cold_start_share", Share, Lower, detail,
        "Share of served claims that got a sandbox which still had to be started.";
    Utilisation = "utilisation", Share, Neither, headline,
        "Time average of sandboxes that run a command, over the limit.";
    OccupiedShare = "occupied_share", Share, Neither, detail,
        "Time average of sandboxes that hold capacity in any state, over the limit.";
    WaitingMean = "waiting_mean", Average, Lower, detail,
        "Time average of the number of executes that wait for a sandbox.";
    Fairness = "fairness", Index, Higher, headline,
        "Jain's index over accounts of the share of their executes that were served.";
    FairnessWait = "fairness_wait", Index, Higher, detail,
        "Jain's index over accounts of their mean exposed wait.";
    CostPerThousandTurns = "cost_total_per_1000_turns", DollarsPerThousandTurns, Lower, headline,
        "What the provider charges for a thousand turns.";
    CostTotal = "cost_total_per_hour", DollarsPerHour, Lower, headline,
        "What the provider charges an hour, all causes together.";
    CostBusy = "cost_busy_per_hour", DollarsPerHour, Neither, detail,
        "Cost of sandboxes while a command runs.";
    CostIdle = "cost_idle_per_hour", DollarsPerHour, Lower, detail,
        "Cost of sandboxes that are bound and were used, while no command runs.";
    CostWarm = "cost_warm_per_hour", DollarsPerHour, Lower, detail,
        "Cost of ready sandboxes that are bound to nobody.";
    CostStarting = "cost_starting_per_hour", DollarsPerHour, Lower, detail,
        "Cost of sandboxes from their start until they are ready.";
    CostNeverUsed = "cost_never_used_per_hour", DollarsPerHour, Lower, detail,
        "Cost of sandboxes while bound to a conversation that never used them.";
    CostOrphaned = "cost_orphaned_per_hour", DollarsPerHour, Lower, detail,
        "Cost of sandboxes that nobody owns, such as those left by a crash.";
    SandboxesCreated = "sandboxes_created", Count, Neither, headline,
        "Sandboxes that the provider created for us.";
    Deaths = "deaths", Count, Lower, detail,
        "Sandboxes that turned out dead.";
    Reclaimed = "reclaimed", Count, Neither, detail,
        "Idle sandboxes taken from their conversation for a claim that waited.";
    DriftEvents = "drift_events", Count, Lower, detail,
        "Times that our ledger and the provider were found to disagree.";
    OrphansRemoved = "orphans_removed", Count, Neither, detail,
        "Sandboxes that nobody owned and that were removed.";
    Leaked = "leaked", Count, Lower, headline,
        "Sandboxes that the provider still has at the end and that nobody owns.";
    Conversations = "conversations", Count, Neither, detail,
        "Conversations that began.";
    Turns = "turns", Count, Neither, headline,
        "Turns that began.";
    Executes = "executes", Count, Neither, detail,
        "Executes that were asked for.";
}

impl MeasureId {
    /// What is known about it.
    #[must_use]
    pub const fn info(self) -> &'static MeasureInfo {
        &MEASURES[self as usize]
    }

    /// The measure of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<MeasureId> {
        MEASURES.iter().find(|info| info.name == name).map(|info| info.id)
    }
}

/// The measure whose name is nearest to a mistyped one, for a hint: by the fewest letters to
/// insert, delete or change (Levenshtein's distance), the first in the table of several. `None`
/// when more than a third of the letters would have to change.
#[must_use]
pub fn closest_measure(name: &str) -> Option<&'static str> {
    MEASURES
        .iter()
        .map(|info| (distance(name, info.name), info.name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| *distance * 3 <= name.chars().count())
        .map(|(_, name)| name)
}

/// The measures as a Markdown table, for the documentation.
#[must_use]
pub fn measures_markdown() -> String {
    let mut text = String::from("| measure | unit | better | what it is |\n|---|---|---|---|\n");
    for MeasureInfo { name, unit, better, doc, .. } in MEASURES {
        text.push_str(&format!("| `{name}` | {} | {} | {doc} |\n", unit.name(), better.name()));
    }
    text
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let changed = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_table_is_in_the_order_of_the_ids_and_names_are_unique() {
        for (index, info) in MEASURES.iter().enumerate() {
            assert_eq!(info.id as usize, index, "{}", info.name);
            assert_eq!(MeasureId::named(info.name), Some(info.id));
            assert!(
                info.doc.ends_with('.') && info.doc.matches(". ").count() == 0,
                "{}",
                info.name
            );
        }
        let names: BTreeSet<&str> = MEASURES.iter().map(|info| info.name).collect();
        assert_eq!(names.len(), MEASURES.len());
    }

    #[test]
    fn units_are_written_as_they_are_named() {
        for info in MEASURES {
            let written = serde_json::to_string(&info.unit).unwrap();
            assert_eq!(written, format!("\"{}\"", info.unit.name()));
            let written = serde_json::to_string(&info.better).unwrap();
            assert_eq!(written, format!("\"{}\"", info.better.name()));
        }
        for cause in Cause::ALL {
            let written = serde_json::to_string(&cause).unwrap();
            assert_eq!(written, format!("\"{}\"", cause.name()));
            assert!(cause.measure().info().name.contains(cause.name()));
        }
    }

    #[test]
    fn the_documentation_has_every_measure() {
        let text = measures_markdown();
        assert_eq!(text.lines().count(), MEASURES.len() + 2);
        assert!(
            text.contains("| `leaked` | count | lower | Sandboxes that the provider still has")
        );
        assert!(text.lines().all(|line| line.matches('|').count() == 5), "{text}");
    }

    #[test]
    fn a_mistyped_name_finds_its_neighbour() {
        assert_eq!(closest_measure("exposed_wait_p96"), Some("exposed_wait_p95"));
        assert_eq!(closest_measure("refusd_share"), Some("refused_share"));
        assert_eq!(closest_measure("temperature"), None);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
