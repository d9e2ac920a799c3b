//! Plays abstract actions against the real scheduler, a provider and the naive model.

use crate::actions::Action;
use crate::naive::{Checked, Naive, Phase, Progress, ensure};
use crate::provider::{Provider, Temper};
use crate::shrink::differing;
use sandpool_core::{
    AccountId, ClassId, Config, ConversationId, EventKind, ExecuteId, ExecuteOutcome, Id, Input,
    OpId, Operation, Output, Reply, SandboxName, SandboxState, Scheduler, Span, Time, TurnId, Used,
    WhyRejected,
};
use std::collections::BTreeMap;

/// What was told to the scheduler: the journal.
#[derive(Clone, Debug)]
enum Told {
    Input(Input),
    Timeout,
}

/// Handled deadlines at one instant that mean that time stands still.
const STANDSTILL: usize = 2_000;

/// One history under way.
pub(crate) struct History {
    pub(crate) scheduler: Scheduler,
    pub(crate) naive: Naive,
    pub(crate) provider: Provider,
    pub(crate) now: Time,
    epoch: u32,
    first_config: Config,
    started_at: Time,
    journal: Vec<(Time, Told)>,
    outputs: Vec<Output>,
    next_conversation: u64,
    /// Operations answered already, for answers that come twice.
    answered: Vec<OpId>,
    /// The lines of the story so far, for people.
    pub(crate) story: Vec<String>,
    /// How often each kind of event happened.
    pub(crate) seen: BTreeMap<&'static str, u64>,
    steps: usize,
}

impl History {
    pub(crate) fn new(config: Config, temper: Temper) -> Result<Self, String> {
        let mut history = Self {
            scheduler: Scheduler::new(config.clone(), 1, Time::ZERO),
            naive: Naive::new(config.clone(), Time::ZERO),
            provider: Provider::new(temper),
            now: Time::ZERO,
            epoch: 1,
            first_config: config,
            started_at: Time::ZERO,
            journal: Vec::new(),
            outputs: Vec::new(),
            next_conversation: 1,
            answered: Vec::new(),
            story: Vec::new(),
            seen: BTreeMap::new(),
            steps: 0,
        };
        history.tell(Input::Recovered)?;
        Ok(history)
    }

    /// Plays one action; nothing happens where there is nothing to act on.
    pub(crate) fn play(&mut self, action: &Action) -> Checked {
        if !matches!(action, Action::Reconfigure { .. }) {
            self.story.push(format!("-- {action:?}"));
        }
        match action {
            Action::Open { account } => self.open(AccountId(*account)),
            Action::Close { pick, cancel } => match self.pick_conversation(*pick, |_| true) {
                Some(place) => {
                    let conversation = self.naive.conversations[place].id;
                    self.tell(Input::CloseConversation { conversation, cancel: *cancel })
                }
                None => Ok(()),
            },
            Action::Begin { pick, class, likely_percent } => {
                self.begin(*pick, *class, *likely_percent)
            }
            Action::End { pick, cancel } => {
                match self.pick_conversation(*pick, |it| it.turn.is_some()) {
                    Some(place) => {
                        let it = &self.naive.conversations[place];
                        let (conversation, turn) = (it.id, it.turn.as_ref().map(|turn| turn.id));
                        let turn = turn.ok_or("picked one with a turn")?;
                        self.tell(Input::EndTurn { conversation, turn, cancel: *cancel })
                    }
                    None => Ok(()),
                }
            }
            Action::Start { pick, patience_ms } => self.start(*pick, *patience_ms),
            Action::Finish { pick, outcome } => self.finish(*pick, *outcome),
            Action::Cancel { pick } => {
                match self.pick_conversation(*pick, |it| it.execute.is_some()) {
                    Some(place) => {
                        let it = &self.naive.conversations[place];
                        let execute = it.execute.as_ref().map(|execute| execute.id);
                        let execute = execute.ok_or("picked one with an execute")?;
                        self.tell(Input::CancelExecute { conversation: it.id, execute })
                    }
                    None => Ok(()),
                }
            }
            Action::Answer { pick, flavour } => match self.provider.asked.len() {
                0 => Ok(()),
                count => self.answer(usize::from(*pick) % count, *flavour),
            },
            Action::AnswerAll => {
                for _ in 0..self.provider.asked.len() {
                    self.answer(0, 0)?;
                }
                Ok(())
            }
            Action::Die { pick } => {
                if let Some(name) = self.provider.die(*pick) {
                    self.story.push(format!("   {name} dies"));
                }
                Ok(())
            }
            Action::Wait { millis } => self.wait(self.now.plus(Span::from_millis(*millis))),
            Action::WaitForDeadline => match self.scheduler.next_deadline() {
                Some(deadline) => self.wait(deadline.at.max(self.now)),
                None => Ok(()),
            },
            Action::Reconfigure { config, drop_a_class } => self.reconfigure(config, *drop_a_class),
            Action::Drain { leave_sandboxes } => {
                self.tell(Input::Drain { leave_sandboxes: *leave_sandboxes })
            }
            Action::Restart { forget, unresolved } => self.restart(*forget, *unresolved),
            Action::Nonsense { kind, pick } => self.nonsense(*kind, *pick),
        }
    }

