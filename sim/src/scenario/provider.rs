//! The `[provider]` table: what the simulated provider is like.

use super::defaults;
use super::distribution::read_distribution;
use super::mistake::{Mistake, Mistakes, choice_of, nearest};
use super::policy_block::{quota, unknown_class};
use super::reader::{Section, tick};
use super::shape::{
    CHANCE, HUGE, KeyDoc, Keys, Kind, SECONDS, Shape, key, key_zero, number, required, unset,
};
use super::tree::Node;
use crate::daytona::{Latencies, OtherTenants, Outage, Profile, RateLimits, VerbFaults};
use crate::random::Distribution;
use sandpool_core::{Config, Resources, Span, Verb};

/// The shape of `[provider]`.
pub(crate) static PROVIDER: Shape = Shape {
    path: "provider",
    doc: "The simulated provider. The defaults are Daytona's first tier without faults. Its \
          auto-stop is `server.provider_auto_stop_seconds`.",
    keys: Keys::Listed(&[
        key(
            "create_seconds",
            SECONDS,
            defaults::CREATE_SECONDS,
            "From a create request to a started, reachable sandbox, when no other start is under way.",
        ),
        key_zero(
            "create_slowdown",
            number(0.0, 100.0, ""),
            defaults::CREATE_SLOWDOWN,
            "starts do not slow each other down",
            "Share by which each further start under way lengthens a create: with 0.02 and 10 others, 20 % longer.",
        ),
        key(
            "prepare_seconds",
            SECONDS,
            defaults::PREPARE_SECONDS,
            "The prepare steps of a class that needs them.",
        ),
        unset(
            "prepare_by_class",
            Kind::Named { what: "CLASS", value: &SECONDS },
            "`prepare_seconds`",
            "The prepare steps of single classes, where they differ.",
        ),
        key("delete_seconds", SECONDS, defaults::DELETE_SECONDS, "From a delete request to gone."),
        key(
            "call_seconds",
            SECONDS,
            defaults::CALL_SECONDS,
            "A short call: probe, find, list, keep alive, relabel, and the refusal of any call.",
        ),
        key(
            "stopped_holds_disk",
            Kind::Flag,
            "true",
            "Whether a stopped sandbox still holds its disk.",
        ),
        key(
            "creates_per_minute",
            RATE,
            defaults::CREATES_PER_MINUTE,
            "Creates a minute, before the provider refuses for the rest of the minute and one more.",
        ),
        key(
            "lifecycle_per_minute",
            RATE,
            defaults::LIFECYCLE_PER_MINUTE,
            "Deletes, starts and stops a minute, before the provider refuses likewise.",
        ),
        key_zero(
            "list_lag_seconds",
            number(0.0, 3_600.0, "seconds"),
            defaults::LIST_LAG_SECONDS,
            "lists are never stale",
            "A list may show a sandbox's state as it was up to this long ago.",
        ),
        key_zero(
            "list_partial",
            CHANCE,
            "0",
            "lists are always complete",
            "Chance that a list misses some sandboxes and says so.",
        ),
        unset(
            "faults",
            Kind::Named { what: "VERB", value: &Kind::Table(&FAULTS) },
            "no faults",
            "What goes wrong with the calls of one verb.",
        ),
        key_zero(
            "stuck_creating",
            CHANCE,
            "0",
            "never",
            "Chance that a create hangs for `stuck_seconds`.",
        ),
        key_zero(
            "stuck_destroying",
            CHANCE,
            "0",
            "never",
            "Chance that a delete hangs for `stuck_seconds`, holding its capacity.",
        ),
        key(
            "stuck_seconds",
            SECONDS,
            defaults::STUCK_SECONDS,
            "How long a stuck sandbox stays stuck.",
        ),
        key_zero(
            "deaths_per_hour",
            number(0.0, 3_600.0, ""),
            "0",
            "never",
            "Silent deaths per hour and started sandbox: it is gone and nobody is told.",
        ),
        key_zero(
            "group_deaths_per_hour",
            number(0.0, 3_600.0, ""),
            "0",
            "never",
            "Failures of one of the provider's machines per hour, each of which takes several sandboxes at once.",
        ),
        key(
            "group_death_share",
            CHANCE,
            "0.3",
            "Share of the sandboxes that such a failure takes.",
        ),
        unset("quota", Kind::Table(&QUOTA), "its defaults", "The provider's own quota."),
        unset("outage", Kind::Tables(&OUTAGE), "none", "Windows in which every call fails."),
        unset(
            "other_tenants",
            Kind::Table(&OTHER_TENANTS),
            "nobody else",
            "Others who use the same quota.",
        ),
    ]),
    alternatives: &[],
};

