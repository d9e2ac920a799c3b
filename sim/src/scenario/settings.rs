//! Keys set from outside the file: on the command line, by a sweep, by a tuner.
//!
//! Each is read as if it stood below the end of the file, so that a mistake in it is told like any
//! other, with the line that shows it.

use super::mistake::{Mistake, Mistakes};
use super::overlay::expand_dotted;
use super::tree::{Entry, Node, Table, Tree, parse_toml, quoted};
use std::ops::Range;
use std::str::FromStr;

/// A key and the value that it is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySetting {
    /// The key with the tables that it stands in: `server.warm_sandboxes`.
    pub key: String,
    /// The value, as TOML; anything that is no TOML value is taken for a text.
    pub value: String,
}

/// What is wrong with a setting's form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not of the form key=value, such as server.warm_sandboxes=3")]
pub struct NotASetting(String);

impl FromStr for KeySetting {
    type Err = NotASetting;

    /// Reads `key=value`.
    fn from_str(text: &str) -> Result<Self, NotASetting> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
                Ok(Self { key: key.trim().to_owned(), value: value.trim().to_owned() })
            }
            _ => Err(NotASetting(text.to_owned())),
        }
    }
}

/// One point of a sweep: a variant made of settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The variant's name.
    pub name: String,
    /// What it sets.
    pub settings: Vec<KeySetting>,
}

/// What to do with a file besides reading it.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions<'a> {
    /// The measures that `[[expect]]` may name; unchecked without.
    pub measures: Option<&'a [&'a str]>,
    /// Keys set for the file itself, and thereby for every variant that does not set them.
    pub set: &'a [KeySetting],
    /// Variants that take the place of the file's own. The file itself is then no column of its
    /// own, a point may equal it, and the file's `[[expect]]` tables are left out.
    pub points: &'a [Point],
}

/// Settings as a table, written below `text`.
pub(crate) fn append_settings(
    text: &mut String,
    title: &str,
    settings: &[KeySetting],
    mistakes: &Mistakes,
) -> (Table, Range<usize>) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let start = text.len();
    text.push_str(&format!("# {}\n", title.replace(char::is_control, " ")));
    let title = start..text.len() - 1;
    let mut table = Table::default();
    for setting in settings {
        let line = format!("{} = {}", quoted(&setting.key), as_toml(&setting.value));
        let offset = text.len();
        text.push_str(&line);
        text.push('\n');
        let Some(parsed) = parse_toml(&line, &Mistakes::default()) else {
            let span = offset..offset + line.len();
            mistakes.push(Mistake::new(span, format!("`{}` cannot be read", setting.key)));
            continue;
        };
        for mut entry in parsed.entries {
            shift_entry(&mut entry, offset);
            if table.get(&entry.key).is_some() {
                mistakes.push(
                    Mistake::new(entry.key_span, format!("`{}` is set twice", setting.key))
                        .hint("remove one of the two"),
                );
            } else {
                table.put(entry);
            }
        }
    }
    (expand_dotted(&table, mistakes), title)
}

/// The value itself where it is one TOML value on one line, else the text in quotes: a shell eats
/// quotes, and `on_execute` cannot mean anything else.
fn as_toml(value: &str) -> String {
    let is_one_value = !value.contains(['\n', '#'])
        && parse_toml(&format!("value = {value}"), &Mistakes::default())
            .is_some_and(|table| table.entries.len() == 1)
        // TOML would take such a text for a date, which no key wants.
        && !matches!(value.parse::<toml::Value>(), Ok(toml::Value::Datetime(_)));
    if is_one_value { value.to_owned() } else { quoted(value) }
}

fn shift_entry(entry: &mut Entry, offset: usize) {
    shift(&mut entry.key_span, offset);
    shift_node(&mut entry.node, offset);
}

fn shift_node(node: &mut Node, offset: usize) {
    shift(&mut node.span, offset);
    match &mut node.tree {
        Tree::List(items) => items.iter_mut().for_each(|item| shift_node(item, offset)),
        Tree::Table(table) => {
            table.entries.iter_mut().for_each(|entry| shift_entry(entry, offset));
        }
        _ => {}
    }
}

fn shift(span: &mut Range<usize>, offset: usize) {
    *span = span.start + offset..span.end + offset;
}

#[cfg(test)]
mod tests {
    use super::super::file::parse_with;
    use super::super::model::Scenario;
    use super::*;
    use sandpool_core::{Span, StartPolicy};

    const FILE: &str = "[workload.arrivals.poisson]\nper_hour = 6\n\
        [[variant]]\nname = \"a\"\n\"server.warm_sandboxes\" = 2\n\
        [[expect]]\nmeasure = \"leaked\"\nvariant = \"a\"\nmax = 0\n";

    fn settings(list: &[&str]) -> Vec<KeySetting> {
        list.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn read(set: &[&str], points: &[Point]) -> Result<Scenario, String> {
        let set = settings(set);
        let options = ReadOptions { measures: None, set: &set, points };
        parse_with("f.toml", FILE, &options).map_err(|errors| errors.to_string())
    }

    #[test]
    fn settings_apply_to_the_file_and_to_variants_that_do_not_set_them() {
        let scenario = read(
            &[
                "duration=2h",
                "server.start_policy = on_execute",
                "server.warm_sandboxes=5",
                "seed=9",
            ],
            &[],
        )
        .unwrap();
        assert_eq!((scenario.duration, scenario.seed), (Span::from_secs(7_200), 9));
        let warm: Vec<_> =
            scenario.variants.iter().map(|v| v.server.classes[0].warm_sandboxes).collect();
        assert_eq!(warm, [5, 2]);
        assert!(scenario.variants.iter().all(|v| v.server.start_policy == StartPolicy::OnExecute));
    }

    #[test]
    fn points_take_the_place_of_the_variants() {
        let points: Vec<Point> = (0..3)
            .map(|warm| Point {
                name: format!("warm {warm}"),
                settings: settings(&[&format!("server.warm_sandboxes={warm}")]),
            })
            .collect();
        let scenario = read(&[], &points).unwrap();
        let names: Vec<_> = scenario.variants.iter().map(|v| v.name.as_str()).collect();
        assert_eq!(names, ["warm 0", "warm 1", "warm 2"]);
        assert_eq!(scenario.variants[2].overrides, ["server.warm_sandboxes = 2"]);
        assert!(scenario.expectations.is_empty());
    }

    #[test]
    fn mistakes_point_at_the_setting() {
        let points =
            [Point { name: "p".to_owned(), settings: settings(&["server.idle_seconds=-1"]) }];
        insta::assert_snapshot!(
            read(&["server.warm=3", "seed=1", "seed=2", "provider.call_seconds=nan"], &points)
                .unwrap_err()
        );
    }

    #[test]
    fn only_one_value_can_be_set() {
        assert_eq!(as_toml("3"), "3");
        assert_eq!(as_toml("{ default = 1 }"), "{ default = 1 }");
        assert_eq!(as_toml("on_turn"), "\"on_turn\"");
        assert_eq!(as_toml("2h"), "\"2h\"");
        assert_eq!(as_toml("3\nseed = 4"), "\"3\\nseed = 4\"");
        assert!("server".parse::<KeySetting>().is_err());
        assert!("=3".parse::<KeySetting>().is_err());
    }
}
