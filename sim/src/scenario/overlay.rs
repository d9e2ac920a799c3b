//! What a variant overrides, laid over the file's own tables.
//!
//! Tables are merged key by key. A value is replaced as a whole, and so is a distribution, a list
//! and a mix by class: a half-replaced distribution would be neither the one nor the other.

use super::mistake::{Mistake, Mistakes};
use super::reader::tick;
use super::shape::{Kind, Shape};
use super::tree::{Entry, Node, Table, Tree};

/// Lays `over` over `base`.
pub(crate) fn lay_over(base: &mut Table, over: &Table, shape: &Shape) {
    for group in shape.alternatives {
        if group.iter().any(|name| over.get(name).is_some()) {
            let others = shape.alternatives.iter().filter(|other| *other != group);
            for name in others.copied().flatten() {
                base.remove(name);
            }
        }
    }
    for entry in &over.entries {
        let kind = shape.key(&entry.key).map(|key| key.kind);
        lay_entry(base, entry, kind.as_ref());
    }
}

fn lay_entry(base: &mut Table, over: &Entry, kind: Option<&Kind>) {
    let old = base.entries.iter_mut().find(|old| old.key == over.key);
    if let (
        Some(Entry { node: Node { tree: Tree::Table(old), span }, .. }),
        Node { tree: Tree::Table(new), span: new_span },
    ) = (old, &over.node)
    {
        match kind {
            Some(Kind::Table(inner)) => {
                lay_over(old, new, inner);
                // What is missing or contradictory afterwards is the variant's doing.
                *span = new_span.clone();
                return;
            }
            Some(Kind::Named {
                value: value @ (Kind::Table(_) | Kind::Distribution { .. }),
                ..
            }) => {
                for entry in &new.entries {
                    lay_entry(old, entry, Some(value));
                }
                return;
            }
            _ => {}
        }
    }
    base.put(over.clone());
}

/// Turns quoted keys with points, `"server.warm_sandboxes" = 3`, into the tables that they mean.
pub(crate) fn expand_dotted(table: &Table, mistakes: &Mistakes) -> Table {
    let mut expanded = Table::default();
    let (dotted, plain): (Vec<&Entry>, Vec<&Entry>) =
        table.entries.iter().partition(|entry| entry.key.contains('.'));
    for entry in plain {
        expanded.put(entry.clone());
    }
    for entry in dotted {
        let parts: Vec<&str> = entry.key.split('.').map(str::trim).collect();
        if parts.iter().any(|part| part.is_empty()) {
            mistakes.push(
                Mistake::new(
                    entry.key_span.clone(),
                    format!("{} has an empty part", tick(&entry.key)),
                )
                .hint("write \"table.key\" = value"),
            );
        } else if !put_at(&mut expanded, &parts, entry) {
            mistakes.push(
                Mistake::new(
                    entry.key_span.clone(),
                    format!("{} is set twice in this variant", tick(&entry.key)),
                )
                .hint("remove one of the two"),
            );
        }
    }
    expanded
}

/// Puts the entry's value where the path says; false when something is there already.
fn put_at(table: &mut Table, path: &[&str], entry: &Entry) -> bool {
    let Some((first, rest)) = path.split_first() else { return false };
    let here =
        |node: Node| Entry { key: (*first).to_owned(), key_span: entry.key_span.clone(), node };
    let existing = table.entries.iter_mut().find(|old| old.key == *first);
    match (existing, rest.is_empty()) {
        (None, true) => {
            table.put(here(entry.node.clone()));
            true
        }
        (None, false) => {
            let mut inner = Table::default();
            let put = put_at(&mut inner, rest, entry);
            table.put(here(Node::table(inner, entry.key_span.clone())));
            put
        }
        (Some(Entry { node: Node { tree: Tree::Table(inner), .. }, .. }), false) => {
            put_at(inner, rest, entry)
        }
        (Some(_), _) => false,
    }
}

/// What a variant overrides as `path = value` lines, in the order of the file.
pub(crate) fn override_lines(over: &Table, shape: &Shape) -> Vec<String> {
    let mut lines = Vec::new();
    add_lines(&mut lines, "", over, shape);
    lines
}

