//! How the mistakes of a scenario file look in a terminal: each with its lines of the file, the
//! place underlined, and what to do. The plain form, `file:line:column: message` with a `hint:`
//! line, is the [`Display`](std::fmt::Display) of [`ScenarioErrors`] itself.

use super::mistake::{Mistake, ScenarioErrors};
use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode,
};
use std::fmt;

/// The mistakes of one file as a diagnostic: one related diagnostic per mistake, each with a label
/// and its hint as help.
#[derive(Debug)]
pub struct ScenarioDiagnostic {
    summary: String,
    source: NamedSource<String>,
    mistakes: Vec<MistakeDiagnostic>,
}

#[derive(Debug)]
struct MistakeDiagnostic {
    mistake: Mistake,
    /// Clamped to the text, so that a mistake at its end can still be drawn.
    offset: usize,
    length: usize,
}

impl From<ScenarioErrors> for ScenarioDiagnostic {
    fn from(errors: ScenarioErrors) -> Self {
        let count = errors.mistakes.len();
        let summary = format!(
            "{count} {} in {}",
            if count == 1 { "mistake" } else { "mistakes" },
            errors.file
        );
        let mistakes = errors
            .mistakes
            .iter()
            .map(|mistake| {
                let offset = mistake.span.start.min(errors.text.len());
                let end = mistake.span.end.min(errors.text.len()).max(offset);
                MistakeDiagnostic { mistake: mistake.clone(), offset, length: end - offset }
            })
            .collect();
        let source = NamedSource::new(&errors.file, errors.text.clone());
        Self { summary, source, mistakes }
    }
}

impl fmt::Display for ScenarioDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary)
    }
}

impl std::error::Error for ScenarioDiagnostic {}

impl Diagnostic for ScenarioDiagnostic {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.mistakes.iter().map(|mistake| mistake as &dyn Diagnostic)))
    }
}

impl fmt::Display for MistakeDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.mistake.message)
    }
}

impl std::error::Error for MistakeDiagnostic {}

impl Diagnostic for MistakeDiagnostic {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.mistake.hint.as_ref().map(|hint| Box::new(hint) as Box<dyn fmt::Display>)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = LabeledSpan::new(Some("here".to_owned()), self.offset, self.length);
        Some(Box::new(std::iter::once(label)))
    }
}

/// The mistakes as text for a terminal of `width` columns: drawn with colours, or plain without.
#[must_use]
pub fn render_mistakes(errors: &ScenarioErrors, colours: bool, width: usize) -> String {
    if !colours {
        return format!("{errors}\n");
    }
    let mut text = String::new();
    let drawn = GraphicalReportHandler::new_themed(GraphicalTheme::unicode())
        .with_width(width)
        .with_context_lines(1)
        .render_report(&mut text, &ScenarioDiagnostic::from(errors.clone()));
    match drawn {
        Ok(()) => text,
        Err(_) => format!("{errors}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::parse;
    use super::*;

    fn errors() -> ScenarioErrors {
        let text = "[workload.arrivals.poisson]\nper_hour = nan\n\n[server]\nidle = 3\n";
        parse("pool.toml", text).unwrap_err()
    }

    #[test]
    fn the_plain_form_needs_no_colour() {
        let text = render_mistakes(&errors(), false, 80);
        assert!(text.contains("pool.toml:2:12: "), "{text}");
        assert!(text.contains("\n  hint: did you mean `idle_seconds`?\n"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn the_drawn_form_shows_every_mistake_with_place_line_and_help() {
        let text = render_mistakes(&errors(), true, 100);
        for part in ["2 mistakes", "pool.toml:2:12", "pool.toml:5:1", "idle = 3", "idle_seconds"] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }

    #[test]
    fn mistakes_at_the_end_of_the_text_can_be_drawn() {
        for text in ["", "name = ", "[server", "x = \"ä"] {
            let errors = parse("f", text).unwrap_err();
            let drawn = render_mistakes(&errors, true, 80);
            assert!(drawn.contains("f:1:"), "{text:?}\n{drawn}");
        }
    }
}
