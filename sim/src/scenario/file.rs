//! A scenario file as a whole.

use super::expect::{EXPECT, read_expectations};
use super::mistake::{Mistake, Mistakes, ScenarioErrors};
use super::model::{Scenario, WarmUp};
use super::overlay::lay_over;
use super::policy_block::{CLASS, SERVER};
use super::provider::PROVIDER;
use super::reader::Section;
use super::settings::{ReadOptions, append_settings};
use super::setup::{CRASHES, PRICES, read_setup};
use super::shape::{Keys, Kind, Shape, key, number, required, unset};
use super::tree::{Entry, Node, Table, parse_toml};
use super::variants::{VARIANT, check_name, read_points, read_variants};
use super::workload::WORKLOAD;
use std::path::{Path, PathBuf};

const REPLICATIONS: Kind = Kind::Count { min: 1, max: 100_000, unlimited: false };

/// The shape of the whole file.
pub(crate) static SCENARIO: Shape = Shape {
    path: "",
    doc: "The keys at the top of the file, above all tables.",
    keys: Keys::Listed(&[
        unset("name", Kind::Text, "the file's name", "What the scenario is called."),
        key("question", Kind::Text, "\"\"", "The question that it answers, in a sentence."),
        key(
            "seed",
            Kind::Count { min: 0, max: i64::MAX, unlimited: false },
            "1",
            "Seed of every random stream: the same seed gives the same results.",
        ),
        key(
            "replications",
            REPLICATIONS,
            "20",
            "Independent replications; with `precision`, the smallest number of them.",
        ),
        key(
            "max_replications",
            REPLICATIONS,
            "200",
            "With `precision`: the largest number of replications.",
        ),
        unset(
            "precision",
            number(0.001, 0.5, ""),
            "exactly `replications` are run",
            "Wanted relative half-width of the 95 % interval of the mean exposed wait.",
        ),
        key("duration", Kind::Duration, "\"24h\"", "Simulated time of a replication."),
        key(
            "warm_up",
            Kind::WarmUp,
            "\"0s\"",
            "What the measures leave out at the beginning: a length of time, or `\"mser5\"` for as much as MSER-5 finds.",
        ),
        key("bin", Kind::Duration, "\"10m\"", "Width of the bins of charts over time."),
        key(
            "include_base",
            Kind::Flag,
            "true",
            "Whether the file without overrides is compared too, as the first column, when there are variants.",
        ),
        key("base_name", Kind::Text, "\"base\"", "What the file without overrides is called."),
        unset("server", Kind::Table(&SERVER), "its defaults", "The policy."),
        unset(
            "classes",
            Kind::Named { what: "CLASS", value: &Kind::Table(&CLASS) },
            "one, `default`",
            "The sandbox templates.",
        ),
        unset("provider", Kind::Table(&PROVIDER), "its defaults", "The simulated provider."),
        required("workload", Kind::Table(&WORKLOAD), "The traffic."),
        unset("prices", Kind::Table(&PRICES), "its defaults", "What the provider charges."),
        unset("server_crashes", Kind::Table(&CRASHES), "none", "Crashes of our own server."),
        unset(
            "variant",
            Kind::Tables(&VARIANT),
            "only the file itself is run",
            "What is compared.",
        ),
        unset(
            "expect",
            Kind::Tables(&EXPECT),
            "nothing is checked",
            "Ranges that results must fall into.",
        ),
    ]),
    alternatives: &[],
};

/// Why a scenario file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file could not be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file has mistakes.
    #[error(transparent)]
    Mistakes(#[from] ScenarioErrors),
}

/// Reads a scenario file.
///
/// # Errors
/// When it cannot be read, or with every mistake in it.
pub fn load(path: &Path) -> Result<Scenario, LoadError> {
    load_with(path, &ReadOptions::default())
}

/// As [`load`], with keys set from outside or other variants.
///
/// # Errors
/// When it cannot be read, or with every mistake in it and in the settings.
pub fn load_with(path: &Path, options: &ReadOptions<'_>) -> Result<Scenario, LoadError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| LoadError::Unreadable { path: path.to_owned(), source })?;
    Ok(parse_with(&path.to_string_lossy(), &text, options)?)
}

