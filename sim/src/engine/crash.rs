//! Crashes of our own server: everything in memory is gone, commands in flight are lost to their
//! callers and run on at the provider; the store and the provider's sandboxes stay.

use super::client::Step;
use super::observer::What;
use super::world::{RunOptions, World};
use crate::random::{Distribution, Purpose, Stream};
use crate::scenario::Crashes;
use sandpool_core::{Input, Span, Time};

/// When our server crashes next, and when it is back.
#[derive(Debug)]
pub(super) struct CrashTimes {
    planned: Vec<Time>,
    random: Option<(Stream, Distribution)>,
    next_random: Time,
    restart_after: Span,
    back_at: Time,
}

impl CrashTimes {
    pub(super) fn new(crashes: &Crashes, options: &RunOptions) -> Self {
        let mut planned: Vec<Time> = crashes.at.iter().map(|&at| Time::ZERO.plus(at)).collect();
        planned.sort_unstable();
        planned.reverse();
        let mut times = Self {
            planned,
            random: (crashes.per_hour > 0.0).then(|| {
                let stream = Stream::new(options.seed, options.replication, Purpose::Crash, 0);
                (stream, Distribution::Exponential { mean: 3_600.0 / crashes.per_hour })
            }),
            next_random: Time::MAX,
            restart_after: crashes.restart_after,
            back_at: Time::MAX,
        };
        times.draw(Time::ZERO);
        times
    }

    fn draw(&mut self, from: Time) {
        if let Some((stream, gap)) = &mut self.random {
            self.next_random = from.plus(gap.sample_span(stream));
        }
    }

    /// Whether there will be any crash.
    pub(super) fn any(&self) -> bool {
        !self.planned.is_empty() || self.random.is_some()
    }

    pub(super) fn next(&self) -> Time {
        self.planned.last().copied().unwrap_or(Time::MAX).min(self.next_random)
    }

    pub(super) fn back_at(&self) -> Time {
        self.back_at
    }

    pub(super) fn stop(&mut self) {
        self.planned.clear();
        self.random = None;
        self.next_random = Time::MAX;
    }
}

impl World<'_> {
    /// The next crash, restart, or end of a stray command.
    pub(super) fn next_disturbance(&self) -> Time {
        let server = if self.driver.is_some() { self.crashes.next() } else { self.crashes.back_at };
        let stray = self.stray_commands.first().map_or(Time::MAX, |&(at, _)| at);
        server.min(stray)
    }

    pub(super) fn disturb(&mut self) {
        let now = self.now;
        if self.stray_commands.first().is_some_and(|&(at, _)| at <= now) {
            let (_, provider) = self.stray_commands.remove(0);
            self.machine_mut().execute_ended(now, provider);
        } else if self.driver.is_some() {
            self.crash();
        } else {
            self.crashes.back_at = Time::MAX;
            self.start_server();
        }
    }

    fn crash(&mut self) {
        let now = self.now;
        self.watch.note(now, What::Crash);
        self.remember_lost_files();
        let driver = self.driver.take().expect("the server is up");
        let (_, _, mut machine) = driver.into_parts();
        machine.forget_clients();
        self.stranded = Some(machine);
        self.watch.measures.crash(now);
        self.watch.answers.clear();
        while self.crashes.planned.last().is_some_and(|&at| at <= now) {
            self.crashes.planned.pop();
        }
        let back_at = now.plus(self.crashes.restart_after.max(Span::from_millis(1)));
        self.crashes.back_at = back_at;
        if self.crashes.next_random <= now {
            self.crashes.draw(back_at);
        }
        for slot in 0..self.clients.len() {
            self.interrupt(slot);
        }
        self.stray_commands.sort_unstable();
    }

    /// The store keeps of whom nobody has told yet that their files are gone.
    fn remember_lost_files(&mut self) {
        let Some(driver) = &self.driver else { return };
        for client in self.clients.iter_mut().flatten() {
            let view = driver.scheduler().conversation(client.id);
            client.files_lost = view.and_then(|view| view.files_lost);
        }
    }

    /// The client's turn, if one was open, ended in an error.
    fn interrupt(&mut self, slot: usize) {
        let Some(client) = &mut self.clients[slot] else { return };
        if !client.in_turn {
            return;
        }
        client.in_turn = false;
        if let Some(asked_at) = client.asked_at.take() {
            self.watch.balance.lost(asked_at, self.now);
        }
        let ends_at = self.agenda.due(slot as u32);
        if let (Some(provider), Some(ends_at)) = (client.running_in.take(), ends_at) {
            self.stray_commands.push((ends_at, provider));
        }
        client.step = Step::Wait;
        self.agenda.cancel(slot as u32);
        self.turn_is_over(slot);
    }

    /// What the store knows is told to a fresh instance.
    pub(super) fn restore_from_store(&mut self) {
        let clients: Vec<_> = self
            .clients
            .iter()
            .flatten()
            .map(|client| (client.id, client.conversation.account, client.held, client.files_lost))
            .collect();
        for (conversation, account, held, files_lost) in clients {
            self.tell(Input::OpenConversation { conversation, account });
            if let Some(reason) = files_lost {
                self.tell(Input::FilesLost { conversation, reason });
            }
            if let Some(held) = held {
                let unresolved = held
                    .provider
                    .is_some_and(|id| self.stray_commands.iter().any(|&(_, stray)| stray == id));
                self.tell(Input::Restore {
                    conversation,
                    sandbox: held.name,
                    provider: held.provider,
                    class: held.class,
                    unresolved_execute: unresolved,
                });
            }
        }
    }
}
