//! Reads one table of a file by its declared shape: types, ranges, defaults, unknown keys.

use super::distribution::read_distribution;
use super::duration::{UNIT_HINT, parse_duration};
use super::mistake::{Mistake, Mistakes, choice_of, nearest};
use super::model::WarmUp;
use super::shape::{Fallback, KeyDoc, Kind, Shape};
use super::tree::{Node, Number, Table, Tree, parse_toml};
use crate::random::Distribution;
use sandpool_core::{Resources, Span};
use std::cell::RefCell;
use std::ops::Range;

/// One table of a file, about to be read. Unknown keys are noted as it is opened; every other
/// mistake as its key is read, and reading goes on with the default.
#[derive(Debug)]
pub(crate) struct Section<'a> {
    shape: &'static Shape,
    path: String,
    table: Option<&'a Table>,
    span: Range<usize>,
    mistakes: &'a Mistakes,
    asked: RefCell<Vec<&'static str>>,
}

impl<'a> Section<'a> {
    /// Opens a table; `node` is `None` where the file leaves it out, and `span` is then the place
    /// that mistakes about it point at.
    #[must_use]
    pub(crate) fn open(
        shape: &'static Shape,
        path: impl Into<String>,
        node: Option<&'a Node>,
        span: Range<usize>,
        mistakes: &'a Mistakes,
    ) -> Self {
        let path = path.into();
        let table = node.and_then(|node| {
            let table = node.as_table();
            if table.is_none() {
                mistakes.push(
                    wrong(node, &path, "a table").hint(format!("write [{path}] above its keys")),
                );
            }
            table
        });
        let span = node.map_or(span, |node| node.span.clone());
        let section =
            Section { shape, path, table, span, mistakes, asked: RefCell::new(Vec::new()) };
        section.note_unknown_keys();
        section
    }

    /// Opens the root of a file.
    #[must_use]
    pub(crate) fn root(shape: &'static Shape, table: &'a Table, mistakes: &'a Mistakes) -> Self {
        let section = Section {
            shape,
            path: String::new(),
            table: Some(table),
            span: 0..0,
            mistakes,
            asked: RefCell::new(Vec::new()),
        };
        section.note_unknown_keys();
        section
    }

    fn note_unknown_keys(&self) {
        let Some(table) = self.table else { return };
        for entry in &table.entries {
            if self.shape.key(&entry.key).is_some() {
                continue;
            }
            let place = if self.path.is_empty() {
                "at the top of the file".to_owned()
            } else {
                format!("in {}", tick(&self.path))
            };
            let names = self.shape.keys().iter().map(|key| key.name);
            let hint = match nearest(&entry.key, names) {
                Some(name) => format!("did you mean `{name}`?"),
                None => known_keys(self.shape),
            };
            self.mistakes.push(
                Mistake::new(
                    entry.key_span.clone(),
                    format!("unknown key `{}` {place}", entry.key),
                )
                .hint(hint),
            );
        }
    }

