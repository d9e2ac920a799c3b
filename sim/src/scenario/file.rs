//! A scenario file as a whole.

use super::mistake::{Mistake, Mistakes, ScenarioErrors, choice_of, nearest};
use super::model::{Expectation, Scenario, Variant, WarmUp};
use super::overlay::{expand_dotted, lay_over, override_lines};
use super::policy_block::{CLASS, SERVER};
use super::provider::PROVIDER;
use super::reader::{Section, tick};
use super::setup::{CRASHES, PRICES, read_setup};
use super::shape::{Keys, Kind, Shape, key, number, required, unset};
use super::tree::{Entry, Node, Table, Tree, parse_toml};
use super::workload::WORKLOAD;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The longest name of a scenario or variant, in characters; longer ones fit no table.
const MAX_NAME: usize = 60;

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

/// The shape of `[[variant]]`.
pub(crate) static VARIANT: Shape = Shape {
    path: "variant",
    doc: "A list of tables, `[[variant]]` above each: what differs from the rest of the file. Tables \
          are laid over the file's key by key (`[variant.server]`, or `\"server.idle_seconds\" = 60` in \
          quotes); a distribution, a list or a mix is replaced as a whole, and so is another kind of \
          arrivals. What is at the top of the file is shared by all variants, because they are compared \
          replication by replication under the same traffic.",
    keys: Keys::Listed(&[
        required("name", Kind::Text, "Its name, unique in the file."),
        unset("server", Kind::Table(&SERVER), "as in the file", "Keys of `[server]` that differ."),
        unset(
            "classes",
            Kind::Named { what: "CLASS", value: &Kind::Table(&CLASS) },
            "as in the file",
            "Classes that differ or are added.",
        ),
        unset(
            "provider",
            Kind::Table(&PROVIDER),
            "as in the file",
            "Keys of `[provider]` that differ.",
        ),
        unset(
            "workload",
            Kind::Table(&WORKLOAD),
            "as in the file",
            "Keys of `[workload]` that differ.",
        ),
        unset("prices", Kind::Table(&PRICES), "as in the file", "Prices that differ."),
        unset("server_crashes", Kind::Table(&CRASHES), "as in the file", "Crashes that differ."),
    ]),
    alternatives: &[],
};

const BOUND: Kind = number(-1e12, 1e12, "");