    fn pick_conversation(
        &self,
        pick: u8,
        accept: fn(&crate::naive::Conversation) -> bool,
    ) -> Option<usize> {
        let all = self.naive.conversations.iter().enumerate();
        let places: Vec<usize> = all.filter(|(_, it)| accept(it)).map(|(at, _)| at).collect();
        (!places.is_empty()).then(|| places[usize::from(pick) % places.len()])
    }

    fn open(&mut self, account: AccountId) -> Checked {
        if self.naive.conversations.len() >= 12 {
            return Ok(());
        }
        let taken =
            |index: u32| self.naive.conversations.iter().any(|it| it.id.index() == index as usize);
        let index = (0..).find(|&index| !taken(index)).ok_or("no index is free")?;
        let conversation = ConversationId::new(self.next_conversation, index);
        self.next_conversation += 1;
        self.tell(Input::OpenConversation { conversation, account })
    }

    fn begin(&mut self, pick: u8, class: u16, likely_percent: Option<u8>) -> Checked {
        let Some(place) = self.pick_conversation(pick, |it| it.turn.is_none()) else {
            return Ok(());
        };
        let it = &self.naive.conversations[place];
        let (conversation, turn) = (it.id, TurnId(it.last_turn + 1));
        let class = ClassId(class % self.naive.config.classes.len() as u16);
        self.tell(Input::BeginTurn { conversation, turn, class, likely_percent })
    }

    fn start(&mut self, pick: u8, patience_ms: Option<u64>) -> Checked {
        let picked = self.pick_conversation(pick, |it| it.turn.is_some() && it.execute.is_none());
        let Some(place) = picked else { return Ok(()) };
        let it = &self.naive.conversations[place];
        let turn = it.turn.as_ref().map(|turn| turn.id).ok_or("picked one with a turn")?;
        let (conversation, execute) = (it.id, ExecuteId(it.last_execute + 1));
        let patience = patience_ms.map(Span::from_millis);
        self.tell(Input::StartExecute { conversation, turn, execute, patience })
    }

    fn finish(&mut self, pick: u8, outcome: ExecuteOutcome) -> Checked {
        let picked = self.pick_conversation(pick, |it| {
            it.execute.as_ref().is_some_and(|execute| execute.progress != Progress::Waiting)
        });
        let Some(place) = picked else { return Ok(()) };
        let it = &self.naive.conversations[place];
        let execute = it.execute.as_ref().map(|execute| execute.id).ok_or("it runs one")?;
        let conversation = it.id;
        let used = Used { exit_code: Some(0), ..Used::default() };
        self.tell(Input::FinishExecute { conversation, execute, outcome, used })
    }

