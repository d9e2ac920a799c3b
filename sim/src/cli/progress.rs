//! A progress bar on standard error, for a person who has waited for a while.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sandpool_sim::Progress;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// No bar for work that is done sooner.
const SHOWN_AFTER: Duration = Duration::from_millis(1_500);

/// Shows how far an experiment has come.
pub(crate) struct Bar {
    bar: ProgressBar,
    is_wanted: bool,
    is_shown: AtomicBool,
}

impl Bar {
    /// A bar for the scenario of this name; never seen unless standard error is a terminal.
    pub(crate) fn new(scenario: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::hidden());
        let template = "{msg} [{bar:30}] {pos}/{len} replications, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(scenario.to_owned());
        Self { bar, is_wanted: std::io::stderr().is_terminal(), is_shown: AtomicBool::new(false) }
    }

    /// Takes note of progress.
    pub(crate) fn advance(&self, progress: Progress) {
        if !self.is_wanted {
            return;
        }
        if self.bar.elapsed() > SHOWN_AFTER && !self.is_shown.swap(true, Ordering::Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_length(progress.planned);
        self.bar.set_position(progress.done);
    }

    /// Takes the bar off the screen.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
