//! How a file's keys are declared. Reading, overriding, the JSON Schema and the reference page all
//! walk the same declarations.

use sandpool_core::{KEYS, KeyKind, Value};
use std::borrow::Cow;
use std::sync::LazyLock;

/// What may be written behind a key. All ranges are inclusive.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A text.
    Text,
    /// `true` or `false`.
    Flag,
    /// A whole number.
    Count {
        /// Smallest value.
        min: i64,
        /// Largest value.
        max: i64,
        /// Whether the word `"unlimited"` is allowed.
        unlimited: bool,
    },
    /// A number.
    Number {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
        /// Its unit in words; empty for a plain number.
        unit: &'static str,
        /// Whether the word `"unlimited"` is allowed.
        unlimited: bool,
    },
    /// A length of time with its unit, such as `"1h30m"`.
    Duration,
    /// A length of time, or the word `"mser5"`.
    WarmUp,
    /// A list of lengths of time, ascending.
    Durations,
    /// A list of numbers, at least one.
    Numbers {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
        /// Their unit in words; empty for plain numbers.
        unit: &'static str,
    },
    /// A distribution of non-negative numbers.
    Distribution {
        /// Their unit in words.
        unit: &'static str,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A whole number for the default class, or a table of whole numbers by class.
    CountByClass {
        /// Smallest value.
        min: i64,
        /// Largest value.
        max: i64,
    },
    /// `true`, `false`, or a table of steps that the server carries out.
    Prepare,
    /// A table.
    Table(&'static Shape),
    /// A list of tables.
    Tables(&'static Shape),
    /// A table whose keys are names.
    Named {
        /// What the names are, in capitals: `CLASS`.
        what: &'static str,
        /// What may be written behind each.
        value: &'static Kind,
    },
}

/// What holds when a key is left out.
#[derive(Clone, Debug)]
pub(crate) enum Fallback {
    /// It may not be left out.
    Required,
    /// Nothing; this is what that means.
    Unset(&'static str),
    /// This TOML value.
    Is(Cow<'static, str>),
}

/// One key.
#[derive(Clone, Debug)]
pub(crate) struct KeyDoc {
    /// The key as written.
    pub name: &'static str,
    /// What may be written.
    pub kind: Kind,
    /// What holds when it is left out.
    pub default: Fallback,
    /// What zero means, where zero is allowed and means something of its own.
    pub zero: Option<&'static str>,
    /// What the key does, in one sentence.
    pub doc: &'static str,
}

/// A table of a file.
#[derive(Debug)]
pub(crate) struct Shape {
    /// Where it stands in the file, as in a header: `provider.quota`; names in capitals.
    pub path: &'static str,
    /// What it is about, in a sentence or two.
    pub doc: &'static str,
    /// Its keys.
    pub keys: Keys,
    /// Groups of keys of which only one may be used. Overriding a key of one group takes the keys
    /// of the others away.
    pub alternatives: &'static [&'static [&'static str]],
}

/// Where a shape's keys are declared.
#[derive(Debug)]
pub(crate) enum Keys {
    /// Here.
    Listed(&'static [KeyDoc]),
    /// In [`sandpool_core::KEYS`].
    Policy,
}

impl Shape {
    /// The keys, in the order in which they are documented.
    #[must_use]
    pub(crate) fn keys(&self) -> &'static [KeyDoc] {
        match self.keys {
            Keys::Listed(keys) => keys,
            Keys::Policy => &POLICY_KEYS,
        }
    }

    /// The key of this name.
    #[must_use]
    pub(crate) fn key(&self, name: &str) -> Option<&'static KeyDoc> {
        self.keys().iter().find(|key| key.name == name)
    }
}

/// A key that may not be left out.
pub(crate) const fn required(name: &'static str, kind: Kind, doc: &'static str) -> KeyDoc {
    KeyDoc { name, kind, default: Fallback::Required, zero: None, doc }
}

/// A key whose absence means `unset`.
pub(crate) const fn unset(
    name: &'static str,
    kind: Kind,
    unset: &'static str,
    doc: &'static str,
) -> KeyDoc {
    KeyDoc { name, kind, default: Fallback::Unset(unset), zero: None, doc }
}

/// A key with a default, as TOML.
pub(crate) const fn key(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> KeyDoc {
    KeyDoc { name, kind, default: Fallback::Is(Cow::Borrowed(default)), zero: None, doc }
}

/// A key with a default, as TOML, of which zero means something of its own.
pub(crate) const fn key_zero(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    zero: &'static str,
    doc: &'static str,
) -> KeyDoc {
    KeyDoc { name, kind, default: Fallback::Is(Cow::Borrowed(default)), zero: Some(zero), doc }
}

/// A chance, 0 to 1.
pub(crate) const CHANCE: Kind = Kind::Number { min: 0.0, max: 1.0, unit: "", unlimited: false };

/// A distribution of seconds.
pub(crate) const SECONDS: Kind = Kind::Distribution { unit: "seconds" };

/// A number in a unit.
pub(crate) const fn number(min: f64, max: f64, unit: &'static str) -> Kind {
    Kind::Number { min, max, unit, unlimited: false }
}

/// The largest number that is accepted anywhere: past it, integer nanoseconds run out.
pub(crate) const HUGE: f64 = 1e9;

static POLICY_KEYS: LazyLock<Vec<KeyDoc>> = LazyLock::new(|| {
    KEYS.iter()
        .map(|key| {
            let kind = match key.kind {
                // The one key that is also written by class.
                KeyKind::Count { min, max } if key.name == "warm_sandboxes" => {
                    Kind::CountByClass { min, max }
                }
                KeyKind::Count { min, max } => Kind::Count { min, max, unlimited: false },
                KeyKind::Seconds { min, max, unlimited } => {
                    Kind::Number { min, max, unit: "seconds", unlimited }
                }
                KeyKind::Amount { min, max } => {
                    let unit = if key.name.contains("_gb") { "GB" } else { "vCPUs" };
                    Kind::Number { min, max, unit, unlimited: true }
                }
                KeyKind::Choice(words) => Kind::Choice(words),
            };
            KeyDoc {
                name: key.name,
                kind,
                default: Fallback::Is(Cow::Owned(value_as_toml(key.kind, key.default))),
                zero: key.zero,
                doc: key.doc,
            }
        })
        .collect()
});

/// A value of a policy key as TOML.
pub(crate) fn value_as_toml(kind: KeyKind, value: Value) -> String {
    match (kind, value) {
        (_, Value::Count(count)) => count.to_string(),
        (KeyKind::Choice(words), Value::Choice(index)) => {
            format!("\"{}\"", words.get(index).copied().unwrap_or_default())
        }
        (_, Value::Choice(index)) => index.to_string(),
        // A span is a whole number of nanoseconds: more digits would be noise of the division.
        (KeyKind::Seconds { .. }, Value::Number(seconds)) => trim_zeros(format!("{seconds:.9}")),
        (_, Value::Number(number)) => number.to_string(),
        (_, Value::Unlimited) => "\"unlimited\"".to_owned(),
    }
}

fn trim_zeros(number: String) -> String {
    number.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_shape_is_the_key_table() {
        let shape = Shape { path: "server", doc: "", keys: Keys::Policy, alternatives: &[] };
        let names: Vec<_> = shape.keys().iter().map(|key| key.name).collect();
        let expected: Vec<_> = KEYS.iter().map(|key| key.name).collect();
        assert_eq!(names, expected);
        assert!(matches!(shape.key("warm_sandboxes").unwrap().kind, Kind::CountByClass { .. }));
    }

    #[test]
    fn seconds_are_written_to_the_nanosecond_and_no_further() {
        let kind = KeyKind::Seconds { min: 0.0, max: 1e6, unlimited: true };
        assert_eq!(value_as_toml(kind, Value::Number(30.0)), "30");
        assert_eq!(value_as_toml(kind, Value::Number(0.1 + 0.2)), "0.3");
        assert_eq!(value_as_toml(kind, Value::Number(2_592_000.000_000_001)), "2592000.000000001");
    }
}
