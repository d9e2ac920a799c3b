//! Everything of a scenario that may differ between variants, read from its tables.

use super::defaults;
use super::mistake::Mistakes;
use super::model::{Crashes, Prices, Variant};
use super::policy_block::read_policy_block;
use super::provider::read_provider;
use super::reader::Section;
use super::shape::{Keys, Kind, Shape, key, key_zero, number};
use super::tree::{Node, Table};
use super::workload::read_workload;

const DOLLARS: Kind = number(0.0, 1_000_000.0, "US dollars");

/// The shape of `[prices]`.
pub(crate) static PRICES: Shape = Shape {
    path: "prices",
    doc: "What the provider charges, in US dollars, from `started` until the delete request.",
    keys: Keys::Listed(&[
        key_zero("cpu_hour", DOLLARS, defaults::CPU_HOUR, "free", "Per vCPU and hour."),
        key_zero(
            "memory_gb_hour",
            DOLLARS,
            defaults::MEMORY_GB_HOUR,
            "free",
            "Per GB of memory and hour.",
        ),
        key_zero(
            "disk_gb_hour",
            DOLLARS,
            defaults::DISK_GB_HOUR,
            "free",
            "Per GB of disk and hour.",
        ),
    ]),
    alternatives: &[],
};

/// The shape of `[server_crashes]`.
pub(crate) static CRASHES: Shape = Shape {
    path: "server_crashes",
    doc: "Crashes of our own server: everything in memory and every running command is lost; the \
          store and the provider's sandboxes stay. `server.recovery` says what happens to those.",
    keys: Keys::Listed(&[
        key("at", Kind::Durations, "[]", "When, from the start of the run, ascending."),
        key_zero(
            "per_hour",
            number(0.0, 3_600.0, ""),
            "0",
            "none at random",
            "Crashes an hour at random, in addition.",
        ),
        key("restart_after", Kind::Duration, "\"30s\"", "From a crash to the restart."),
    ]),
    alternatives: &[],
};

/// Reads the tables of `root` into a variant of that name.
pub(crate) fn read_setup(
    name: &str,
    overrides: Vec<String>,
    root: &Table,
    mistakes: &Mistakes,
) -> Variant {
    let server = read_policy_block(root.get("server"), root.get("classes"), mistakes).config;
    let provider = read_provider(root.get("provider"), &server, mistakes);
    let workload = read_workload(root.get("workload"), &server, mistakes);
    let crashes = read_crashes(root.get("server_crashes"), mistakes);
    let prices = read_prices(root.get("prices"), mistakes);
    Variant { name: name.to_owned(), overrides, server, provider, workload, crashes, prices }
}

fn read_prices(node: Option<&Node>, mistakes: &Mistakes) -> Prices {
    let section = Section::open(&PRICES, "prices", node, 0..0, mistakes);
    let price = |key| section.number(key).unwrap_or(0.0);
    let prices = Prices {
        cpu_hour: price("cpu_hour"),
        memory_gb_hour: price("memory_gb_hour"),
        disk_gb_hour: price("disk_gb_hour"),
    };
    section.finish();
    prices
}

fn read_crashes(node: Option<&Node>, mistakes: &Mistakes) -> Crashes {
    let section = Section::open(&CRASHES, "server_crashes", node, 0..0, mistakes);
    let crashes = Crashes {
        at: section.spans("at").unwrap_or_default(),
        per_hour: section.number("per_hour").unwrap_or(0.0),
        restart_after: section.span_of("restart_after").unwrap_or_default(),
    };
    section.finish();
    crashes
}