    /// Where mistakes about the table as a whole point.
    #[must_use]
    pub(crate) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Where the mistakes go.
    #[must_use]
    pub(crate) fn mistakes(&self) -> &'a Mistakes {
        self.mistakes
    }

    /// Whether the file has this table at all.
    #[must_use]
    pub(crate) fn is_written(&self) -> bool {
        self.table.is_some()
    }

    /// The full name of a key, for messages.
    #[must_use]
    pub(crate) fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// The value of a key as written, if it is.
    ///
    /// # Panics
    /// When the shape does not declare the key: whoever adds a key must document it.
    pub(crate) fn node(&self, name: &'static str) -> Option<&'a Node> {
        let declared = self.shape.key(name);
        assert!(declared.is_some(), "{:?} does not declare {name:?}", self.shape.path);
        self.asked.borrow_mut().push(name);
        self.table?.get(name)
    }

    /// Whether a key is written.
    #[must_use]
    pub(crate) fn has(&self, name: &str) -> bool {
        self.table.is_some_and(|table| table.get(name).is_some())
    }

    /// Notes a mistake at a key, or at the whole table where the key is not written.
    pub(crate) fn mistake_at(
        &self,
        name: &str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        match self.table.and_then(|table| table.get(name)) {
            Some(node) => {
                self.mistakes.push(Mistake::new(node.span.clone(), message).hint(hint));
            }
            None => self.mistakes.push_whole(Mistake::new(self.span(), message).hint(hint)),
        }
    }

    /// Which group of the shape's alternatives is written. More than one is a mistake; none is one
    /// if `needed`.
    pub(crate) fn alternative(&self, needed: bool) -> Option<usize> {
        let written: Vec<usize> = (0..self.shape.alternatives.len())
            .filter(|&group| self.shape.alternatives[group].iter().any(|name| self.has(name)))
            .collect();
        let choices = || choice_of(self.shape.alternatives.iter().map(|group| group[0]));
        let place = tick(&self.path);
        match written.as_slice() {
            [one] => return Some(*one),
            [] if !needed => {}
            [] => {
                // An unknown key in here is most likely the one that is missed, and already told.
                if self.table.is_none_or(|table| table.entries.is_empty()) {
                    self.mistakes.push_whole(
                        Mistake::new(self.span(), format!("{place} says nothing"))
                            .hint(format!("write one of {}", choices())),
                    );
                }
            }
            several => {
                let names: Vec<_> = several
                    .iter()
                    .flat_map(|&group| self.shape.alternatives[group])
                    .copied()
                    .filter(|name| self.has(name))
                    .map(tick)
                    .collect();
                self.mistakes.push_whole(
                    Mistake::new(
                        self.span(),
                        format!("{place} has {}, which exclude each other", names.join(" and ")),
                    )
                    .hint(format!("write one of {}", choices())),
                );
                return Some(several[0]);
            }
        }
        None
    }

    fn value<T>(
        &self,
        name: &'static str,
        convert: impl Fn(&Node, &KeyDoc, &str) -> Result<T, Mistake>,
    ) -> Option<T> {
        let node = self.node(name);
        let key = self.shape.key(name)?;
        let path = self.path_of(name);
        if let Some(node) = node {
            match convert(node, key, &path) {
                Ok(value) => return Some(value),
                Err(mistake) => self.mistakes.push(mistake),
            }
        }
        match &key.default {
            Fallback::Unset(_) => None,
            Fallback::Required => {
                if node.is_none() {
                    self.mistakes.push_whole(
                        Mistake::new(self.span(), format!("{} is missing", tick(&path)))
                            .hint(format!("write {name} = {}", example(&key.kind))),
                    );
                }
                None
            }
            Fallback::Is(text) => Some(
                convert(&toml_value(text), key, &path)
                    .unwrap_or_else(|mistake| panic!("{path}: {}", mistake.message)),
            ),
        }
    }

    /// A text.
    pub(crate) fn text(&self, name: &'static str) -> Option<String> {
        self.value(name, |node, _, path| match &node.tree {
            Tree::Text(text) => Ok(text.clone()),
            _ => Err(wrong(node, path, "a text in quotes")),
        })
    }

    /// `true` or `false`.
    pub(crate) fn flag(&self, name: &'static str) -> Option<bool> {
        self.value(name, |node, _, path| match node.tree {
            Tree::Flag(flag) => Ok(flag),
            _ => Err(wrong(node, path, "true or false")),
        })
    }

    /// A whole number, [`Resources::UNLIMITED`] for `"unlimited"`.
    pub(crate) fn count(&self, name: &'static str) -> Option<i64> {
        self.value(name, count_of)
    }

    /// A number, infinite for `"unlimited"`.
    pub(crate) fn number(&self, name: &'static str) -> Option<f64> {
        self.value(name, number_of)
    }

    /// A list of numbers.
    pub(crate) fn numbers(&self, name: &'static str) -> Option<Vec<f64>> {
        self.value(name, |node, key, path| {
            let Kind::Numbers { min, max, unit } = key.kind else { panic!("{path} is no list") };
            let kind = Kind::Number { min, max, unit, unlimited: false };
            let item_key = KeyDoc { kind, ..key.clone() };
            match &node.tree {
                Tree::List(items) if items.is_empty() => {
                    Err(Mistake::new(node.span.clone(), format!("{} is empty", tick(path)))
                        .hint("write at least one number"))
                }
                Tree::List(items) => {
                    items.iter().map(|item| number_of(item, &item_key, path)).collect()
                }
                _ => Err(wrong(node, path, "a list of numbers")),
            }
        })
    }

    /// A length of time.
    pub(crate) fn span_of(&self, name: &'static str) -> Option<Span> {
        self.value(name, |node, _, path| duration_of(node, path))
    }

    /// A list of lengths of time, which must ascend.
    pub(crate) fn spans(&self, name: &'static str) -> Option<Vec<Span>> {
        self.value(name, |node, _, path| {
            let Tree::List(items) = &node.tree else {
                return Err(wrong(node, path, "a list of times such as [\"1h\", \"2h30m\"]"));
            };
            let mut spans = Vec::with_capacity(items.len());
            for item in items {
                let span = duration_of(item, path)?;
                if spans.last().is_some_and(|last| *last > span) {
                    return Err(Mistake::new(
                        item.span.clone(),
                        format!(
                            "{} must ascend, but {} comes after a later time",
                            tick(path),
                            item.describe()
                        ),
                    )
                    .hint("write the times in order"));
                }
                spans.push(span);
            }
            Ok(spans)
        })
    }

    /// A length of time, or `"mser5"`.
    pub(crate) fn warm_up(&self, name: &'static str) -> Option<WarmUp> {
        self.value(name, |node, _, path| match &node.tree {
            Tree::Text(text) if text == "mser5" => Ok(WarmUp::Mser5),
            _ => duration_of(node, path).map(WarmUp::Fixed).map_err(|mut mistake| {
                mistake.hint = Some(format!("{UNIT_HINT}, or \"mser5\""));
                mistake
            }),
        })
    }

    /// A distribution; its own mistakes are all noted.
    pub(crate) fn distribution(&self, name: &'static str) -> Option<Distribution> {
        let mistakes = self.mistakes;
        self.value(name, |node, _, path| Ok(read_distribution(node, path, mistakes)))
    }

    /// A table within this one, written or not.
    pub(crate) fn section(&self, name: &'static str) -> Section<'a> {
        let node = self.node(name);
        let Some(KeyDoc { kind: Kind::Table(shape), .. }) = self.shape.key(name) else {
            panic!("{} is no table", self.path_of(name))
        };
        Section::open(shape, self.path_of(name), node, self.span(), self.mistakes)
    }

    /// The tables of a list within this one.
    pub(crate) fn sections(&self, name: &'static str) -> Vec<Section<'a>> {
        let Some(KeyDoc { kind: Kind::Tables(shape), .. }) = self.shape.key(name) else {
            panic!("{} is no list of tables", self.path_of(name))
        };
        let path = self.path_of(name);
        match self.node(name) {
            None => Vec::new(),
            Some(Node { tree: Tree::List(items), .. }) => items
                .iter()
                .map(|item| {
                    Section::open(shape, path.clone(), Some(item), item.span.clone(), self.mistakes)
                })
                .collect(),
            Some(node) => {
                self.mistakes.push(
                    wrong(node, &path, "a list of tables")
                        .hint(format!("write [[{path}]] above each of them")),
                );
                Vec::new()
            }
        }
    }

    /// The entries of a table whose keys are names: name, its place, value.
    pub(crate) fn named(&self, name: &'static str) -> Vec<(&'a str, Range<usize>, &'a Node)> {
        let path = self.path_of(name);
        match self.node(name) {
            None => Vec::new(),
            Some(Node { tree: Tree::Table(table), .. }) => table
                .entries
                .iter()
                .map(|entry| (entry.key.as_str(), entry.key_span.clone(), &entry.node))
                .collect(),
            Some(node) => {
                self.mistakes.push(wrong(node, &path, "a table by name"));
                Vec::new()
            }
        }
    }

    /// Done with this table.
    ///
    /// # Panics
    /// In builds with debug assertions, when a key is declared that was never read: the reference
    /// would promise what does not work.
    pub(crate) fn finish(self) {
        let asked = self.asked.borrow();
        for key in self.shape.keys() {
            debug_assert!(
                asked.contains(&key.name),
                "{:?} declares {:?} but does not read it",
                self.shape.path,
                key.name
            );
        }
    }
}

/// A name in back-ticks.
pub(crate) fn tick(name: impl AsRef<str>) -> String {
    format!("`{}`", name.as_ref())
}

/// The most keys that a hint lists.
const MAX_LISTED: usize = 24;

fn known_keys(shape: &Shape) -> String {
    if shape.keys().len() > MAX_LISTED {
        return format!("docs/scenario-reference.md lists the keys of `{}`", shape.path);
    }
    format!("known here: {}", choice_of(shape.keys().iter().map(|key| key.name)))
}

/// A value that the program itself wrote down as TOML.
pub(crate) fn toml_value(text: &str) -> Node {
    let mistakes = Mistakes::default();
    parse_toml(&format!("value = {text}"), &mistakes)
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| panic!("{text:?} is no TOML value: {mistakes:?}"))
        .node
}

/// "must be WANTED, not WHAT IS WRITTEN".
pub(crate) fn wrong(node: &Node, path: &str, wanted: &str) -> Mistake {
    Mistake::new(
        node.span.clone(),
        format!("{} must be {wanted}, not {}", tick(path), node.describe()),
    )
}

/// What a number may be, in words: `a number of seconds from 0 to 60`.
pub(crate) fn range_text(kind: &Kind) -> String {
    let or_unlimited = |unlimited: bool| if unlimited { " or \"unlimited\"" } else { "" };
    match *kind {
        Kind::Count { min, max, unlimited } => {
            format!("a whole number from {min} to {max}{}", or_unlimited(unlimited))
        }
        Kind::Number { min, max, unit, unlimited } => {
            let of = if unit.is_empty() { String::new() } else { format!(" of {unit}") };
            format!("a number{of} from {min} to {max}{}", or_unlimited(unlimited))
        }
        _ => String::new(),
    }
}

fn takes_unlimited(kind: &Kind) -> bool {
    matches!(kind, Kind::Count { unlimited: true, .. } | Kind::Number { unlimited: true, .. })
}

/// A hint for a text where a number belongs.
fn number_hint(text: &str, kind: &Kind) -> Option<String> {
    let text = text.trim();
    let unit = match kind {
        Kind::Number { unit, .. } => unit,
        _ => "",
    };
    if text.parse::<f64>().is_ok_and(f64::is_finite) {
        return Some(format!("write it without quotes: {text}"));
    }
    if unit == "seconds" {
        let seconds = parse_duration(text).ok()?.as_secs_f64();
        return Some(format!("this key is in seconds: write {seconds}"));
    }
    let end = text.find(|c: char| c.is_alphabetic() || c == '%' || c == ' ')?;
    let number: f64 = text[..end].parse().ok()?;
    if text.ends_with('%') && unit.is_empty() {
        return Some(format!("this key is a share of 1: write {}", number / 100.0));
    }
    (!unit.is_empty()).then(|| format!("this key is in {unit}: write {number} if that is meant"))
}

/// A whole number in range.
pub(crate) fn count_of(node: &Node, key: &KeyDoc, path: &str) -> Result<i64, Mistake> {
    let (min, max) = match key.kind {
        Kind::Count { min, max, .. } | Kind::CountByClass { min, max } => (min, max),
        _ => panic!("{path} is no count"),
    };
    let range = range_text(&Kind::Count { min, max, unlimited: takes_unlimited(&key.kind) });
    match &node.tree {
        Tree::Number(Number { whole: Some(whole), .. }) if (min..=max).contains(whole) => {
            Ok(*whole)
        }
        Tree::Text(text) if text == "unlimited" && takes_unlimited(&key.kind) => {
            Ok(Resources::UNLIMITED)
        }
        Tree::Text(text) => {
            let mut mistake = wrong(node, path, &range);
            mistake.hint = number_hint(text, &key.kind);
            Err(mistake)
        }
        Tree::Number(Number { whole: None, value, .. })
            if value.fract() == 0.0 && (min as f64..=max as f64).contains(value) =>
        {
            Err(wrong(node, path, &range).hint(format!("write it without a point: {value}")))
        }
        _ => Err(wrong(node, path, &range)),
    }
}

/// A finite number in range; infinite only for `"unlimited"`.
pub(crate) fn number_of(node: &Node, key: &KeyDoc, path: &str) -> Result<f64, Mistake> {
    let Kind::Number { min, max, .. } = key.kind else { panic!("{path} is no number") };
    let range = range_text(&key.kind);
    match &node.tree {
        Tree::Number(number) if (min..=max).contains(&number.value) => Ok(number.value),
        Tree::Text(text) if text == "unlimited" && takes_unlimited(&key.kind) => Ok(f64::INFINITY),
        Tree::Text(text) => {
            let mut mistake = wrong(node, path, &range);
            mistake.hint = number_hint(text, &key.kind);
            Err(mistake)
        }
        Tree::Number(number) if number.value == f64::INFINITY && takes_unlimited(&key.kind) => {
            Err(wrong(node, path, &range).hint("write \"unlimited\""))
        }
        _ => Err(wrong(node, path, &range)),
    }
}

/// The index of the chosen word.
pub(crate) fn choice_index(node: &Node, key: &KeyDoc, path: &str) -> Result<usize, Mistake> {
    let Kind::Choice(words) = key.kind else { panic!("{path} is no choice") };
    let quoted: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
    let allowed = match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.join(""),
    };
    let Tree::Text(text) = &node.tree else { return Err(wrong(node, path, &allowed)) };
    words.iter().position(|word| word == text).ok_or_else(|| {
        let mistake = wrong(node, path, &allowed);
        match nearest(text, words.iter().copied()) {
            Some(word) => mistake.hint(format!("did you mean \"{word}\"?")),
            None => mistake,
        }
    })
}