    /// New settings; the classes keep their places, names and number, their sizes may change.
    fn reconfigure(&mut self, config: &Config, drop_a_class: bool) -> Checked {
        let mut config = config.clone();
        let old = &self.naive.config.classes;
        let mut classes = old.clone();
        for (class, new) in classes.iter_mut().zip(&config.classes) {
            class.warm_sandboxes = new.warm_sandboxes;
        }
        if config.classes.len() > classes.len() {
            classes.push(config.classes[classes.len()].clone());
        }
        if drop_a_class {
            classes.pop();
        }
        config.classes = classes;
        self.tell(Input::Reconfigure(Box::new(config)))
    }

    fn nonsense(&mut self, kind: u8, pick: u8) -> Checked {
        let place = self.pick_conversation(pick, |_| true);
        let it = place.map(|place| self.naive.conversations[place].clone());
        let nobody = ConversationId::new(1 << 30, 77);
        let conversation = it.as_ref().map_or(nobody, |it| it.id);
        let conversation = if kind < 6 { nobody } else { conversation };
        let (mut turn, mut execute) = (TurnId(0), ExecuteId(0));
        if let Some(it) = &it {
            let open = it.turn.as_ref().map(|turn| turn.id);
            turn = open.unwrap_or(TurnId(it.last_turn));
            execute = ExecuteId(it.last_execute);
        }
        let cancel = pick.is_multiple_of(2);
        let patience = None;
        match kind {
            0 | 6 => self.tell(Input::CloseConversation { conversation, cancel: false }),
            1 | 7 => self.tell(Input::BeginTurn {
                conversation,
                turn,
                class: ClassId(u16::from(pick % 5)),
                likely_percent: None,
            }),
            2 | 8 => {
                let turn = TurnId(turn.0.wrapping_add(1));
                self.tell(Input::EndTurn { conversation, turn, cancel })
            }
            3 | 9 => self.tell(Input::StartExecute { conversation, turn, execute, patience }),
            4 | 10 => self.tell(Input::FinishExecute {
                conversation,
                execute: ExecuteId(execute.0.wrapping_add(u32::from(pick % 2))),
                outcome: ExecuteOutcome::Completed,
                used: Used::default(),
            }),
            5 | 11 => {
                let execute = ExecuteId(execute.0.wrapping_add(1));
                self.tell(Input::CancelExecute { conversation, execute })
            }
            12 => self.tell(Input::Recovered),
            13 => self.tell(Input::Restore {
                conversation,
                sandbox: SandboxName { epoch: 0, sequence: 1 },
                provider: None,
                class: ClassId(0),
                unresolved_execute: cancel,
            }),
            14 | 15 => {
                // An answer that comes a second time, or to nothing that was ever asked.
                let op = match self.answered.len() {
                    0 => OpId::new(1 << 30, 3),
                    count => self.answered[usize::from(pick) % count],
                };
                let reply = match pick % 4 {
                    0 => Reply::Created { provider: sandpool_core::ProviderId(1 << 40) },
                    1 => Reply::Destroyed,
                    2 => Reply::Gone,
                    _ => Reply::Prepared,
                };
                self.tell(Input::Reply { op, reply })
            }
            16 => match it {
                Some(it) => self.tell(Input::OpenConversation {
                    conversation: ConversationId::new(1 << 31, it.id.index() as u32),
                    account: it.account,
                }),
                None => Ok(()),
            },
            17 => {
                let mut config = self.naive.config.clone();
                config.limbo_hold = Span::from_nanos(config.start_timeout.as_nanos() / 2);
                self.tell(Input::Reconfigure(Box::new(config)))
            }
            // A time-out although nothing is due.
            18 => self.timeout(),
            // The next execute number, whatever is under way.
            _ => {
                let execute = ExecuteId(execute.0.wrapping_add(1));
                self.tell(Input::StartExecute { conversation, turn, execute, patience })
            }
        }
    }