fn add_lines(lines: &mut Vec<String>, prefix: &str, over: &Table, shape: &Shape) {
    for entry in &over.entries {
        let path = format!("{prefix}{}", entry.key);
        let kind = shape.key(&entry.key).map(|key| key.kind);
        match (kind, &entry.node.tree) {
            (Some(Kind::Table(inner)), Tree::Table(table)) => {
                add_lines(lines, &format!("{path}."), table, inner);
            }
            (Some(Kind::Named { value: Kind::Table(inner), .. }), Tree::Table(table)) => {
                for named in &table.entries {
                    match &named.node.tree {
                        // A class that is only mentioned says something too.
                        Tree::Table(fields) if !fields.entries.is_empty() => {
                            add_lines(lines, &format!("{path}.{}.", named.key), fields, inner);
                        }
                        _ => {
                            lines.push(format!("{path}.{} = {}", named.key, named.node.to_inline()))
                        }
                    }
                }
            }
            _ => lines.push(format!("{path} = {}", entry.node.to_inline())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::SCENARIO;
    use super::super::tree::parse_toml;
    use super::*;

    fn table(text: &str) -> Table {
        parse_toml(text, &Mistakes::default()).expect("valid TOML")
    }

    fn laid(base: &str, over: &str) -> String {
        let mut base = table(base);
        lay_over(&mut base, &table(over), &SCENARIO);
        Node::table(base, 0..0).to_inline()
    }

    #[test]
    fn tables_merge_and_values_are_replaced() {
        assert_eq!(
            laid("server.idle_seconds = 1\nserver.max_starting = 2", "server.idle_seconds = 9"),
            "{ server = { idle_seconds = 9, max_starting = 2 } }"
        );
        assert_eq!(
            laid(
                "workload.turns = { lognormal = { mu = 1, sigma = 1 } }",
                "workload.turns = { lognormal = { median = 3, p90 = 9 } }"
            ),
            "{ workload = { turns = { lognormal = { median = 3, p90 = 9 } } } }"
        );
        assert_eq!(
            laid("workload.class_mix = { a = 1, b = 2 }", "workload.class_mix = { a = 1 }"),
            "{ workload = { class_mix = { a = 1 } } }"
        );
        assert_eq!(
            laid("provider.faults.create = { errored = 0.1 }", "provider.faults.probe.errored = 1"),
            "{ provider = { faults = { create = { errored = 0.1 }, probe = { errored = 1 } } } }"
        );
    }

    #[test]
    fn an_alternative_replaces_the_others() {
        assert_eq!(
            laid(
                "workload.arrivals.poisson.per_hour = 3",
                "workload.arrivals.bursty = { per_hour = 3, cv = 4 }"
            ),
            "{ workload = { arrivals = { bursty = { per_hour = 3, cv = 4 } } } }"
        );
        assert_eq!(
            laid(
                "workload.arrivals.bursty = { per_hour = 3, cv = 4 }",
                "workload.arrivals.bursty.cv = 9"
            ),
            "{ workload = { arrivals = { bursty = { per_hour = 3, cv = 9 } } } }"
        );
        assert_eq!(
            laid("workload.accounts = { count = 3, skew = 1 }", "workload.accounts.weights = [1]"),
            "{ workload = { accounts = { weights = [1] } } }"
        );
    }

    #[test]
    fn quoted_paths_are_tables_and_may_not_set_twice() {
        let mistakes = Mistakes::default();
        let expanded = expand_dotted(
            &table("\"server.a\" = 1\n\"server.b\" = 2\n\"server.b \" = 4\nserver.c = 3"),
            &mistakes,
        );
        assert_eq!(Node::table(expanded, 0..0).to_inline(), "{ server = { c = 3, a = 1, b = 2 } }");
        assert_eq!(mistakes.len(), 1);
    }

    #[test]
    fn overrides_are_told_in_lines() {
        let over = table(
            "server.warm_sandboxes = { big = 1 }\n[classes.big]\nmemory_gb = 4\n[classes.small]\n\
             [workload.arrivals.poisson]\nper_hour = 6",
        );
        assert_eq!(
            override_lines(&over, &SCENARIO),
            [
                "server.warm_sandboxes = { big = 1 }",
                "classes.big.memory_gb = 4",
                "classes.small = {}",
                "workload.arrivals.poisson.per_hour = 6",
            ]
        );
    }
}