/// Reads a scenario from text. `file` is what messages call it; its stem names the scenario unless
/// the text does.
///
/// # Errors
/// With every mistake in it.
pub fn parse(file: &str, text: &str) -> Result<Scenario, ScenarioErrors> {
    parse_with(file, text, &ReadOptions::default())
}

/// As [`parse`], with keys set from outside or other variants. Those are read as if they stood
/// below the end of the file, where their mistakes then point.
///
/// # Errors
/// With every mistake in the text and in the settings.
pub fn parse_with(
    file: &str,
    text: &str,
    options: &ReadOptions<'_>,
) -> Result<Scenario, ScenarioErrors> {
    let mistakes = Mistakes::default();
    let mut told = text.to_owned();
    let scenario = parse_toml(text, &mistakes).and_then(|root| {
        if root.entries.is_empty() {
            mistakes.push(Mistake::new(0..0, "the file says nothing").hint(
                "write at least when conversations start: [workload.arrivals.poisson] with per_hour = 20",
            ));
            return None;
        }
        Some(read_scenario(file, root, &mut told, options, &mistakes))
    });
    match scenario {
        Some(scenario) => mistakes.or(scenario, file, &told),
        None => Err(mistakes.told(file, text)),
    }
}

fn read_scenario(
    file: &str,
    mut root: Table,
    told: &mut String,
    options: &ReadOptions<'_>,
    mistakes: &Mistakes,
) -> Scenario {
    add_default_class(&mut root);
    if !options.set.is_empty() {
        let (set, _) = append_settings(told, "set from outside the file:", options.set, mistakes);
        lay_over(&mut root, &set, &SCENARIO);
    }
    if !options.points.is_empty() {
        root.remove("variant");
        root.remove("expect");
    }
    let top = Section::root(&SCENARIO, &root, mistakes);
    for table in ["server", "classes", "provider", "workload", "prices", "server_crashes"] {
        // These may differ by variant and are read from there.
        top.node(table);
    }
    let base_name = top.text("base_name").unwrap_or_default();
    check_name(&base_name, &top, "base_name");
    let base = read_setup(&base_name, Vec::new(), &root, mistakes);
    mistakes.end_base();
    let include_base = top.flag("include_base").unwrap_or(true);
    let mut variants = read_variants(&top, &root, base, include_base, mistakes);
    if !options.points.is_empty() {
        variants = read_points(&root, options.points, told, mistakes);
    }
    let name = top.text("name");
    if let Some(name) = &name {
        check_name(name, &top, "name");
    }
    let count = |key| u32::try_from(top.count(key).unwrap_or(1)).unwrap_or(u32::MAX);
    let scenario = Scenario {
        name: name.unwrap_or_else(|| stem(file)),
        question: top.text("question").unwrap_or_default(),
        seed: u64::try_from(top.count("seed").unwrap_or(1)).unwrap_or(1),
        replications: count("replications"),
        max_replications: count("max_replications"),
        precision: top.number("precision"),
        duration: top.span_of("duration").unwrap_or_default(),
        warm_up: top.warm_up("warm_up").unwrap_or(WarmUp::Mser5),
        bin: top.span_of("bin").unwrap_or_default(),
        expectations: read_expectations(&top, &variants, options.measures),
        variants,
    };
    check_times(&scenario, &top);
    if scenario.precision.is_some() && scenario.max_replications < scenario.replications {
        top.mistake_at(
            "max_replications",
            format!("`max_replications` is below `replications` = {}", scenario.replications),
            "make max_replications at least replications",
        );
    }
    top.finish();
    scenario
}

/// Writes down the one class that a file without classes has: without this, a variant that adds a
/// class would do away with it.
fn add_default_class(root: &mut Table) {
    if root.get("classes").is_none() {
        let entry = |key: &str, table| Entry {
            key: key.to_owned(),
            key_span: 0..0,
            node: Node::table(table, 0..0),
        };
        let default = entry("default", Table::default());
        root.put(entry("classes", Table { entries: vec![default] }));
    }
}