const RATE: Kind = Kind::Count { min: 1, max: 1_000_000_000, unlimited: true };

const fn amount(unit: &'static str) -> Kind {
    Kind::Number { min: 0.0, max: 10_000_000.0, unit, unlimited: true }
}

static QUOTA: Shape = Shape {
    path: "provider.quota",
    doc: "What the provider itself allows, whatever `[server]` believes.",
    keys: Keys::Listed(&[
        key(
            "max_sandboxes",
            Kind::Count { min: 0, max: 1_000_000, unlimited: true },
            "\"unlimited\"",
            "Sandboxes at once.",
        ),
        key("max_memory_gb", amount("GB"), defaults::QUOTA_MEMORY_GB, "Memory at once, in GB."),
        key("max_cpu", amount("vCPUs"), defaults::QUOTA_CPU, "vCPUs at once."),
        key("max_disk_gb", amount("GB"), defaults::QUOTA_DISK_GB, "Disk at once, in GB."),
    ]),
    alternatives: &[],
};

const fn chance(name: &'static str, doc: &'static str) -> KeyDoc {
    key_zero(name, CHANCE, "0", "never", doc)
}

static FAULTS: Shape = Shape {
    path: "provider.faults.VERB",
    doc: "Chances that a call of this verb goes wrong, together at most 1. The verbs are `create`, \
          `prepare`, `destroy`, `probe`, `find`, `find_all`, `keep_alive` and `relabel`.",
    keys: Keys::Listed(&[
        chance(
            "unavailable",
            "The call is refused before anything is done (502, connection refused).",
        ),
        chance(
            "errored",
            "The call is carried out and fails; a create leaves an errored sandbox behind.",
        ),
        chance("lost_request", "The request never arrives, and no answer comes."),
        chance("lost_answer", "The call is carried out, but its answer never comes."),
        chance("rejected", "The call is refused for good, as if it were wrong."),
    ]),
    alternatives: &[],
};

static OUTAGE: Shape = Shape {
    path: "provider.outage",
    doc: "A list of tables, `[[provider.outage]]` above each.",
    keys: Keys::Listed(&[
        required("start", Kind::Duration, "When it begins, from the start of the run."),
        required("duration", Kind::Duration, "How long it lasts."),
        key(
            "silent",
            Kind::Flag,
            "false",
            "Whether calls get no answer at all instead of an error.",
        ),
    ]),
    alternatives: &[],
};

static OTHER_TENANTS: Shape = Shape {
    path: "provider.other_tenants",
    doc: "",
    keys: Keys::Listed(&[
        required(
            "sandboxes",
            Kind::Distribution { unit: "default-class sandboxes" },
            "How many default-class sandboxes they hold, rounded, drawn anew at each step.",
        ),
        key(
            "step_seconds",
            SECONDS,
            "{ exponential = { mean = 600 } }",
            "How long each step lasts.",
        ),
    ]),
    alternatives: &[],
};

/// Reads `[provider]` for the classes and the auto-stop of `server`.
pub(crate) fn read_provider(node: Option<&Node>, server: &Config, mistakes: &Mistakes) -> Profile {
    let section = Section::open(&PROVIDER, "provider", node, 0..0, mistakes);
    let seconds = |key| section.distribution(key).unwrap_or(Distribution::Constant(0.0));
    let share = |key| section.number(key).unwrap_or(0.0);
    let rate = |key| {
        let count = section.count(key).unwrap_or(Resources::UNLIMITED);
        u32::try_from(count).unwrap_or(u32::MAX)
    };
    let profile = Profile {
        latencies: Latencies {
            create: seconds("create_seconds"),
            create_slowdown: share("create_slowdown"),
            prepare: seconds("prepare_seconds"),
            prepare_by_class: read_prepare_by_class(&section, server),
            delete: seconds("delete_seconds"),
            call: seconds("call_seconds"),
        },
        quota: read_quota(&section.section("quota")),
        stopped_holds_disk: section.flag("stopped_holds_disk").unwrap_or(true),
        rate_limits: RateLimits {
            creates: rate("creates_per_minute"),
            lifecycle: rate("lifecycle_per_minute"),
        },
        list_lag: Span::from_secs_f64(share("list_lag_seconds")),
        list_partial: share("list_partial"),
        faults: read_faults(&section),
        stuck_creating: share("stuck_creating"),
        stuck_destroying: share("stuck_destroying"),
        stuck_for: seconds("stuck_seconds"),
        deaths_per_hour: share("deaths_per_hour"),
        group_deaths_per_hour: share("group_deaths_per_hour"),
        group_death_share: share("group_death_share"),
        outages: section.sections("outage").into_iter().map(read_outage).collect(),
        other_tenants: read_other_tenants(section.section("other_tenants")),
        auto_stop: server.provider_auto_stop,
    };
    section.finish();
    profile
}

