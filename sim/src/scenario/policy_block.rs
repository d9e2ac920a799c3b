//! The policy block, `[server]` and `[classes]`: what is tuned in a scenario and pasted into the
//! server's configuration. Both read it by this code; the keys of `[server]` are those of
//! [`sandpool_core::KEYS`] and no others.

use super::mistake::{Mistake, Mistakes, ScenarioErrors, choice_of, nearest};
use super::reader::{Section, choice_index, count_of, number_of, tick, unlimited_or, wrong};
use super::shape::{KeyDoc, Keys, Kind, Shape, key_zero, number, unset, value_as_toml};
use super::tree::{Node, Table, Tree, parse_toml};
use sandpool_core::{Class, Config, KEYS, Resources, Value};
use std::ops::Range;

/// The most classes that a configuration may have.
const MAX_CLASSES: usize = 64;

/// The longest class name, in characters.
const MAX_CLASS_NAME: usize = 64;

/// The shape of `[server]`.
pub(crate) static SERVER: Shape = Shape {
    path: "server",
    doc: "The policy: the same block that the server reads. What was tuned is what is deployed.",
    keys: Keys::Policy,
    alternatives: &[],
};

/// The shape of `[classes.NAME]`.
pub(crate) static CLASS: Shape = Shape {
    path: "classes.CLASS",
    doc: "A sandbox template. The class called `default` is the default class; without one of that \
          name the first that is written is. A file without `[classes]` has one, `default`. The \
          reserve of `borrow_keep_free` counts in default-class sandboxes.",
    keys: Keys::Listed(&[
        key_zero(
            "memory_gb",
            number(0.0, 4_096.0, "GB"),
            "1",
            "takes no memory from the quota",
            "Memory of one sandbox, in GB (1,024 MB).",
        ),
        key_zero(
            "cpu",
            number(0.0, 1_024.0, "vCPUs"),
            "1",
            "takes no cpu from the quota",
            "vCPUs of one sandbox.",
        ),
        key_zero(
            "disk_gb",
            number(0.0, 100_000.0, "GB"),
            "3",
            "takes no disk from the quota",
            "Disk of one sandbox, in GB (1,024 MB).",
        ),
        unset(
            "prepare",
            Kind::Prepare,
            "`true`",
            "Whether a created sandbox needs prepare steps before it is ready; the server takes a table \
             that says which.",
        ),
        unset(
            "warm_sandboxes",
            Kind::Count { min: 0, max: 100_000, unlimited: false },
            "what `server.warm_sandboxes` says: its number for the default class, else 0",
            "Ready sandboxes of this class kept for nobody in particular; 0: none.",
        ),
        unset(
            "snapshot",
            Kind::Text,
            "the provider's own default",
            "The provider's snapshot to start from. Only the server uses it.",
        ),
        unset(
            "image",
            Kind::Text,
            "none",
            "The container image to start from, instead of a snapshot. Only the server uses it.",
        ),
    ]),
    alternatives: &[],
};

/// A policy block as read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyBlock {
    /// The policy and the classes.
    pub config: Config,
    /// What only the server uses, by class, in the order of [`Config::classes`].
    pub templates: Vec<Template>,
}

/// How the server makes a sandbox of a class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Template {
    /// The provider's snapshot to start from.
    pub snapshot: Option<String>,
    /// The container image to start from.
    pub image: Option<String>,
    /// The prepare steps, as written.
    pub prepare: Option<toml::Table>,
}