/// A length of time.
pub(crate) fn duration_of(node: &Node, path: &str) -> Result<Span, Mistake> {
    match &node.tree {
        Tree::Text(text) => parse_duration(text).map_err(|what| {
            Mistake::new(node.span.clone(), format!("{} {what}: {text:?}", tick(path)))
                .hint(UNIT_HINT)
        }),
        _ => Err(wrong(node, path, "a length of time in quotes").hint(UNIT_HINT)),
    }
}

/// A value that a key of this kind could have, for hints.
fn example(kind: &Kind) -> &'static str {
    match kind {
        Kind::Text => "\"...\"",
        Kind::Flag | Kind::Prepare => "true",
        Kind::Count { .. } | Kind::Number { .. } | Kind::CountByClass { .. } => "..., a number",
        Kind::Duration | Kind::WarmUp => "\"1h\"",
        Kind::Durations => "[\"1h\", \"2h\"]",
        Kind::Numbers { .. } => "[1, 2]",
        Kind::Distribution { .. } => "{ exponential = { mean = 3 } }",
        Kind::Choice(words) => words[0],
        Kind::Table(_) | Kind::Tables(_) | Kind::Named { .. } => "{ ... }",
    }
}

/// An amount in `units`, [`Resources::UNLIMITED`] for an infinite one.
pub(crate) fn unlimited_or(amount: f64, units: f64) -> i64 {
    if amount.is_finite() { (amount * units).round() as i64 } else { Resources::UNLIMITED }
}