    /// The process dies; another instance starts with what the store knows.
    fn restart(&mut self, forget: u8, unresolved: bool) -> Checked {
        self.replay()?;
        let config = self.naive.config.clone();
        let mut stored = Vec::new();
        for it in &self.naive.conversations {
            let owned = self.naive.sandbox_of(it.id);
            let view = owned.and_then(|sandbox| self.scheduler.sandbox(sandbox.id));
            let lost = self.scheduler.conversation(it.id).and_then(|view| view.files_lost);
            stored.push((it.clone(), view, lost));
        }
        self.epoch += 1;
        self.scheduler = Scheduler::new(config.clone(), self.epoch, self.now);
        self.naive = Naive::new(config.clone(), self.now);
        self.first_config = config;
        self.started_at = self.now;
        self.journal.clear();
        self.outputs.clear();
        self.answered.clear();
        self.provider.asked.clear();
        self.story.push("   another instance starts".to_owned());
        for (place, (it, view, lost)) in stored.into_iter().enumerate() {
            self.tell(Input::OpenConversation { conversation: it.id, account: it.account })?;
            if let Some(reason) = lost {
                self.tell(Input::FilesLost { conversation: it.id, reason })?;
            }
            let Some(view) = view else { continue };
            if forget >> (place % 8) & 1 == 1 {
                continue;
            }
            self.tell(Input::Restore {
                conversation: it.id,
                sandbox: view.name,
                provider: if forget.is_multiple_of(5) { None } else { view.provider },
                class: view.class,
                unresolved_execute: unresolved && view.state == SandboxState::Busy,
            })?;
        }
        self.tell(Input::Recovered)
    }

    /// The provider answers one operation.
    fn answer(&mut self, place: usize, flavour: u8) -> Checked {
        let (operation, reply) = self.provider.answer(self.now, place, flavour);
        match reply {
            None => {
                self.story.push(format!("   no answer to {:?} {}", operation.verb, operation.op));
                Ok(())
            }
            Some(reply) => {
                self.answered.push(operation.op);
                self.step(Told::Input(Input::Reply { op: operation.op, reply }), Some(operation))
            }
        }
    }

    /// Lets time pass: deadlines and answers in order.
    pub(crate) fn wait(&mut self, until: Time) -> Checked {
        let mut handled_here = (self.now, 0);
        loop {
            let deadline = self.scheduler.next_deadline().map(|deadline| deadline.at);
            let provider = self.provider.next_at();
            let next = deadline.into_iter().chain(provider).min();
            let Some(next) = next.filter(|&at| at <= until) else { break };
            self.now = self.now.max(next);
            if handled_here.0 == self.now {
                handled_here.1 += 1;
                ensure!(
                    handled_here.1 < STANDSTILL,
                    "time stands still at {}: {:?}",
                    self.now,
                    self.scheduler.next_deadline()
                );
            } else {
                handled_here = (self.now, 0);
            }
            // What the provider does at an instant comes before what the scheduler times at it,
            // on every other instant.
            let provider_first = self.now.as_nanos().is_multiple_of(2);
            let deadline_due = deadline.is_some_and(|at| at <= self.now);
            if provider_first || !deadline_due {
                match self.provider.due(self.now) {
                    Some(place) => {
                        let flavour = self.provider.asked[place].flavour;
                        self.answer(place, flavour)?;
                    }
                    None if deadline_due => self.timeout()?,
                    None => {}
                }
            } else {
                self.timeout()?;
            }
        }
        self.now = self.now.max(until);
        Ok(())
    }

    pub(crate) fn tell(&mut self, input: Input) -> Checked {
        self.step(Told::Input(input), None)
    }

    fn timeout(&mut self) -> Checked {
        self.step(Told::Timeout, None)
    }

