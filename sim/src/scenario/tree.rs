//! A TOML file as written: every key and value with its place, in the order of the file.

use super::mistake::{Mistake, Mistakes};
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Which bytes of the file hold it; of a table with a header, the header.
    pub span: Range<usize>,
    /// The value.
    pub tree: Tree,
}

/// A value.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    /// `true` or `false`.
    Flag(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
    /// A date or a time, which no key of a scenario takes.
    Date(String),
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Table),
}

/// A number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Number {
    /// Its value; may be NaN or infinite.
    pub value: f64,
    /// Its exact value when it was written as a whole number and fits.
    pub whole: Option<i64>,
    /// As written, without separators.
    pub raw: String,
}

/// The entries of a table, in the order of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// The entries.
    pub entries: Vec<Entry>,
}

/// One entry of a table.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The key.
    pub key: String,
    /// Which bytes of the file hold the key.
    pub key_span: Range<usize>,
    /// The value.
    pub node: Node,
}

impl Table {
    /// The entry of this key.
    #[must_use]
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The value of this key.
    #[must_use]
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// Takes the entry of this key out.
    pub(crate) fn remove(&mut self, key: &str) -> Option<Entry> {
        let index = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.remove(index))
    }

    /// Sets the entry of this key, in the place of an earlier one if there is one.
    pub(crate) fn put(&mut self, entry: Entry) {
        match self.entries.iter_mut().find(|old| old.key == entry.key) {
            Some(old) => *old = entry,
            None => self.entries.push(entry),
        }
    }
}

impl Node {
    /// A table at a place.
    #[must_use]
    pub(crate) fn table(table: Table, span: Range<usize>) -> Self {
        Self { span, tree: Tree::Table(table) }
    }

    /// The table, if it is one.
    #[must_use]
    pub(crate) fn as_table(&self) -> Option<&Table> {
        match &self.tree {
            Tree::Table(table) => Some(table),
            _ => None,
        }
    }

    /// What it is, in words for a message.
    #[must_use]
    pub(crate) fn describe(&self) -> String {
        match &self.tree {
            Tree::Flag(flag) => flag.to_string(),
            Tree::Number(number) => number.raw.clone(),
            Tree::Text(text) if text.chars().count() <= 40 => format!("the text {text:?}"),
            Tree::Text(_) => "a text".to_owned(),
            Tree::Date(_) => "a date".to_owned(),
            Tree::List(_) => "a list".to_owned(),
            Tree::Table(_) => "a table".to_owned(),
        }
    }

    /// The value as TOML on one line.
    #[must_use]
    pub(crate) fn to_inline(&self) -> String {
        match &self.tree {
            Tree::Flag(flag) => flag.to_string(),
            Tree::Number(number) => number.raw.clone(),
            Tree::Text(text) => quoted(text),
            Tree::Date(date) => date.clone(),
            Tree::List(items) => {
                let items: Vec<_> = items.iter().map(Node::to_inline).collect();
                format!("[{}]", items.join(", "))
            }
            Tree::Table(table) if table.entries.is_empty() => "{}".to_owned(),
            Tree::Table(table) => {
                let entries: Vec<_> = table
                    .entries
                    .iter()
                    .map(|entry| format!("{} = {}", entry.key, entry.node.to_inline()))
                    .collect();
                format!("{{ {} }}", entries.join(", "))
            }
        }
    }

    /// The value as the toml crate holds it, without places.
    #[must_use]
    pub(crate) fn to_toml(&self) -> toml::Value {
        match &self.tree {
            Tree::Flag(flag) => toml::Value::Boolean(*flag),
            Tree::Number(Number { whole: Some(whole), .. }) => toml::Value::Integer(*whole),
            Tree::Number(number) => toml::Value::Float(number.value),
            Tree::Text(text) | Tree::Date(text) => toml::Value::String(text.clone()),
            Tree::List(items) => toml::Value::Array(items.iter().map(Node::to_toml).collect()),
            Tree::Table(table) => toml::Value::Table(
                table.entries.iter().map(|e| (e.key.clone(), e.node.to_toml())).collect(),
            ),
        }
    }
}