#[cfg(test)]
mod tests {
    use super::super::shape::{Keys, key, number, required};
    use super::*;

    static SHAPE: Shape = Shape {
        path: "box",
        doc: "",
        keys: Keys::Listed(&[
            required("name", Kind::Text, ""),
            key("width_seconds", number(0.0, 60.0, "seconds"), "3", ""),
            key("height", Kind::Count { min: 1, max: 9, unlimited: true }, "2", ""),
            key("at", Kind::Durations, "[]", ""),
        ]),
        alternatives: &[],
    };

    type Told = Vec<(String, Option<String>)>;

    fn read(text: &str) -> (Option<f64>, Option<i64>, Told) {
        let mistakes = Mistakes::default();
        let root = parse_toml(text, &mistakes).unwrap();
        let section = Section::root(&SHAPE, &root, &mistakes);
        section.text("name");
        let width = section.number("width_seconds");
        let height = section.count("height");
        section.spans("at");
        section.finish();
        let told = match mistakes.or((), "f", text) {
            Ok(()) => Vec::new(),
            Err(errors) => errors.mistakes.into_iter().map(|m| (m.message, m.hint)).collect(),
        };
        (width, height, told)
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        assert_eq!(read("name = \"a\""), (Some(3.0), Some(2), Vec::new()));
        let (_, height, told) = read("name = \"a\"\nheight = \"unlimited\"");
        assert_eq!((height, told.len()), (Some(Resources::UNLIMITED), 0));
    }

