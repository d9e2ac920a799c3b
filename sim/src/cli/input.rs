//! What most commands read: scenario files, a variant's name, a trace.

use super::failure::{Failure, InputProblem};
use clap::{Args, ValueEnum};
use sandpool_sim::{
    KeySetting, MEASURES, ReadOptions, RecordedTraffic, ReplayOptions, Scenario, TraceTimes,
    Variant, parse_with,
};
use std::path::{Path, PathBuf};

/// A scenario with its text.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) scenario: Scenario,
}

/// Reads one scenario file, with keys set from outside.
pub(crate) fn load_file(path: &Path, set: &[KeySetting]) -> Result<Loaded, InputProblem> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| InputProblem::Unreadable { path: path.to_owned(), source })?;
    let measures: Vec<&str> = MEASURES.iter().map(|info| info.name).collect();
    let options = ReadOptions { measures: Some(&measures), set, points: &[] };
    let scenario = parse_with(&path.to_string_lossy(), &text, &options)?;
    Ok(Loaded { path: path.to_owned(), text, scenario })
}

/// Reads every file, or fails with the mistakes of all of them.
pub(crate) fn load_files(paths: &[PathBuf], set: &[KeySetting]) -> Result<Vec<Loaded>, Failure> {
    let (mut loaded, mut problems) = (Vec::new(), Vec::new());
    for path in paths {
        match load_file(path, set) {
            Ok(file) => loaded.push(file),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(loaded) } else { Err(Failure::Input(problems)) }
}

/// As [`load_files`], for one.
pub(crate) fn load_one(path: &Path, set: &[KeySetting]) -> Result<Loaded, Failure> {
    load_file(path, set).map_err(|problem| Failure::Input(vec![problem]))
}

/// The index of the variant of this name, or of the first one.
pub(crate) fn variant_index(variants: &[Variant], name: Option<&str>) -> Result<usize, Failure> {
    let Some(name) = name else { return Ok(0) };
    variants.iter().position(|variant| variant.name == name).ok_or_else(|| {
        let known: Vec<String> = variants.iter().map(|v| format!("`{}`", v.name)).collect();
        Failure::Usage(format!(
            "there is no variant `{name}`\n  hint: the scenario has {}",
            known.join(", ")
        ))
    })
}

/// Keys of the scenario that are set from outside.
#[derive(Args, Clone, Debug)]
pub(crate) struct SettingArguments {
    /// Set a key of the scenario, such as server.warm_sandboxes=3; may be given more than once, and
    /// variants that set the key themselves keep their own value
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<KeySetting>,
}

impl SettingArguments {
    /// The arguments as they have to be typed.
    pub(crate) fn typed(&self) -> String {
        let one = |s: &KeySetting| format!(" --set {}", quoted(&format!("{}={}", s.key, s.value)));
        self.set.iter().map(one).collect()
    }
}

/// What `arrival_s` of a trace counts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimesArgument {
    /// Each conversation's own start; the starts are drawn from the scenario's arrivals.
    #[default]
    Relative,
    /// The start of the trace, which is the start of the run.
    Absolute,
}

/// A recorded trace instead of the drawn traffic.
#[derive(Args, Clone, Debug)]
pub(crate) struct TraceArguments {
    /// Replay the conversations of this CSV file; what it does not tell is drawn from [workload]
    #[arg(long, value_name = "CSV", help_heading = "Recorded traffic")]
    pub(crate) trace: Option<PathBuf>,
    /// What the trace's `arrival_s` counts from
    #[arg(
        long,
        value_name = "TIMES",
        value_enum,
        default_value_t,
        requires = "trace",
        help_heading = "Recorded traffic"
    )]
    pub(crate) trace_times: TimesArgument,
    /// Share of the conversations that each replication keeps, above 0 to 1
    #[arg(
        long,
        value_name = "SHARE",
        value_parser = share,
        default_value = "1",
        requires = "trace",
        help_heading = "Recorded traffic"
    )]
    pub(crate) trace_sample: f64,
    /// Refuse a trace in which turns of a conversation contradict each other, instead of leaving
    /// such conversations out with a warning
    #[arg(long, requires = "trace", help_heading = "Recorded traffic")]
    pub(crate) trace_strict: bool,
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("not a number above 0 and at most 1".to_owned()),
    }
}

impl TraceArguments {
    /// Reads the trace for these variants, if one is given.
    pub(crate) fn load(&self, variants: &[Variant]) -> Result<Option<RecordedTraffic>, Failure> {
        let Some(path) = &self.trace else { return Ok(None) };
        let times = match self.trace_times {
            TimesArgument::Relative => TraceTimes::Relative,
            TimesArgument::Absolute => TraceTimes::Absolute,
        };
        let options = ReplayOptions { times, sample: self.trace_sample };
        let leave_out = !self.trace_strict;
        let traffic =
            RecordedTraffic::load(path, options, leave_out, variants).map_err(|errors| {
                Failure::Input(vec![InputProblem::Trace { path: path.clone(), errors }])
            })?;
        let (left_out, kept) = traffic.left_out();
        if left_out > 0 {
            eprintln!(
                "warning: {}: {left_out} of {} conversations are left out, because their turns \
                 contradict each other\n  hint: --trace-strict shows where",
                path.display(),
                left_out + kept
            );
        }
        if traffic.arrives_all_at_once() {
            return Err(Failure::Usage(format!(
                "every conversation of {} starts at zero, so with absolute times all would arrive \
                 at once\n  hint: use --trace-times relative",
                path.display()
            )));
        }
        Ok(Some(traffic))
    }

    /// The arguments as they have to be typed to get the same traffic.
    pub(crate) fn typed(&self) -> String {
        let Some(path) = &self.trace else { return String::new() };
        let mut text = format!(" --trace {}", quoted(&path.to_string_lossy()));
        if self.trace_times == TimesArgument::Absolute {
            text.push_str(" --trace-times absolute");
        }
        if self.trace_sample < 1.0 {
            text.push_str(&format!(" --trace-sample {}", self.trace_sample));
        }
        if self.trace_strict {
            text.push_str(" --trace-strict");
        }
        text
    }
}

/// The word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        for (word, typed) in [
            ("a/b-1.toml", "a/b-1.toml"),
            ("", "''"),
            ("three warm", "'three warm'"),
            ("it's", r"'it'\''s'"),
        ] {
            assert_eq!(quoted(word), typed);
        }
    }

    #[test]
    fn a_share_is_above_zero() {
        assert_eq!(share("0.25"), Ok(0.25));
        for wrong in ["0", "1.5", "NaN", "x", "-1"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }
}
