//! The `[[variant]]` tables: what is compared with the rest of the file.

use super::file::SCENARIO;
use super::mistake::{Mistake, Mistakes};
use super::model::Variant;
use super::overlay::{expand_dotted, lay_over, override_lines};
use super::policy_block::{CLASS, SERVER};
use super::provider::PROVIDER;
use super::reader::{Section, tick};
use super::settings::{Point, append_settings};
use super::setup::{CRASHES, PRICES, read_setup};
use super::shape::{Keys, Kind, Shape, required, unset};
use super::tree::{Entry, Node, Table, Tree};
use super::workload::WORKLOAD;
use std::ops::Range;

/// The longest name of a scenario or variant, in characters; longer ones fit no table.
const MAX_NAME: usize = 60;

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

/// Notes a name that fits no table of results.
pub(crate) fn check_name(name: &str, section: &Section<'_>, key: &str) {
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

/// Reads the `[[variant]]` tables of a file whose own setup is `base`. The base comes first where
/// it is included, and alone where there are no variants.
pub(crate) fn read_variants(
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
        let before = mistakes.len();
        let mut over = prepare_overlay(table, None, node.span.clone(), mistakes);
        let name = over.remove("name");
        let name_span = name.as_ref().map_or(node.span.clone(), |entry| entry.node.span.clone());
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
        let variant = read_setup(&name, override_lines(&over, &SCENARIO), &merged, mistakes);
        // A mistaken value reads as its default, which may well be the base's.
        if mistakes.len() == before && has_no_effect(&variant, &base) {
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

/// Reads variants that are made of settings from outside the file.
pub(crate) fn read_points(
    root: &Table,
    points: &[Point],
    told: &mut String,
    mistakes: &Mistakes,
) -> Vec<Variant> {
    let mut variants: Vec<Variant> = Vec::new();
    for point in points {
        let title = format!("variant {:?}:", point.name);
        let (table, span) = append_settings(told, &title, &point.settings, mistakes);
        let name = point.name.clone();
        if variants.iter().any(|other| other.name == name) {
            mistakes.push(Mistake::new(span.clone(), format!("a second variant called {name:?}")));
        }
        let mut over = prepare_overlay(&table, Some(&name), span, mistakes);
        over.remove("name");
        let mut merged = root.clone();
        lay_over(&mut merged, &over, &SCENARIO);
        variants.push(read_setup(&name, override_lines(&over, &SCENARIO), &merged, mistakes));
    }
    variants
}

/// The variant's own table: quoted paths expanded, what no variant may have told and taken out.
fn prepare_overlay(
    table: &Table,
    name: Option<&str>,
    span: Range<usize>,
    mistakes: &Mistakes,
) -> Table {
    let mut over = expand_dotted(table, mistakes);
    if let Some(name) = name {
        over.put(Entry {
            key: "name".to_owned(),
            key_span: span.clone(),
            node: Node { span: span.clone(), tree: Tree::Text(name.to_owned()) },
        });
    }
    let (shared, own) = over
        .entries
        .into_iter()
        .partition(|entry| SCENARIO.key(&entry.key).is_some() && VARIANT.key(&entry.key).is_none());
    over.entries = own;
    let shared: Vec<Entry> = shared;
    for entry in shared {
        mistakes.push(
            Mistake::new(entry.key_span, format!("`{}` cannot differ between variants", entry.key))
                .hint("write it at the top of the file, where all variants share it"),
        );
    }
    let node = Node::table(over.clone(), span.clone());
    let section = Section::open(&VARIANT, "variant", Some(&node), span, mistakes);
    if let Some(name) = section.text("name") {
        check_name(&name, &section, "name");
    }
    for key in VARIANT.keys() {
        // The tables are read once they are laid over the file's own.
        section.node(key.name);
    }
    section.finish();
    over.entries.retain(|entry| VARIANT.key(&entry.key).is_some());
    over
}

fn has_no_effect(variant: &Variant, base: &Variant) -> bool {
    variant.server == base.server
        && variant.provider == base.provider
        && variant.workload == base.workload
        && variant.crashes == base.crashes
        && variant.prices == base.prices
}

#[cfg(test)]
mod tests {
    use super::super::file::parse;
    use super::*;
    use crate::workload::Arrivals;
    use sandpool_core::StartPolicy;

    const BASE: &str = "[workload.arrivals.poisson]\nper_hour = 6\n";

    fn variants(text: &str) -> Vec<Variant> {
        parse("f.toml", &format!("{BASE}{text}"))
            .map_err(|errors| errors.to_string())
            .unwrap()
            .variants
    }

    #[test]
    fn without_variants_there_is_the_base() {
        let variants = variants("");
        assert_eq!(variants.len(), 1);
        assert_eq!((variants[0].name.as_str(), variants[0].overrides.len()), ("base", 0));
    }

    #[test]
    fn a_variant_is_the_file_with_its_overrides() {
        let variants = variants(
            "[server]\nidle_seconds = 60\n[[variant]]\nname = \"late\"\n\
             \"server.start_policy\" = \"on_execute\"\n\"workload.arrivals.poisson.per_hour\" = 9\n\
             [variant.server]\nwarm_sandboxes = 0\n",
        );
        let names: Vec<_> = variants.iter().map(|variant| variant.name.as_str()).collect();
        assert_eq!(names, ["base", "late"]);
        let late = &variants[1];
        assert_eq!(late.server.idle, variants[0].server.idle);
        assert_eq!(late.server.start_policy, StartPolicy::OnExecute);
        assert_eq!(late.server.classes[0].warm_sandboxes, 0);
        assert_eq!(late.workload.arrivals, Arrivals::Poisson { per_hour: 9.0 });
        assert_eq!(variants[0].workload.arrivals, Arrivals::Poisson { per_hour: 6.0 });
        assert_eq!(
            late.overrides,
            [
                "server.warm_sandboxes = 0",
                "server.start_policy = \"on_execute\"",
                "workload.arrivals.poisson.per_hour = 9",
            ]
        );
    }

    #[test]
    fn a_variant_may_add_a_class_beside_the_default_one() {
        let variants =
            variants("[[variant]]\nname = \"big\"\n[variant.classes.big]\nmemory_gb = 4\n");
        let names = |variant: &Variant| -> Vec<String> {
            variant.server.classes.iter().map(|class| class.name.clone()).collect()
        };
        assert_eq!(names(&variants[0]), ["default"]);
        assert_eq!(names(&variants[1]), ["default", "big"]);
    }

    #[test]
    fn the_base_can_be_named_or_left_out() {
        let text = "[[variant]]\nname = \"a\"\n\"prices.cpu_hour\" = 1\n";
        let named = parse("f.toml", &format!("base_name = \"as it is\"\n{BASE}{text}")).unwrap();
        assert_eq!(named.variants[0].name, "as it is");
        let without = parse("f.toml", &format!("include_base = false\n{BASE}{text}")).unwrap();
        assert_eq!(without.variants.len(), 1);
        assert_eq!(without.variants[0].name, "a");
    }
}