    #[test]
    fn hints_convert_what_was_meant() {
        let hint = |text: &str| read(&format!("name = \"a\"\n{text}")).2[0].1.clone().unwrap();
        assert_eq!(hint("width_seconds = \"0.5m\""), "this key is in seconds: write 30");
        assert_eq!(hint("width_seconds = \"7\""), "write it without quotes: 7");
        assert_eq!(hint("height = 3.0"), "write it without a point: 3");
        assert_eq!(hint("hight = 3"), "did you mean `height`?");
        assert_eq!(hint("at = [\"2h\", \"1h\"]"), "write the times in order");
    }

    #[test]
    fn a_wrong_value_counts_as_its_default_and_is_told() {
        let (width, height, told) = read("width_seconds = nan\nheight = 10");
        assert_eq!((width, height), (Some(3.0), Some(2)));
        let messages: Vec<_> = told.iter().map(|(message, _)| message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "`name` is missing",
                "`width_seconds` must be a number of seconds from 0 to 60, not nan",
                "`height` must be a whole number from 1 to 9 or \"unlimited\", not 10",
            ]
        );
    }

    #[test]
    #[should_panic(expected = "does not declare")]
    fn an_undocumented_key_cannot_be_read() {
        let mistakes = Mistakes::default();
        let root = parse_toml("", &mistakes).unwrap();
        Section::root(&SHAPE, &root, &mistakes).node("depth");
    }
}