fn stem(file: &str) -> String {
    Path::new(file)
        .file_stem()
        .map_or_else(|| file.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

fn check_times(scenario: &Scenario, top: &Section<'_>) {
    for (key, value) in [("duration", scenario.duration), ("bin", scenario.bin)] {
        if value.as_nanos() == 0 {
            top.mistake_at(
                key,
                format!("`{key}` is zero"),
                "write a length of time, such as \"10m\"",
            );
        }
    }
    if let WarmUp::Fixed(warm_up) = scenario.warm_up
        && warm_up >= scenario.duration
        && scenario.duration.as_nanos() > 0
    {
        top.mistake_at(
            "warm_up",
            "`warm_up` leaves nothing of `duration`",
            "make warm_up shorter than duration",
        );
    }
    if scenario.bin.as_nanos() > 0
        && scenario.duration.as_nanos() / scenario.bin.as_nanos() > 100_000
    {
        top.mistake_at(
            "bin",
            "`bin` cuts `duration` into more than 100000 parts",
            "choose wider bins",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::Variant;
    use super::*;
    use sandpool_core::{Config, Span};

    fn folder() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios")
    }

    fn shipped() -> Vec<PathBuf> {
        let mut paths: Vec<_> = std::fs::read_dir(folder())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
            .collect();
        paths.sort();
        paths
    }

    #[test]
    fn every_shipped_scenario_reads_and_asks_a_question() {
        let readme = std::fs::read_to_string(folder().join("README.md")).unwrap();
        let paths = shipped();
        assert!(paths.len() >= 9, "{paths:?}");
        for path in paths {
            let scenario = load(&path).unwrap_or_else(|error| panic!("{error}"));
            assert!(scenario.question.ends_with('?'), "{}", path.display());
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.starts_with("# "), "{} has no header", path.display());
            assert!(readme.contains(&format!("{}.toml", scenario.name)), "{}", path.display());
        }
    }

    #[test]
    fn rush_hour_compares_the_policies() {
        let scenario = load(&folder().join("rush-hour.toml")).unwrap();
        assert_eq!(scenario.variants.len(), 6);
        assert!(scenario.variants.iter().all(|variant| variant.server.max.slots == 10));
        assert!(scenario.variants[1..].iter().all(|variant| !variant.overrides.is_empty()));
    }

    #[test]
    fn the_soak_must_not_leak() {
        let scenario = load(&folder().join("soak-24h.toml")).unwrap();
        assert_eq!(scenario.duration, Span::from_secs(86_400));
        let expectation = &scenario.expectations[0];
        assert_eq!((expectation.measure.as_str(), expectation.max), ("leaked", 0.0));
        assert_eq!(expectation.variant, None);
    }

    #[test]
    fn the_smallest_scenario_is_all_defaults() {
        let scenario = parse("dir/small.toml", "workload.arrivals.poisson.per_hour = 3").unwrap();
        assert_eq!(scenario.name, "small");
        assert_eq!((scenario.seed, scenario.replications), (1, 20));
        assert_eq!(scenario.warm_up, WarmUp::Fixed(Span::ZERO));
        let Variant { server, provider, workload, crashes, .. } = &scenario.variants[0];
        assert_eq!(*server, Config::default());
        assert_eq!(provider.auto_stop, Span::from_secs(1_800));
        assert_eq!(provider.quota.memory_mb, 10 * 1_024);
        assert_eq!(provider.rate_limits.creates, 300);
        assert!(provider.faults.is_empty() && provider.outages.is_empty());
        assert_eq!(provider.other_tenants.sandboxes, None);
        assert_eq!(workload.accounts.weights.len(), 73);
        assert_eq!(workload.max_conversations, u64::MAX);
        assert!(crashes.at.is_empty());
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = load(Path::new("no/such.toml")).unwrap_err();
        assert_eq!(error.to_string(), "cannot read no/such.toml");
    }
}
