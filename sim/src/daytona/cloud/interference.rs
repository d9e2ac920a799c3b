//! What somebody from outside may do to the provider while it runs, for tests of its clients.

use super::errands::Work;
use super::{Cloud, RunnerState};
use sandpool_core::{ProviderId, Span, Time};

impl Cloud {
    /// A sandbox vanishes, as a silent death would have it.
    pub fn kill(&mut self, now: Time, id: ProviderId) {
        if self.living_by_id(id).is_some() {
            self.die(id, now);
        }
    }

    /// The next work of the kind fails with this text, once.
    pub fn fail_next(&mut self, work: Work, text: &str) {
        self.workshop.fail_next(work, text.to_owned());
    }

    /// Work of the kind takes this long from now on.
    pub fn set_delay(&mut self, work: Work, delay: Span) {
        self.workshop.set_delay(work, delay);
    }

    /// Work of the kind never ends from now on.
    pub fn hang(&mut self, work: Work) {
        self.workshop.hang(work);
    }

    /// Work that hangs fails now.
    pub fn release(&mut self, now: Time) {
        self.release_work(now);
    }

    /// The machine that carries the sandboxes goes down, or is back and carries out what waits.
    pub fn set_runner(&mut self, now: Time, runner: RunnerState) {
        self.workshop.runner = runner;
        if runner == RunnerState::Up {
            self.resume_work(now);
        }
    }

    /// The state of the machine that carries the sandboxes.
    #[must_use]
    pub fn runner(&self) -> RunnerState {
        self.workshop.runner
    }

    /// Nothing is slow, fails or hangs any more because somebody asked for it, the machine is up,
    /// and work that hangs fails.
    pub fn behave(&mut self, now: Time) {
        self.workshop.behave();
        self.release_work(now);
        self.set_runner(now, RunnerState::Up);
    }

    /// Other tenants of the same quota hold this many sandboxes of the default size from now on.
    pub fn set_other_tenants(&mut self, sandboxes: u32) {
        self.tenants.hold(sandboxes);
    }

    /// Calls fail for this long from now on; with `silent` nobody answers.
    pub fn begin_outage(&mut self, now: Time, lasts: Span, silent: bool) {
        self.outages.begin(now, lasts, silent);
    }

    /// Whatever outage there is ends now, also one that the profile had planned for later.
    pub fn end_outages(&mut self) {
        self.outages.end_all();
    }
}
