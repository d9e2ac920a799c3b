//! The `[workload]` table: who asks for what, when.

use super::defaults;
use super::mistake::{Mistake, Mistakes};
use super::policy_block::unknown_class;
use super::reader::{Section, number_of, tick};
use super::shape::{
    CHANCE, HUGE, KeyDoc, Keys, Kind, SECONDS, Shape, key, key_zero, number, required, unset,
};
use super::tree::Node;
use crate::random::Distribution;
use crate::workload::{Accounts, Arrivals, Workload};
use sandpool_core::{ClassId, Config};

const COUNT: Kind = Kind::Distribution { unit: "a count" };

/// The shape of `[workload]`.
pub(crate) static WORKLOAD: Shape = Shape {
    path: "workload",
    doc: "The conversations that arrive. Only the arrivals must be written; the other defaults are \
          those of coding agents.",
    keys: Keys::Listed(&[
        required("arrivals", Kind::Table(&ARRIVALS), "When conversations start."),
        unset("accounts", Kind::Table(&ACCOUNTS), "its defaults", "Whose conversations they are."),
        key("turns", COUNT, defaults::TURNS, "Turns per conversation, rounded, at least 1."),
        key(
            "think_seconds",
            SECONDS,
            defaults::THINK_SECONDS,
            "From the end of a turn to the next turn of the conversation.",
        ),
        key_zero(
            "needs_code",
            CHANCE,
            defaults::NEEDS_CODE,
            "no turn ever runs code",
            "Chance that a turn runs any code.",
        ),
        unset(
            "hint_quality",
            CHANCE,
            "callers tell nothing",
            "How well callers foresee at a turn's begin whether it runs code: 0: they know `needs_code` and no more, 1: they know exactly.",
        ),
        key(
            "executes",
            COUNT,
            defaults::EXECUTES,
            "Executes of a turn that runs code, rounded, at least 1.",
        ),
        key(
            "work_before_seconds",
            SECONDS,
            defaults::MODEL_STEP_SECONDS,
            "Agent work from a turn's begin to its first execute.",
        ),
        key(
            "work_between_seconds",
            SECONDS,
            defaults::MODEL_STEP_SECONDS,
            "Agent work between two executes of a turn.",
        ),
        key(
            "work_after_seconds",
            SECONDS,
            defaults::MODEL_STEP_SECONDS,
            "Agent work from the last execute to the turn's end; of a turn without code, the whole of it.",
        ),
        key("execute_seconds", SECONDS, defaults::EXECUTE_SECONDS, "How long an execute runs."),
        unset(
            "class_mix",
            Kind::Named { what: "CLASS", value: &WEIGHT },
            "all of the default class",
            "Class of a conversation's sandboxes, with relative weights.",
        ),
        unset(
            "patience_seconds",
            SECONDS,
            "`server.sandbox_wait_seconds`",
            "Patience of a blocked execute, where callers bring their own.",
        ),
        key_zero(
            "retry_after_refusal",
            CHANCE,
            "0",
            "agents give up at once",
            "Chance that an agent tries a refused execute again, at most 10 times.",
        ),
        key("retry_pause_seconds", SECONDS, "10", "Pause before such a new attempt."),
        key(
            "close_after_seconds",
            SECONDS,
            defaults::CLOSE_AFTER_SECONDS,
            "From the last turn's end to the conversation's closing; people mostly just leave.",
        ),
        key(
            "max_conversations",
            Kind::Count { min: 1, max: 1_000_000_000_000, unlimited: true },
            "\"unlimited\"",
            "Most conversations in one run.",
        ),
    ]),
    alternatives: &[],
};

const WEIGHT: Kind = number(0.0, HUGE, "");

/// Conversations an hour. The largest is far past what a pool of sandboxes can be asked.
const RATE: Kind = number(0.0, HUGE, "conversations an hour");