fn read_prepare_by_class(section: &Section<'_>, server: &Config) -> Vec<(u16, Distribution)> {
    let path = section.path_of("prepare_by_class");
    let mut by_class = Vec::new();
    for (name, span, node) in section.named("prepare_by_class") {
        match server.class_named(name) {
            Some(class) => {
                let path = format!("{path}.{name}");
                by_class.push((class.0, read_distribution(node, &path, section.mistakes())));
            }
            None => {
                let names = server.classes.iter().map(|class| class.name.as_str());
                section.mistakes().push(unknown_class(name, span, names, &path));
            }
        }
    }
    by_class.sort_by_key(|(class, _)| *class);
    by_class
}

fn read_quota(section: &Section<'_>) -> Resources {
    let amount = |key| section.number(key).unwrap_or(f64::INFINITY);
    quota(
        section.count("max_sandboxes").unwrap_or(Resources::UNLIMITED),
        amount("max_memory_gb"),
        amount("max_cpu"),
        amount("max_disk_gb"),
    )
}

fn read_faults(section: &Section<'_>) -> Vec<(Verb, VerbFaults)> {
    let path = section.path_of("faults");
    let mut faults = Vec::new();
    for (name, span, node) in section.named("faults") {
        let Some(verb) = Verb::ALL.into_iter().find(|verb| verb.name() == name) else {
            let names = || Verb::ALL.into_iter().map(Verb::name);
            let mistake = Mistake::new(span, format!("unknown verb `{name}` in {}", tick(&path)));
            section.mistakes().push(match nearest(name, names()) {
                Some(near) => mistake.hint(format!("did you mean `{near}`?")),
                None => mistake.hint(format!("write one of {}", choice_of(names()))),
            });
            continue;
        };
        let part = Section::open(
            &FAULTS,
            format!("{path}.{name}"),
            Some(node),
            node.span.clone(),
            section.mistakes(),
        );
        let chance = |key| part.number(key).unwrap_or(0.0);
        let of_verb = VerbFaults {
            unavailable: chance("unavailable"),
            errored: chance("errored"),
            lost_request: chance("lost_request"),
            lost_answer: chance("lost_answer"),
            rejected: chance("rejected"),
        };
        let sum = of_verb.unavailable
            + of_verb.errored
            + of_verb.lost_request
            + of_verb.lost_answer
            + of_verb.rejected;
        // A sum of decimal fractions may miss 1 by a rounding error.
        if sum > 1.0 + 1e-9 {
            section.mistakes().push_whole(
                Mistake::new(
                    part.span(),
                    format!("the chances of `{path}.{name}` add up to {sum:.3}, more than 1"),
                )
                .hint("a call goes wrong in one way at most: lower the chances"),
            );
        }
        part.finish();
        faults.push((verb, of_verb));
    }
    faults.sort_by_key(|(verb, _)| *verb);
    faults
}

fn read_outage(part: Section<'_>) -> Outage {
    let outage = Outage {
        start: part.span_of("start").unwrap_or_default(),
        duration: part.span_of("duration").unwrap_or_default(),
        silent: part.flag("silent").unwrap_or(false),
    };
    part.finish();
    outage
}

fn read_other_tenants(part: Section<'_>) -> OtherTenants {
    let step = part.distribution("step_seconds").unwrap_or(Distribution::Constant(HUGE));
    // The table's own keys are needed only when there is such a table.
    let sandboxes = if part.is_written() { part.distribution("sandboxes") } else { None };
    if part.is_written() {
        part.finish();
    }
    OtherTenants { sandboxes, step }
}