/// A text as TOML on one line. (The toml crate writes some texts over several.)
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Reads TOML text. `None` when it is no TOML; the mistakes are then noted.
pub(crate) fn parse_toml(text: &str, mistakes: &Mistakes) -> Option<Table> {
    let (root, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Some(table(root.get_ref()));
    }
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        let mut mistake = Mistake::new(span, message.clone());
        if message.contains("duplicate key") {
            mistake = mistake.hint("a key and a table header may be written once only");
        } else if message.contains("string values must be quoted") {
            mistake = mistake.hint("write text and durations in quotes: \"24h\"");
        }
        mistakes.push(mistake);
    }
    None
}

fn table(written: &DeTable<'_>) -> Table {
    let mut entries: Vec<Entry> = written
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            key_span: key.span(),
            node: node(value.get_ref(), value.span()),
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_span.start);
    Table { entries }
}

fn node(written: &DeValue<'_>, span: Range<usize>) -> Node {
    let tree = match written {
        DeValue::Boolean(flag) => Tree::Flag(*flag),
        DeValue::Integer(integer) => {
            let whole = i64::from_str_radix(integer.as_str(), integer.radix()).ok();
            let value = whole
                .map_or_else(|| integer.as_str().parse().unwrap_or(f64::NAN), |whole| whole as f64);
            let raw = match whole {
                Some(whole) => whole.to_string(),
                None => integer.to_string(),
            };
            Tree::Number(Number { value, whole, raw })
        }
        DeValue::Float(float) => Tree::Number(Number {
            value: float.as_str().parse().unwrap_or(f64::NAN),
            whole: None,
            raw: float.as_str().to_owned(),
        }),
        DeValue::String(text) => Tree::Text(text.to_string()),
        DeValue::Datetime(date) => Tree::Date(date.to_string()),
        DeValue::Array(items) => {
            Tree::List(items.iter().map(|item| node(item.get_ref(), item.span())).collect())
        }
        DeValue::Table(inner) => Tree::Table(table(inner)),
    };
    Node { span, tree }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Table {
        let mistakes = Mistakes::default();
        parse_toml(text, &mistakes).expect("valid TOML")
    }

    #[test]
    fn places_and_order_are_those_of_the_file() {
        let text = "[z]\nb = 1_000\na = { k = \"v\" }\n[a.b]\n";
        let root = read(text);
        let keys: Vec<_> = root.entries.iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!(keys, ["z", "a"]);
        assert_eq!(&text[root.entries[0].node.span.clone()], "[z]");
        let z = root.get("z").and_then(Node::as_table).unwrap();
        assert_eq!(&text[z.entries[0].key_span.clone()], "b");
        assert_eq!(&text[z.entries[0].node.span.clone()], "1_000");
        assert_eq!(z.entries[0].node.to_inline(), "1000");
        assert_eq!(z.entries[1].node.to_inline(), "{ k = \"v\" }");
    }

    #[test]
    fn whole_numbers_stay_exact_and_odd_ones_are_kept() {
        let root = read("a = 9223372036854775807\nb = nan\nc = -inf\nd = 0x10\ne = 1e999");
        let number = |key: &str| match &root.get(key).unwrap().tree {
            Tree::Number(number) => number.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(number("a").whole, Some(i64::MAX));
        assert!(number("b").value.is_nan());
        assert_eq!(number("c").value, f64::NEG_INFINITY);
        assert_eq!(number("d").whole, Some(16));
        assert_eq!(number("e").value, f64::INFINITY);
    }

    #[test]
    fn texts_are_quoted_on_one_line_and_read_back() {
        for text in ["", "a\"b\\c", "two\nlines\tand \u{7f}\u{1}", "üñ"] {
            let written = quoted(text);
            assert!(!written.contains('\n'), "{written}");
            let root = read(&format!("a = {written}"));
            assert!(matches!(&root.get("a").unwrap().tree, Tree::Text(back) if back == text));
        }
    }

    #[test]
    fn several_syntax_errors_are_told_at_once() {
        let mistakes = Mistakes::default();
        assert!(parse_toml("a = \nb = 24h\n", &mistakes).is_none());
        assert!(mistakes.len() >= 2, "{mistakes:?}");
    }
}
