//! Mistakes in a file: where each is, what is wrong, what to do. They are collected, so that a
//! user sees all of them at once.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::Range;

/// One mistake in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Which bytes of the file it is about.
    pub span: Range<usize>,
    /// What is wrong, a lowercase fragment.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Mistake {
    /// A mistake without a hint.
    pub fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), hint: None }
    }

    /// The same mistake with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Every mistake of one file, in the order of their places in it. Displayed as plain text, two
/// lines a mistake: `file:line:column: message` and `  hint: ..`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScenarioErrors {
    /// What the file is called.
    pub file: String,
    /// Its text.
    pub text: String,
    /// The mistakes; at least one.
    pub mistakes: Vec<Mistake>,
}

impl ScenarioErrors {
    /// Line and column of a byte of the file, both from 1; columns count characters.
    #[must_use]
    pub fn line_column(&self, byte: usize) -> (usize, usize) {
        let mut end = byte.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &self.text[..end];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }
}

impl fmt::Display for ScenarioErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.mistakes.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            let (line, column) = self.line_column(mistake.span.start);
            write!(f, "{}:{line}:{column}: {}", self.file, mistake.message)?;
            if let Some(hint) = &mistake.hint {
                write!(f, "\n  hint: {hint}")?;
            }
        }
        Ok(())
    }
}

/// Collects mistakes while a file is read.
#[derive(Debug, Default)]
pub(crate) struct Mistakes {
    found: RefCell<Vec<Found>>,
    inheritable: Cell<usize>,
}

#[derive(Debug)]
struct Found {
    mistake: Mistake,
    whole: bool,
}

impl Mistakes {
    /// Notes a mistake about what is written at its place.
    pub(crate) fn push(&self, mistake: Mistake) {
        self.add(Found { mistake, whole: false });
    }

    /// Notes a mistake about a section as a whole (a key that is missing, keys that contradict
    /// each other). It may point elsewhere in a variant that inherits it; see [`Self::end_base`].
    pub(crate) fn push_whole(&self, mistake: Mistake) {
        self.add(Found { mistake, whole: true });
    }

    /// From here on variants are read, which are laid over what was read so far and inherit its
    /// mistakes: those about a section as a whole are not told again for each variant.
    pub(crate) fn end_base(&self) {
        self.inheritable.set(self.len());
    }

    fn add(&self, new: Found) {
        let mut found = self.found.borrow_mut();
        let known = found.iter().enumerate().any(|(index, old)| {
            let inherited = old.whole && new.whole && index < self.inheritable.get();
            old.mistake.message == new.mistake.message
                && (inherited || old.mistake.span == new.mistake.span)
        });
        if !known {
            found.push(new);
        }
    }

    /// How many there are.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.found.borrow().len()
    }

    /// `value`, unless mistakes were noted.
    ///
    /// # Errors
    /// With every mistake that was noted, ordered by place.
    pub(crate) fn or<T>(self, value: T, file: &str, text: &str) -> Result<T, ScenarioErrors> {
        if self.len() == 0 { Ok(value) } else { Err(self.told(file, text)) }
    }

    /// Every mistake that was noted, ordered by place.
    pub(crate) fn told(self, file: &str, text: &str) -> ScenarioErrors {
        let mut mistakes: Vec<_> =
            self.found.into_inner().into_iter().map(|found| found.mistake).collect();
        mistakes.sort_by_key(|mistake| (mistake.span.start, mistake.span.end));
        ScenarioErrors { file: file.to_owned(), text: text.to_owned(), mistakes }
    }
}

/// The units in which keys end.
const UNITS: [&str; 3] = ["_seconds", "_gb", "_per_hour"];

/// The known name that `written` is most likely meant to be, if any is near enough.
pub(crate) fn nearest<'k>(
    written: &str,
    known: impl IntoIterator<Item = &'k str>,
) -> Option<&'k str> {
    let written = written.to_lowercase().replace('-', "_");
    known
        .into_iter()
        .filter_map(|name| {
            // A unit that was left out.
            let completed = name.strip_prefix(&written).is_some_and(|rest| UNITS.contains(&rest));
            let distance = if completed { 0 } else { strsim::osa_distance(&written, name) };
            // A name that was cut short or lengthened by a unit is meant more often than its edit
            // distance says.
            let prefix = written.len() >= 3
                && name.len() >= 3
                && (name.starts_with(&written) || written.starts_with(name));
            let allowed = (name.len().max(written.len()) / 3).clamp(1, 5);
            (prefix || distance <= allowed).then_some((distance, name))
        })
        .min_by_key(|&(distance, name)| (distance, name))
        .map(|(_, name)| name)
}

/// `one, two or three`, each in back-ticks.
pub(crate) fn choice_of<'k>(names: impl IntoIterator<Item = &'k str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_lines_start_at_one() {
        let errors =
            ScenarioErrors {
                file: "f".into(), text: "a\näöx = 1\n".into(), mistakes: Vec::new()
            };
        assert_eq!(errors.line_column(0), (1, 1));
        assert_eq!(errors.line_column("a\näö".len()), (2, 3));
        // The middle of a character belongs to that character, and the end of the file exists.
        assert_eq!(errors.line_column(3), (2, 1));
        assert_eq!(errors.line_column(usize::MAX), (3, 1));
    }

    #[test]
    fn only_likely_names_are_suggested() {
        let known = [
            "max_sandboxes",
            "max_sandboxes_per_account",
            "idle_policy",
            "idle_seconds",
            "warm_max",
        ];
        assert_eq!(nearest("max_sandbox", known), Some("max_sandboxes"));
        assert_eq!(nearest("idle", known), Some("idle_seconds"));
        assert_eq!(nearest("Warm-Max", known), Some("warm_max"));
        assert_eq!(nearest("colour", known), None);
    }

    #[test]
    fn a_mistake_inherited_by_a_variant_is_told_once() {
        let mistakes = Mistakes::default();
        mistakes.push_whole(Mistake::new(0..1, "`at` is missing"));
        mistakes.end_base();
        mistakes.push_whole(Mistake::new(9..12, "`at` is missing"));
        mistakes.push(Mistake::new(3..4, "unknown"));
        mistakes.push(Mistake::new(3..4, "unknown"));
        mistakes.push(Mistake::new(5..6, "unknown"));
        assert_eq!(mistakes.len(), 3);
    }
}