static ARRIVALS: Shape = Shape {
    path: "workload.arrivals",
    doc: "Exactly one of these.",
    keys: Keys::Listed(&[
        unset(
            "poisson",
            Kind::Table(&POISSON),
            "",
            "Independent of each other, at a constant rate.",
        ),
        unset("bursty", Kind::Table(&BURSTY), "", "In bursts: gaps with a gamma distribution."),
        unset(
            "by_time_of_day",
            Kind::Table(&BY_TIME_OF_DAY),
            "",
            "Independent of each other, at a rate that follows the time of day.",
        ),
        unset(
            "at",
            Kind::Durations,
            "",
            "At these times from the start of the run, such as `[\"0s\", \"90s\"]`.",
        ),
    ]),
    alternatives: &[&["poisson"], &["bursty"], &["by_time_of_day"], &["at"]],
};

static POISSON: Shape = Shape {
    path: "workload.arrivals.poisson",
    doc: "",
    keys: Keys::Listed(&[required("per_hour", RATE, "Conversations an hour.")]),
    alternatives: &[],
};

static BURSTY: Shape = Shape {
    path: "workload.arrivals.bursty",
    doc: "",
    keys: Keys::Listed(&[
        required("per_hour", RATE, "Conversations an hour, on average."),
        required(
            "cv",
            number(0.1, 100.0, ""),
            "Coefficient of variation of the gaps: 1 is Poisson, more is burstier (coding services: up to 13).",
        ),
    ]),
    alternatives: &[],
};

static BY_TIME_OF_DAY: Shape = Shape {
    path: "workload.arrivals.by_time_of_day",
    doc: "",
    keys: Keys::Listed(&[
        required(
            "per_hour",
            Kind::Numbers { min: 0.0, max: HUGE, unit: "conversations an hour" },
            "Conversations an hour in equal parts of the day, the first part first.",
        ),
        key("day", Kind::Duration, "\"24h\"", "Length of the day, after which the parts repeat."),
    ]),
    alternatives: &[],
};

static ACCOUNTS: Shape = Shape {
    path: "workload.accounts",
    doc: "Either a number of accounts with a skew, or the weight of each.",
    keys: Keys::Listed(&[
        key(
            "count",
            Kind::Count { min: 1, max: 1_000_000, unlimited: false },
            defaults::ACCOUNTS,
            "Number of accounts.",
        ),
        key_zero(
            "skew",
            number(0.0, 10.0, ""),
            defaults::ACCOUNT_SKEW,
            "all accounts alike",
            "Zipf exponent: the account of rank r has weight r to the power of minus this.",
        ),
        unset(
            "weights",
            Kind::Numbers { min: 0.0, max: HUGE, unit: "" },
            "`count` and `skew`",
            "Relative weight of each account.",
        ),
    ]),
    alternatives: &[&["count", "skew"], &["weights"]],
};

/// Reads `[workload]` for the classes of `server`.
pub(crate) fn read_workload(node: Option<&Node>, server: &Config, mistakes: &Mistakes) -> Workload {
    let section = Section::open(&WORKLOAD, "workload", node, 0..0, mistakes);
    let of = |key| section.distribution(key).unwrap_or(Distribution::Constant(0.0));
    let chance = |key| section.number(key).unwrap_or(0.0);
    if section.node("arrivals").is_none() {
        mistakes.push_whole(
            Mistake::new(section.span(), "`workload.arrivals` is missing").hint(
                "say when conversations start, for example [workload.arrivals.poisson] with per_hour = 20",
            ),
        );
    }
    let workload = Workload {
        arrivals: if section.has("arrivals") {
            read_arrivals(&section.section("arrivals"))
        } else {
            Arrivals::At(Vec::new())
        },
        accounts: read_accounts(section.section("accounts")),
        turns: of("turns"),
        think_seconds: of("think_seconds"),
        needs_code: chance("needs_code"),
        hint_quality: section.number("hint_quality"),
        executes: of("executes"),
        work_before_seconds: of("work_before_seconds"),
        work_between_seconds: of("work_between_seconds"),
        work_after_seconds: of("work_after_seconds"),
        execute_seconds: of("execute_seconds"),
        classes: read_class_mix(&section, server),
        patience_seconds: section.distribution("patience_seconds"),
        retry_after_refusal: chance("retry_after_refusal"),
        retry_pause_seconds: of("retry_pause_seconds"),
        close_after_seconds: of("close_after_seconds"),
        max_conversations: match section.count("max_conversations") {
            Some(count) if count < sandpool_core::Resources::UNLIMITED => count as u64,
            _ => u64::MAX,
        },
    };
    section.finish();
    workload
}