    /// One step of the scheduler, checked against the model.
    fn step(&mut self, told: Told, asked: Option<Operation>) -> Checked {
        self.steps += 1;
        self.journal.push((self.now, told.clone()));
        self.naive.now = self.now;
        self.naive.answered.clear();
        self.naive.cancelled.clear();
        self.naive.waiting_before = self.naive.blocked_waiting().count() as i64;
        self.naive.said_full = false;
        let why = match &told {
            Told::Input(input) => self.naive.why_rejected(input),
            Told::Timeout => Vec::new(),
        };
        self.story.push(match &told {
            Told::Input(Input::Reconfigure(config)) => {
                format!("{} Reconfigure {:?} {:?}", self.now, differing(config), config.classes)
            }
            Told::Input(Input::Reply { op, reply: Reply::Inventory(list) }) => {
                let names = list.items.iter().map(|item| item.name.map(|name| name.to_string()));
                let names: Vec<String> = names.flatten().collect();
                format!("{} inventory, op {op}, complete {}: {names:?}", self.now, list.complete)
            }
            Told::Input(input) => format!("{} {input:?}", self.now),
            Told::Timeout => format!("{} timeout", self.now),
        });
        let outputs = advance(&mut self.scheduler, self.now, &told);
        let rejections: Vec<WhyRejected> = outputs
            .iter()
            .filter_map(|output| match output {
                Output::Rejected(rejection) => Some(rejection.why),
                _ => None,
            })
            .collect();
        for output in &outputs {
            self.story.push(tell_output(output));
        }
        if let Told::Input(input) = &told {
            let others = outputs.len() - rejections.len();
            self.naive.check_rejection(input, &why, &rejections, others)?;
            if rejections.is_empty() {
                self.naive.accept(input, asked)?;
            }
        } else {
            ensure!(rejections.is_empty(), "a time-out is rejected: {rejections:?}");
        }
        self.naive.before_outputs(&self.scheduler);
        for output in &outputs {
            match output {
                Output::Event(event) => {
                    *self.seen.entry(event.kind.name()).or_default() += 1;
                    self.naive.event(event)?;
                    if event.kind == EventKind::Drained {
                        self.check_drained()?;
                    }
                }
                Output::Operation(operation) => {
                    self.naive.operation(operation)?;
                    self.provider.submit(self.now, *operation, self.naive.config.limbo_hold);
                }
                Output::Rejected(_) => {}
            }
        }
        self.outputs.extend(outputs);
        self.naive.rest(&self.scheduler)
    }

    fn check_drained(&self) -> Checked {
        let capacity = self.scheduler.capacity();
        if !self.naive.leaves_sandboxes {
            ensure!(capacity.sandboxes == 0, "drained with {} sandboxes", capacity.sandboxes);
            ensure!(capacity.used.slots == 0, "drained with {} used", capacity.used);
        }
        Ok(())
    }

    /// The journal alone rebuilds the state: the same inputs give the same outputs.
    fn replay(&self) -> Checked {
        let mut again = Scheduler::new(self.first_config.clone(), self.epoch, self.started_at);
        let mut outputs = Vec::with_capacity(self.outputs.len());
        for (now, told) in &self.journal {
            outputs.extend(advance(&mut again, *now, told));
        }
        let differs = outputs.iter().zip(&self.outputs).position(|(a, b)| a != b);
        ensure!(
            differs.is_none() && outputs.len() == self.outputs.len(),
            "the journal does not rebuild the state: {} outputs, then {}, first difference {differs:?}",
            self.outputs.len(),
            outputs.len()
        );
        ensure!(
            again.capacity() == self.scheduler.capacity(),
            "the journal rebuilds other ledgers"
        );
        Ok(())
    }