/// Reads `[server]` and `[classes]` from a file in which other tables may stand, `others` being
/// the names of those.
///
/// # Errors
/// With every mistake in the two tables, and every table or key at the top that is neither one of
/// them nor one of `others`.
pub fn parse_policy_block(
    file: &str,
    text: &str,
    others: &[&str],
) -> Result<PolicyBlock, ScenarioErrors> {
    let mistakes = Mistakes::default();
    let root = parse_toml(text, &mistakes).unwrap_or_default();
    for entry in &root.entries {
        let known = ["server", "classes"].into_iter().chain(others.iter().copied());
        if !known.clone().any(|name| name == entry.key) {
            let mistake = Mistake::new(
                entry.key_span.clone(),
                format!("unknown key `{}` at the top of the file", entry.key),
            );
            mistakes.push(match nearest(&entry.key, known.clone()) {
                Some(name) => mistake.hint(format!("did you mean `{name}`?")),
                None => mistake.hint(format!("known here: {}", choice_of(known))),
            });
        }
    }
    let block = read_policy_block(root.get("server"), root.get("classes"), &mistakes);
    mistakes.or(block, file, text)
}

/// Reads `[server]` and `[classes]`.
pub(crate) fn read_policy_block(
    server: Option<&Node>,
    classes: Option<&Node>,
    mistakes: &Mistakes,
) -> PolicyBlock {
    let section = Section::open(&SERVER, "server", server, 0..0, mistakes);
    let mut config = Config::default();
    let (written, templates) = read_classes(classes, mistakes);
    config.classes = written.iter().map(|class| class.class.clone()).collect();
    for key in KEYS {
        let Some(node) = section.node(key.name) else { continue };
        let Some(declared) = SERVER.key(key.name) else { continue };
        if let Kind::CountByClass { .. } = declared.kind {
            read_warm_by_class(node, declared, &written, &mut config, mistakes);
            continue;
        }
        match value_of(node, declared, &section.path_of(key.name)) {
            Ok(value) => (key.set)(&mut config, value),
            Err(mistake) => mistakes.push(mistake),
        }
    }
    for conflict in config.conflicts() {
        // Where the key itself is left at its default, the one that it clashes with is written.
        let written = KEYS.iter().map(|key| key.name).find(|name| {
            section.has(name) && format!("{} {}", conflict.message, conflict.hint).contains(name)
        });
        let place =
            if section.has(conflict.key) { conflict.key } else { written.unwrap_or(conflict.key) };
        section.mistake_at(
            place,
            format!("{}: {}", tick(section.path_of(conflict.key)), conflict.message),
            conflict.hint,
        );
    }
    section.finish();
    PolicyBlock { config, templates }
}

/// A value of a policy key, checked against the key's kind.
fn value_of(node: &Node, declared: &KeyDoc, path: &str) -> Result<Value, Mistake> {
    match declared.kind {
        Kind::Count { .. } => count_of(node, declared, path).map(Value::Count),
        Kind::Choice(_) => choice_index(node, declared, path).map(Value::Choice),
        _ => number_of(node, declared, path).map(|number| {
            if number.is_finite() { Value::Number(number) } else { Value::Unlimited }
        }),
    }
}

struct WrittenClass {
    class: Class,
    warm_at: Option<Range<usize>>,
}

fn read_warm_by_class(
    node: &Node,
    declared: &KeyDoc,
    classes: &[WrittenClass],
    config: &mut Config,
    mistakes: &Mistakes,
) {
    let path = "server.warm_sandboxes";
    let mut set = |index: usize, node: &Node, path: &str| {
        match count_of(node, declared, path) {
            Ok(count) => config.classes[index].warm_sandboxes = count,
            Err(mistake) => mistakes.push(mistake),
        }
        let name = &classes[index].class.name;
        if classes[index].warm_at.is_some() {
            mistakes.push(
                Mistake::new(
                    node.span.clone(),
                    format!("{} also stands in [classes.{name}]", tick(path)),
                )
                .hint(format!("write it once: here, or as warm_sandboxes of [classes.{name}]")),
            );
        }
    };
    match &node.tree {
        Tree::Table(table) => {
            for entry in &table.entries {
                let names = || classes.iter().map(|class| class.class.name.as_str());
                match names().position(|name| name == entry.key) {
                    Some(index) => set(index, &entry.node, &format!("{path}.{}", entry.key)),
                    None => mistakes.push(unknown_class(
                        &entry.key,
                        entry.key_span.clone(),
                        names(),
                        path,
                    )),
                }
            }
        }
        Tree::Number(_) => set(0, node, path),
        _ => mistakes.push(
            wrong(node, path, "a whole number or a table by class")
                .hint("write warm_sandboxes = 2, or { default = 2, large = 1 }"),
        ),
    }
}