fn read_arrivals(section: &Section<'_>) -> Arrivals {
    let rate = |part: &Section<'_>| part.number("per_hour").unwrap_or(0.0);
    match section.alternative(true) {
        Some(0) => {
            let part = section.section("poisson");
            let arrivals = Arrivals::Poisson { per_hour: rate(&part) };
            part.finish();
            arrivals
        }
        Some(1) => {
            let part = section.section("bursty");
            let cv = part.number("cv").unwrap_or(1.0);
            let arrivals = Arrivals::Bursty { per_hour: rate(&part), cv };
            part.finish();
            arrivals
        }
        Some(2) => {
            let part = section.section("by_time_of_day");
            let day_hours = part.span_of("day").unwrap_or_default().as_secs_f64() / 3_600.0;
            if day_hours == 0.0 {
                part.mistake_at(
                    "day",
                    format!("{} is zero", tick(part.path_of("day"))),
                    "write a length of time, such as \"24h\"",
                );
            }
            let per_hour = part.numbers("per_hour").unwrap_or_default();
            part.finish();
            Arrivals::ByTimeOfDay { per_hour, day_hours }
        }
        Some(_) => {
            let at = section.spans("at").unwrap_or_default();
            Arrivals::At(at.into_iter().map(sandpool_core::Span::as_secs_f64).collect())
        }
        None => Arrivals::At(Vec::new()),
    }
}

fn read_accounts(section: Section<'_>) -> Accounts {
    section.alternative(false);
    let weights = section.numbers("weights");
    let count = section.count("count").unwrap_or(1);
    let skew = section.number("skew").unwrap_or(0.0);
    let accounts = match weights {
        Some(weights) => {
            note_zero_sum(&section, "weights", weights.iter().sum());
            Accounts { weights }
        }
        None => Accounts::zipf(usize::try_from(count).unwrap_or(1), skew),
    };
    section.finish();
    accounts
}

fn note_zero_sum(section: &Section<'_>, key: &str, sum: f64) {
    if sum <= 0.0 {
        section.mistake_at(
            key,
            format!("{} has no weight above zero", tick(section.path_of(key))),
            "give at least one of them a weight",
        );
    }
}

fn read_class_mix(section: &Section<'_>, server: &Config) -> Vec<(ClassId, f64)> {
    let path = section.path_of("class_mix");
    let written = section.named("class_mix");
    if !section.has("class_mix") {
        return vec![(ClassId(0), 1.0)];
    }
    let mut mix = Vec::new();
    let mut wrong = false;
    let weight: KeyDoc = required("weight", WEIGHT, "");
    for (name, span, node) in written {
        let Some(class) = server.class_named(name) else {
            let names = server.classes.iter().map(|class| class.name.as_str());
            section.mistakes().push(unknown_class(name, span, names, &path));
            wrong = true;
            continue;
        };
        match number_of(node, &weight, &format!("{path}.{name}")) {
            Ok(weight) => mix.push((class, weight)),
            Err(mistake) => {
                section.mistakes().push(mistake);
                wrong = true;
            }
        }
    }
    if !wrong {
        note_zero_sum(section, "class_mix", mix.iter().map(|(_, weight)| weight).sum());
    }
    mix.sort_by_key(|(class, _)| *class);
    mix
}