    /// Everything heals, settles, and is shut down; nothing may be left.
    pub(crate) fn end(&mut self, finish_first: bool) -> Checked {
        self.story.push("-- end: everything works from now on".to_owned());
        self.provider.heal();
        if self.naive.phase != Phase::Drained {
            // The times of an earlier configuration may still be running.
            self.settle(finish_first)?;
            if !matches!(self.naive.phase, Phase::Draining | Phase::Drained) {
                self.tell(Input::Drain { leave_sandboxes: false })?;
            }
            for _ in 0..20_000 {
                if self.naive.phase == Phase::Drained {
                    break;
                }
                let deadline = self.scheduler.next_deadline().map(|deadline| deadline.at);
                let next = deadline.into_iter().chain(self.provider.next_at()).min();
                let next = next.ok_or("nothing is due, and the shutdown is not complete")?;
                self.wait(next)?;
            }
        }
        ensure!(self.naive.phase == Phase::Drained, "the shutdown never ends");
        for it in &self.naive.conversations {
            // A command that runs in a sandbox that is left is the next instance's business.
            let is_left = self.naive.leaves_sandboxes
                && it.execute.as_ref().is_some_and(|it| it.progress != Progress::Waiting);
            ensure!(
                it.execute.is_none() || is_left,
                "{} has an execute without an answer or an end at the end",
                it.id
            );
        }
        if !self.naive.leaves_sandboxes {
            let capacity = self.scheduler.capacity();
            ensure!(capacity.sandboxes == 0 && capacity.used.slots == 0, "left: {capacity:?}");
            for account in 0..4 {
                let held = self.scheduler.account_view(AccountId(account)).map_or(0, |it| it.held);
                ensure!(held == 0, "account {account} still holds {held}");
            }
            let (_, _, claims) = self.scheduler.pending();
            ensure!(claims == 0, "{claims} claims are left");
        }
        self.replay()
    }

    /// Healthy time: everything that is lost is found, everything unwanted goes.
    fn settle(&mut self, finish_first: bool) -> Checked {
        if finish_first {
            for _ in 0..self.naive.conversations.len() {
                self.finish(0, ExecuteOutcome::Completed)?;
            }
        }
        let config = &self.naive.config;
        let span = config
            .reconcile
            .times(6)
            .plus(config.orphan_grace)
            .plus(config.limbo_hold.times(2))
            .plus(config.operation_timeout.times(10))
            .plus(config.retry_max.times(4));
        self.wait(self.now.plus(span).plus(Span::from_secs(600)))?;
        if self.naive.phase != Phase::Serving {
            return Ok(());
        }
        for real in &self.provider.real {
            let owned = self.scheduler.sandboxes().any(|known| known.name == real.name);
            ensure!(owned, "{} exists at the provider and nobody knows it", real.name);
        }
        for known in self.scheduler.sandboxes() {
            let exists = self.provider.real.iter().any(|real| real.name == known.name);
            let needed = known.state.is_leased() || known.state == SandboxState::Warm;
            ensure!(
                exists || !needed,
                "sandbox {} ({:?}) has not existed for long and nobody noticed",
                known.id,
                known.state
            );
        }
        Ok(())
    }

    /// The last lines of the story.
    pub(crate) fn tail(&self, lines: usize) -> String {
        let from = self.story.len().saturating_sub(lines);
        self.story[from..].join("\n")
    }
}

/// Hands one thing to a scheduler and collects its outputs.
fn advance(scheduler: &mut Scheduler, now: Time, told: &Told) -> Vec<Output> {
    match told {
        Told::Input(input) => scheduler.handle(now, input.clone()),
        Told::Timeout => scheduler.handle_timeout(now),
    }
    std::iter::from_fn(|| scheduler.poll()).collect()
}

/// One output in one short line.
fn tell_output(output: &Output) -> String {
    match output {
        Output::Operation(operation) => format!(
            "    -> {:?} op {} sandbox {:?} {}",
            operation.verb, operation.op, operation.sandbox, operation.name
        ),
        Output::Rejected(rejection) => format!("    !! {:?}", rejection.why),
        Output::Event(event) => {
            let mut line = format!("    {} ({})", event.kind.name(), event.reason.name());
            if let Some(claim) = event.claim {
                line += &format!(" claim {claim}");
            }
            if let Some(sandbox) = event.sandbox {
                line += &format!(" sandbox {sandbox} {}", event.state.name());
            }
            if let Some(conversation) = event.conversation {
                line += &format!(" conversation {conversation}");
            }
            if event.execute.0 > 0 {
                line += &format!(" execute {}", event.execute);
            }
            line + &format!(" class {} span {}", event.class, event.span)
        }
    }
}