/// The shape of `[[expect]]`.
pub(crate) static EXPECT: Shape = Shape {
    path: "expect",
    doc: "A list of tables, `[[expect]]` above each: a range that the mean of a measure must fall into.",
    keys: Keys::Listed(&[
        required("measure", Kind::Text, "The measure's name, as in the result table."),
        unset("variant", Kind::Text, "every one", "The variant."),
        unset("min", BOUND, "no lower bound", "Smallest mean allowed."),
        unset(
            "max",
            BOUND,
            "no upper bound",
            "Largest mean allowed; at least one of the two bounds.",
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
    let text = std::fs::read_to_string(path)
        .map_err(|source| LoadError::Unreadable { path: path.to_owned(), source })?;
    Ok(parse(&path.to_string_lossy(), &text)?)
}

/// Reads a scenario from text. `file` is what messages call it; its stem names the scenario unless
/// the text does.
///
/// # Errors
/// With every mistake in it.
pub fn parse(file: &str, text: &str) -> Result<Scenario, ScenarioErrors> {
    parse_with_measures(file, text, None)
}

/// As [`parse`], and checks the measures named by `[[expect]]` against those that there are.
///
/// # Errors
/// With every mistake in it.
pub fn parse_with_measures(
    file: &str,
    text: &str,
    measures: Option<&[&str]>,
) -> Result<Scenario, ScenarioErrors> {
    let mistakes = Mistakes::default();
    let scenario = parse_toml(text, &mistakes).and_then(|root| {
        if root.entries.is_empty() {
            mistakes.push(Mistake::new(0..0, "the file says nothing").hint(
                "write at least when conversations start: [workload.arrivals.poisson] with per_hour = 20",
            ));
            return None;
        }
        Some(read_scenario(file, root, measures, &mistakes))
    });
    match scenario {
        Some(scenario) => mistakes.or(scenario, file, text),
        None => Err(mistakes.or((), file, text).err().unwrap_or(ScenarioErrors {
            file: file.to_owned(),
            text: text.to_owned(),
            mistakes: vec![Mistake::new(0..0, "the file cannot be read")],
        })),
    }
}

fn read_scenario(
    file: &str,
    mut root: Table,
    measures: Option<&[&str]>,
    mistakes: &Mistakes,
) -> Scenario {
    // Without this, a variant that adds a class would do away with the default class.
    if root.get("classes").is_none() {
        let default = Entry {
            key: "default".to_owned(),
            key_span: 0..0,
            node: Node::table(Table::default(), 0..0),
        };
        let classes = Node::table(Table { entries: vec![default] }, 0..0);
        root.put(Entry { key: "classes".to_owned(), key_span: 0..0, node: classes });
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
    let variants = read_variants(&top, &root, base, include_base, mistakes);
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
        expectations: read_expectations(&top, &variants, measures),
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

fn stem(file: &str) -> String {
    Path::new(file)
        .file_stem()
        .map_or_else(|| file.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

fn check_name(name: &str, section: &Section<'_>, key: &str) {
    let fault = if name.trim().is_empty() {
        "is empty"
    } else if name.chars().count() > MAX_NAME {
        "is longer than 60 characters"
    } else if name.chars().any(char::is_control) {
        "contains a control character"
    } else {
        return;
    };
    section.mistake_at(
        key,
        format!("{} {fault}", tick(section.path_of(key))),
        "choose a short name on one line",
    );
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

fn read_variants(
    top: &Section<'_>,
    root: &Table,
    base: Variant,
    include_base: bool,
    mistakes: &Mistakes,
) -> Vec<Variant> {
    let path = "variant";
    let written: &[Node] = match top.node(path) {
        None => &[],
        Some(Node { tree: Tree::List(items), .. }) => items,
        Some(node) => {
            mistakes.push(
                Mistake::new(node.span.clone(), "`variant` must be a list of tables")
                    .hint("write [[variant]] above each of them, in double brackets"),
            );
            &[]
        }
    };
    let mut variants: Vec<Variant> = Vec::new();
    if include_base || written.is_empty() {
        variants.push(base.clone());
    }
    for node in written {
        let Some(table) = node.as_table() else {
            mistakes.push(
                Mistake::new(node.span.clone(), "`variant` must be a list of tables")
                    .hint("write [[variant]] above each of them"),
            );
            continue;
        };
        let (mut over, place) = prepare_overlay(table, node.span.clone(), mistakes);
        let name = over.remove("name");
        let name_span = name.as_ref().map_or(place.clone(), |entry| entry.node.span.clone());
        let name = match name.map(|entry| entry.node.tree) {
            Some(Tree::Text(name)) => name,
            _ => String::new(),
        };
        if !name.is_empty() && variants.iter().any(|other| other.name == name) {
            let mistake =
                Mistake::new(name_span.clone(), format!("a second variant called {name:?}"));
            mistakes.push(if include_base && name == base.name {
                mistake.hint("the file itself is compared under this name; see base_name")
            } else {
                mistake.hint("give each variant its own name")
            });
        }
        let mut merged = root.clone();
        lay_over(&mut merged, &over, &SCENARIO);
        let before = mistakes.len();
        let variant = read_setup(&name, override_lines(&over, &SCENARIO), &merged, mistakes);
        // A mistaken value reads as its default, which may well be the base's.
        if mistakes.len() == before && has_no_effect(&variant, &base) && !unknown_keys(&over) {
            mistakes.push(
                Mistake::new(name_span, format!("variant {name:?} changes nothing")).hint(
                    "override a key in it, or remove it: the file itself is compared as the base",
                ),
            );
        }
        variants.push(variant);
    }
    variants
}

/// The variant's own table: quoted paths expanded, keys that no variant may have taken out.
fn prepare_overlay(
    table: &Table,
    span: Range<usize>,
    mistakes: &Mistakes,
) -> (Table, Range<usize>) {
    let mut over = expand_dotted(table, mistakes);
    let shared: Vec<String> = over
        .entries
        .iter()
        .map(|entry| entry.key.clone())
        .filter(|key| SCENARIO.key(key).is_some() && VARIANT.key(key).is_none())
        .collect();
    for key in shared {
        if let Some(entry) = over.remove(&key) {
            mistakes.push(
                Mistake::new(entry.key_span, format!("`{key}` cannot differ between variants"))
                    .hint("write it at the top of the file, where all variants share it"),
            );
        }
    }
    let node = Node::table(over.clone(), span.clone());
    let section = Section::open(&VARIANT, "variant", Some(&node), span.clone(), mistakes);
    if section.text("name").is_some() {
        let name = section.text("name").unwrap_or_default();
        check_name(&name, &section, "name");
    }
    for key in VARIANT.keys() {
        section.node(key.name);
    }
    section.finish();
    over.entries.retain(|entry| VARIANT.key(&entry.key).is_some());
    (over, span)
}

fn unknown_keys(over: &Table) -> bool {
    over.entries.iter().any(|entry| VARIANT.key(&entry.key).is_none())
}

fn has_no_effect(variant: &Variant, base: &Variant) -> bool {
    variant.server == base.server
        && variant.provider == base.provider
        && variant.workload == base.workload
        && variant.crashes == base.crashes
        && variant.prices == base.prices
}

fn read_expectations(
    top: &Section<'_>,
    variants: &[Variant],
    measures: Option<&[&str]>,
) -> Vec<Expectation> {
    let mut expectations = Vec::new();
    for part in top.sections("expect") {
        let measure = part.text("measure").unwrap_or_default();
        let variant = part.text("variant");
        let (min, max) = (part.number("min"), part.number("max"));
        if let (Some(known), true) = (measures, part.has("measure"))
            && !known.contains(&measure.as_str())
        {
            let hint = match nearest(&measure, known.iter().copied()) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("the measures are {}", choice_of(known.iter().copied())),
            };
            part.mistake_at("measure", format!("there is no measure {measure:?}"), hint);
        }
        let names = || variants.iter().map(|variant| variant.name.as_str());
        if let Some(name) = &variant
            && !names().any(|known| known == name)
        {
            let hint = match nearest(name, names()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("the variants are {}", choice_of(names())),
            };
            part.mistake_at("variant", format!("there is no variant {name:?}"), hint);
        }
        if !part.has("min") && !part.has("max") {
            part.mistake_at("min", "this expectation has no bound", "write min, max or both");
        }
        if let (Some(min), Some(max)) = (min, max)
            && max < min
        {
            part.mistake_at("max", format!("`expect.max` is below `min` = {min}"), "swap the two");
        }
        part.finish();
        expectations.push(Expectation {
            variant,
            measure,
            min: min.unwrap_or(f64::NEG_INFINITY),
            max: max.unwrap_or(f64::INFINITY),
        });
    }
    expectations
}