/// The mistake of naming a class that there is none of.
pub(crate) fn unknown_class<'n>(
    written: &str,
    span: Range<usize>,
    names: impl Iterator<Item = &'n str> + Clone,
    path: &str,
) -> Mistake {
    let mistake = Mistake::new(span, format!("{} names the unknown class `{written}`", tick(path)));
    match nearest(written, names.clone()) {
        Some(name) => mistake.hint(format!("did you mean `{name}`?")),
        None => mistake.hint(format!(
            "the classes are {}; another needs a table [classes.{written}]",
            choice_of(names).replace(" or ", " and ")
        )),
    }
}

fn read_classes(node: Option<&Node>, mistakes: &Mistakes) -> (Vec<WrittenClass>, Vec<Template>) {
    let empty = Table::default();
    let table = match node {
        None => &empty,
        Some(Node { tree: Tree::Table(table), .. }) => table,
        Some(node) => {
            mistakes.push(wrong(node, "classes", "a table by class").hint("write [classes.NAME]"));
            &empty
        }
    };
    let mut classes = Vec::new();
    for entry in &table.entries {
        if entry.key.is_empty()
            || entry.key.len() > MAX_CLASS_NAME
            || !entry.key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        {
            mistakes.push(
                Mistake::new(entry.key_span.clone(), format!("bad class name {:?}", entry.key))
                    .hint("use 1 to 64 of the characters a-z, A-Z, 0-9, _ and -"),
            );
        }
        if classes.len() == MAX_CLASSES {
            mistakes.push(
                Mistake::new(entry.key_span.clone(), format!("more than {MAX_CLASSES} classes"))
                    .hint("merge classes of nearly the same size"),
            );
            break;
        }
        classes.push(read_class(&entry.key, &entry.node, mistakes));
    }
    if let Some(index) = classes.iter().position(|(class, _)| class.class.name == "default") {
        classes[..=index].rotate_right(1);
    }
    if classes.is_empty() {
        classes
            .push((WrittenClass { class: Class::default(), warm_at: None }, Template::default()));
    }
    for (index, (class, _)) in classes.iter_mut().enumerate() {
        if class.warm_at.is_none() {
            class.class.warm_sandboxes =
                if index == 0 { Class::default().warm_sandboxes } else { 0 };
        }
    }
    classes.into_iter().unzip()
}

fn read_class(name: &str, node: &Node, mistakes: &Mistakes) -> (WrittenClass, Template) {
    let path = format!("classes.{name}");
    let section = Section::open(&CLASS, path, Some(node), node.span.clone(), mistakes);
    let (mut prepares, mut prepare) = (true, None);
    match section.node("prepare").map(|node| (node, &node.tree)) {
        None => {}
        Some((_, Tree::Flag(flag))) => prepares = *flag,
        Some((node, Tree::Table(_))) => prepare = node.to_toml().as_table().cloned(),
        Some((node, _)) => mistakes.push(wrong(
            node,
            &section.path_of("prepare"),
            "true, false or a table of prepare steps",
        )),
    }
    let gb = |key| section.number(key).unwrap_or(0.0);
    let class = Class {
        name: name.to_owned(),
        resources: Resources::of_sandbox(gb("memory_gb"), gb("cpu"), gb("disk_gb")),
        prepares,
        warm_sandboxes: section.count("warm_sandboxes").unwrap_or(0),
    };
    let warm_at = section
        .has("warm_sandboxes")
        .then(|| section.node("warm_sandboxes").map_or(0..0, |node| node.span.clone()));
    let template =
        Template { snapshot: section.text("snapshot"), image: section.text("image"), prepare };
    if template.snapshot.is_some() && template.image.is_some() {
        section.mistake_at(
            "image",
            format!("{} has both `snapshot` and `image`", tick(section.path_of("image"))),
            "start from one of them",
        );
    }
    section.finish();
    (WrittenClass { class, warm_at }, template)
}

