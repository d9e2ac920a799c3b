//! The machine that carries the sandboxes, as far as its work can be slow, fail, hang or wait.
//!
//! The simulator's sandboxes know creates and deletes only, whose lengths its profile gives. What
//! a sandbox made over the API can also need (start, stop, archive, ...) is described here, and so
//! is what a test may ask for from outside: the next stop fails, every create takes 2.5 s, ...

use super::errands::Work;
use crate::daytona::luck::Seconds;
use crate::random::Distribution;
use sandpool_core::Span;
use std::collections::VecDeque;

/// How long the provider works at what the simulator's sandboxes never need; all in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkLatencies {
    /// From a start to started again.
    pub start: Distribution,
    /// From a stop to stopped.
    pub stop: Distribution,
    /// Copying the disk of a stopped sandbox away.
    pub archive: Distribution,
    /// Bringing an archived sandbox back.
    pub restore: Distribution,
    /// Changing a sandbox's size.
    pub resize: Distribution,
    /// Building an image.
    pub build: Distribution,
    /// Some work begins only with the next round of the provider's background loop. This is the
    /// time between two rounds, and the one in which idle sandboxes are looked for.
    pub tick: Span,
}

impl Default for WorkLatencies {
    /// Daytona, as far as it is known: the loops run every 10 s (v0.190.0), a stop has a grace of
    /// up to 10 s, an archive with an instant backup was measured at 17.7 s. The rest is assumed.
    fn default() -> Self {
        let uniform = |min, max| Distribution::Uniform { min, max };
        Self {
            start: uniform(0.5, 3.0),
            stop: uniform(1.0, 11.0),
            archive: uniform(10.0, 25.0),
            restore: uniform(5.0, 30.0),
            resize: uniform(0.5, 2.0),
            build: uniform(10.0, 60.0),
            tick: Span::from_secs(10),
        }
    }
}

impl WorkLatencies {
    /// Everything in a fifth of a second, for tests of clients: long enough to be seen.
    #[must_use]
    pub fn quick() -> Self {
        let quick = Distribution::Constant(0.2);
        Self {
            start: quick.clone(),
            stop: quick.clone(),
            archive: quick.clone(),
            restore: quick.clone(),
            resize: quick.clone(),
            build: quick,
            tick: Span::from_millis(500),
        }
    }
}

/// Whether the machine that carries the sandboxes works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunnerState {
    /// It does.
    #[default]
    Up,
    /// It does not, and the API knows: nothing is given to it.
    KnownDown,
    /// It does not, and the API has not noticed: work is given to it and not carried out.
    Silent,
}

/// The machine, and what was asked for from outside.
#[derive(Clone, Debug)]
pub(super) struct Workshop {
    pub(super) runner: RunnerState,
    latencies: [Seconds; Work::ALL.len()],
    pub(super) tick: Span,
    delays: [Option<Span>; Work::ALL.len()],
    hangs: [bool; Work::ALL.len()],
    failures: VecDeque<(Work, String)>,
}

impl Default for Workshop {
    fn default() -> Self {
        let mut workshop = Self {
            runner: RunnerState::Up,
            latencies: std::array::from_fn(|_| Seconds::Fixed(Span::ZERO)),
            tick: Span::ZERO,
            delays: [None; Work::ALL.len()],
            hangs: [false; Work::ALL.len()],
            failures: VecDeque::new(),
        };
        workshop.set_latencies(&WorkLatencies::default());
        workshop
    }
}

impl Workshop {
    pub(super) fn set_latencies(&mut self, latencies: &WorkLatencies) {
        for (work, seconds) in [
            (Work::Start, &latencies.start),
            (Work::Stop, &latencies.stop),
            (Work::Archive, &latencies.archive),
            (Work::Restore, &latencies.restore),
            (Work::Resize, &latencies.resize),
            (Work::Build, &latencies.build),
        ] {
            self.latencies[work as usize] = Seconds::from(seconds);
        }
        self.tick = latencies.tick;
    }

    /// How long work of the kind takes, where neither the profile says so (create, delete) nor
    /// somebody from outside.
    pub(super) fn latency(&self, work: Work) -> &Seconds {
        &self.latencies[work as usize]
    }

    /// What was asked for from outside, if anything.
    pub(super) fn delay(&self, work: Work) -> Option<Span> {
        self.delays[work as usize]
    }

    pub(super) fn hangs(&self, work: Work) -> bool {
        self.hangs[work as usize]
    }

    /// Takes the failure that was asked for, which strikes once.
    pub(super) fn take_failure(&mut self, work: Work) -> Option<String> {
        let place = self.failures.iter().position(|(asked, _)| *asked == work)?;
        self.failures.remove(place).map(|(_, text)| text)
    }

    pub(super) fn fail_next(&mut self, work: Work, text: String) {
        self.failures.push_back((work, text));
    }

    pub(super) fn set_delay(&mut self, work: Work, delay: Span) {
        self.delays[work as usize] = Some(delay);
    }

    pub(super) fn hang(&mut self, work: Work) {
        self.hangs[work as usize] = true;
    }

    /// Forgets everything that was asked for from outside, but the state of the machine.
    pub(super) fn behave(&mut self) {
        self.delays = [None; Work::ALL.len()];
        self.hangs = [false; Work::ALL.len()];
        self.failures.clear();
    }
}