/// A quota as written in amounts: slots and the other dimensions, unlimited where infinite.
pub(crate) fn quota(slots: i64, memory_gb: f64, cpu: f64, disk_gb: f64) -> Resources {
    Resources {
        slots,
        memory_mb: unlimited_or(memory_gb, 1024.0),
        cpu_milli: unlimited_or(cpu, 1000.0),
        disk_mb: unlimited_or(disk_gb, 1024.0),
    }
}

/// Writes a configuration as the `[server]` and `[classes]` tables from which it reads back. Keys
/// at their default are left out, so that the block says what was decided.
///
/// Classes keep their order unless a later one is called `default`, which a file puts first.
#[must_use]
pub fn to_policy_block(config: &Config) -> String {
    let mut text = String::from("[server] # keys that are left out have their defaults\n");
    for key in KEYS {
        let value = (key.get)(config);
        if key.name != "warm_sandboxes" && value != key.default {
            text.push_str(&format!("{} = {}\n", key.name, value_as_toml(key.kind, value)));
        }
    }
    for class in &config.classes {
        let gb = |mb: i64| mb as f64 / 1024.0;
        text.push_str(&format!(
            "\n[classes.{}]\nmemory_gb = {}\ncpu = {}\ndisk_gb = {}\nprepare = {}\nwarm_sandboxes = {}\n",
            class.name,
            gb(class.resources.memory_mb),
            class.resources.cpu_milli as f64 / 1000.0,
            gb(class.resources.disk_mb),
            class.prepares,
            class.warm_sandboxes,
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sandpool_core::KeyKind;

    fn read(text: &str) -> Result<PolicyBlock, String> {
        parse_policy_block("pool.toml", text, &["http"]).map_err(|errors| errors.to_string())
    }

    #[test]
    fn an_empty_block_is_the_defaults() {
        assert_eq!(read("").unwrap().config, Config::default());
        assert_eq!(read("[http]\nport = 1").unwrap().config, Config::default());
    }

    #[test]
    fn every_key_can_be_written_at_both_ends_of_its_range() {
        for key in KEYS {
            let values = match key.kind {
                KeyKind::Count { min, max } => vec![Value::Count(min), Value::Count(max)],
                KeyKind::Seconds { min, max, .. } => vec![Value::Number(min), Value::Number(max)],
                KeyKind::Amount { min, max } => {
                    vec![Value::Number(min), Value::Number(max), Value::Unlimited]
                }
                KeyKind::Choice(words) => (0..words.len()).map(Value::Choice).collect(),
            };
            for value in values {
                let mut expected = Config::default();
                (key.set)(&mut expected, value);
                if !expected.conflicts().is_empty() {
                    continue;
                }
                let text = format!("[server]\n{} = {}", key.name, value_as_toml(key.kind, value));
                assert_eq!(read(&text).map(|block| block.config), Ok(expected), "{text}");
            }
        }
    }

    #[test]
    fn warm_sandboxes_are_a_number_or_a_table() {
        let warm = |text: &str| -> Vec<i64> {
            read(text).unwrap().config.classes.iter().map(|class| class.warm_sandboxes).collect()
        };
        assert_eq!(warm("[server]\nwarm_sandboxes = 4\n[classes.default]\n[classes.big]"), [4, 0]);
        assert_eq!(
            warm("[server]\nwarm_sandboxes = { big = 2 }\n[classes.big]\n[classes.default]"),
            [1, 2]
        );
        assert_eq!(warm("[classes.small]\n[classes.big]\nwarm_sandboxes = 3"), [1, 3]);
    }

    #[test]
    fn the_default_class_is_default_or_the_first() {
        let names = |text: &str| -> Vec<String> {
            read(text).unwrap().config.classes.into_iter().map(|class| class.name).collect()
        };
        assert_eq!(names(""), ["default"]);
        assert_eq!(names("[classes.z]\n[classes.a]"), ["z", "a"]);
        assert_eq!(names("[classes.z]\n[classes.a]\n[classes.default]"), ["default", "z", "a"]);
    }

    #[test]
    fn templates_reach_the_server() {
        let block = read(
            "[classes.default]\nsnapshot = \"py\"\nprepare = { commands = [\"pip install x\"] }\n\
             [classes.bare]\nprepare = false",
        )
        .unwrap();
        assert!(block.config.classes[0].prepares);
        assert!(!block.config.classes[1].prepares);
        assert_eq!(block.templates[0].snapshot.as_deref(), Some("py"));
        let commands = &block.templates[0].prepare.as_ref().unwrap()["commands"];
        assert_eq!(commands[0].as_str(), Some("pip install x"));
    }

    #[test]
    fn mistakes_in_the_block() {
        insta::assert_snapshot!(
            read(
                "[server]\nwarm_sandboxes = { bigg = 1 }\nstart_policy = \"on_trun\"\n\
             retry_base_seconds = 90\nmax_memory_gb = -1\nidle_seconds = \"15m\"\n\
             [classes.big]\nwarm = 3\nmemory_gb = \"4GB\"\n[htp]\nport = 1\n"
            )
            .unwrap_err()
        );
    }

    #[test]
    fn a_pool_size_stands_in_one_place() {
        insta::assert_snapshot!(
            read("[server]\nwarm_sandboxes = 2\n[classes.default]\nwarm_sandboxes = 2")
                .unwrap_err()
        );
    }

    fn any_value(kind: KeyKind) -> BoxedStrategy<Value> {
        let thousandths = |min: f64, max: f64| {
            ((min * 1e3).ceil() as i64..=(max * 1e3) as i64)
                .prop_map(|thousandths| Value::Number(thousandths as f64 / 1e3))
        };
        match kind {
            KeyKind::Count { min, max } => (min..=max).prop_map(Value::Count).boxed(),
            KeyKind::Seconds { min, max, unlimited: false } => thousandths(min, max).boxed(),
            KeyKind::Seconds { min, max, unlimited: true } => {
                prop_oneof![4 => thousandths(min, max), 1 => Just(Value::Unlimited)].boxed()
            }
            KeyKind::Amount { min, max } => {
                prop_oneof![4 => thousandths(min, max), 1 => Just(Value::Unlimited)].boxed()
            }
            KeyKind::Choice(words) => (0..words.len()).prop_map(Value::Choice).boxed(),
        }
    }

    prop_compose! {
        fn any_class()(memory in 0.0..64.0_f64, cpu in 0.0..16.0_f64, disk in 0.0..100.0_f64,
            prepares: bool, warm_sandboxes in 0..100_000_i64) -> Class {
            Class {
                name: String::new(),
                resources: Resources::of_sandbox(memory, cpu, disk),
                prepares,
                warm_sandboxes,
            }
        }
    }

    prop_compose! {
        fn any_config()(
            values in KEYS.iter().map(|key| any_value(key.kind)).collect::<Vec<_>>(),
            mut classes in proptest::collection::vec(any_class(), 1..6),
            named_default: bool,
        ) -> Config {
            for (index, class) in classes.iter_mut().enumerate() {
                class.name = if index == 0 && named_default {
                    "default".to_owned()
                } else {
                    format!("class-{index}")
                };
            }
            let mut config = Config { classes, ..Config::default() };
            for (key, value) in KEYS.iter().zip(values) {
                (key.set)(&mut config, value);
            }
            // Without contradictions: they are refused, and half of all drawn ones would have one.
            config.limbo_hold = config.limbo_hold.max(config.start_timeout);
            config.retry_max = config.retry_max.max(config.retry_base);
            config.provider_auto_stop = config.provider_auto_stop.max(config.keep_alive.times(2));
            config
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(config in any_config()) {
            let text = to_policy_block(&config);
            let read = read(&text).map_err(TestCaseError::fail)?;
            prop_assert_eq!(read.config, config, "{}", text);
        }
    }
}
