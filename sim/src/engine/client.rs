//! A conversation as its user and agent live it: a loop of think, work, execute.

use super::observer::Answer;
use super::world::World;
use crate::daytona::Usability;
use crate::workload::{Conversation, TurnPlan};
use sandpool_core::{
    ClassId, ConversationId, ExecuteId, ExecuteOutcome, Id, Input, ProviderId, Reason, SandboxName,
    Span, Time, TurnId, Used,
};

/// Virtual time from trying to use a dead sandbox to knowing.
const CONNECTION_REFUSED: Span = Span::from_millis(50);

/// What a client does when its time comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The user asks the next question.
    BeginTurn,
    /// The agent runs its next command.
    StartExecute,
    /// The command has run its time.
    FinishExecute,
    /// The agent answers the user.
    EndTurn,
    /// The conversation is closed.
    Close,
    /// Nothing until the scheduler answers.
    Wait,
}

/// What the store remembers of a conversation's sandbox: it survives a crash of our server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) name: SandboxName,
    pub(super) provider: Option<ProviderId>,
    pub(super) class: ClassId,
}

/// An open conversation.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) id: ConversationId,
    pub(super) conversation: Conversation,
    pub(super) step: Step,
    /// The turn under way or, between turns, the one that was last; from 1.
    pub(super) turn: u32,
    pub(super) in_turn: bool,
    pub(super) plan: TurnPlan,
    /// The execute of the turn under way, from 1.
    pub(super) execute: u32,
    /// Executes asked for in the whole conversation, so that each has its own number.
    pub(super) asked: u32,
    /// New attempts of this execute after a refusal.
    pub(super) retry: u32,
    /// The sandbox in which a command of this client runs.
    pub(super) running_in: Option<ProviderId>,
    pub(super) held: Option<Held>,
    /// How the files of its last sandbox were lost, if it was not told before the server crashed.
    pub(super) files_lost: Option<Reason>,
    /// When it asked for the execute that has not been answered yet.
    pub(super) asked_at: Option<Time>,
}

impl Client {
    pub(super) fn new(id: ConversationId, conversation: Conversation) -> Self {
        Self {
            id,
            conversation,
            step: Step::BeginTurn,
            turn: 0,
            in_turn: false,
            plan: TurnPlan::default(),
            execute: 0,
            asked: 0,
            retry: 0,
            running_in: None,
            held: None,
            files_lost: None,
            asked_at: None,
        }
    }

    pub(super) fn turn_id(&self) -> TurnId {
        TurnId(self.turn)
    }

    pub(super) fn execute_id(&self) -> ExecuteId {
        ExecuteId(self.asked)
    }
}

impl World<'_> {
    pub(super) fn answered(&mut self, id: ConversationId, answer: Answer) {
        let slot = id.index();
        let Some(Some(client)) = self.clients.get_mut(slot) else { return };
        if client.id != id {
            return;
        }
        match answer {
            Answer::Go(sandbox) => {
                self.heard(slot);
                let provider = self
                    .driver
                    .as_ref()
                    .and_then(|driver| driver.scheduler().sandbox(sandbox))
                    .and_then(|sandbox| sandbox.provider);
                self.run_command(slot, provider);
            }
            Answer::Refused => {
                self.heard(slot);
                self.refused(slot);
            }
            Answer::Ended => self.command_over(slot),
            Answer::TurnOver => {
                if client.in_turn {
                    client.in_turn = false;
                    self.turn_is_over(slot);
                }
            }
            Answer::Rebound(sandbox) => {
                let view = sandbox
                    .and_then(|id| self.driver.as_ref().and_then(|d| d.scheduler().sandbox(id)));
                client.held = view.map(|view| Held {
                    name: view.name,
                    provider: view.provider,
                    class: view.class,
                });
            }
        }
    }

    /// The client's execute is answered.
    #[inline]
    pub(super) fn client(&mut self, slot: usize) -> &mut Client {
        self.clients[slot].as_mut().expect("the client is there")
    }

    fn schedule(&mut self, slot: usize, step: Step, after: Span) {
        self.client(slot).step = step;
        self.agenda.set(slot as u32, self.now.plus(after));
    }

    /// Takes the next step at once if it needs no time, else when its time comes.
    fn go_to(&mut self, slot: usize, step: Step, after: Span) {
        if after == Span::ZERO {
            self.client(slot).step = step;
            self.step(slot);
        } else {
            self.schedule(slot, step, after);
        }
    }

    pub(super) fn step(&mut self, slot: usize) {
        if self.driver.is_none() {
            // Our server is down: the client tries again when it is back.
            let back = self.crashes.back_at();
            self.agenda.set(slot as u32, back);
            return;
        }
        match self.client(slot).step {
            Step::BeginTurn => self.begin_turn(slot),
            Step::StartExecute => self.start_execute(slot),
            Step::FinishExecute => self.finish_execute(slot),
            Step::EndTurn => self.end_turn(slot),
            Step::Close => self.close(slot),
            Step::Wait => {}
        }
    }

    fn begin_turn(&mut self, slot: usize) {
        let client = self.client(slot);
        client.turn += 1;
        client.in_turn = true;
        client.execute = 0;
        client.step = Step::Wait;
        let (number, turn) = (client.conversation.number, client.turn);
        let (id, turn_id, class) = (client.id, client.turn_id(), client.conversation.class);
        let plan = self.source.turn_plan(number, turn);
        self.client(slot).plan = plan;
        let likely_percent = plan.likely_percent;
        self.tell(Input::BeginTurn { conversation: id, turn: turn_id, class, likely_percent });
        if plan.executes == 0 {
            self.go_to(slot, Step::EndTurn, plan.work_before.plus(plan.work_after));
        } else {
            self.go_to(slot, Step::StartExecute, plan.work_before);
        }
    }

    fn start_execute(&mut self, slot: usize) {
        let now = self.now;
        let client = self.client(slot);
        if client.retry == 0 {
            client.execute += 1;
        }
        client.asked += 1;
        client.step = Step::Wait;
        client.asked_at = Some(now);
        let (number, turn, execute) = (client.conversation.number, client.turn, client.execute);
        let input_of = (client.id, client.turn_id(), client.execute_id());
        let patience = self.source.execute_plan(number, turn, execute).patience;
        let (conversation, turn, execute) = input_of;
        self.watch.balance.asked(now);
        self.tell(Input::StartExecute { conversation, turn, execute, patience });
        if self.watch.turned_down == Some((conversation, execute))
            && let Some(client) = &mut self.clients[slot]
            && client.id == conversation
            && let Some(asked_at) = client.asked_at.take()
        {
            self.watch.balance.turned_down(asked_at, now);
        }
    }

    /// The scheduler let the execute go: the command runs, unless the sandbox is dead.
    fn run_command(&mut self, slot: usize, provider: Option<ProviderId>) {
        let now = self.now;
        let client = self.client(slot);
        client.retry = 0;
        let (number, turn, execute) = (client.conversation.number, client.turn, client.execute);
        let runs_for = self.source.execute_plan(number, turn, execute).runs_for;
        let usable = match provider {
            Some(provider) => {
                let machine = self.machine_mut();
                let usable = machine.usable(now, provider);
                if usable == Usability::Yes {
                    machine.execute_begun(now, provider);
                }
                usable
            }
            None => Usability::Gone,
        };
        self.client(slot).running_in = provider;
        let after = if usable == Usability::Yes { runs_for } else { CONNECTION_REFUSED };
        self.schedule(slot, Step::FinishExecute, after);
    }

    fn finish_execute(&mut self, slot: usize) {
        let now = self.now;
        let client = self.client(slot);
        client.step = Step::Wait;
        let provider = client.running_in.take();
        let (conversation, execute) = (client.id, client.execute_id());
        let outcome = match provider {
            None => ExecuteOutcome::SandboxGone,
            Some(provider) => {
                let machine = self.machine_mut();
                machine.execute_ended(now, provider);
                match machine.usable(now, provider) {
                    Usability::Yes => ExecuteOutcome::Completed,
                    Usability::Gone => ExecuteOutcome::SandboxGone,
                    Usability::Unreachable => ExecuteOutcome::Unreachable,
                }
            }
        };
        let used = Used {
            exit_code: (outcome == ExecuteOutcome::Completed).then_some(0),
            ..Used::default()
        };
        self.tell(Input::FinishExecute { conversation, execute, outcome, used });
    }

    /// The scheduler says that the execute is over, because we said so or for a reason of its own.
    fn command_over(&mut self, slot: usize) {
        let now = self.now;
        self.agenda.cancel(slot as u32);
        if let Some(provider) = self.client(slot).running_in.take() {
            self.machine_mut().execute_ended(now, provider);
        }
        let client = self.client(slot);
        let plan = client.plan;
        if client.execute < plan.executes {
            let (number, turn, next) =
                (client.conversation.number, client.turn, client.execute + 1);
            let work = self.source.execute_plan(number, turn, next).work_between;
            self.go_to(slot, Step::StartExecute, work);
        } else {
            self.go_to(slot, Step::EndTurn, plan.work_after);
        }
    }

    /// The agent was told that there is no sandbox: it tries again, or answers without.
    fn refused(&mut self, slot: usize) {
        let client = self.client(slot);
        client.retry += 1;
        let (number, turn, execute, retry) =
            (client.conversation.number, client.turn, client.execute, client.retry);
        match self.source.retry_pause(number, turn, execute, retry) {
            // A pause of nothing would ask for ever within one instant.
            Some(pause) => {
                self.schedule(slot, Step::StartExecute, pause.max(Span::from_millis(1)));
            }
            None => {
                let client = self.client(slot);
                client.retry = 0;
                let after = client.plan.work_after;
                self.go_to(slot, Step::EndTurn, after);
            }
        }
    }

    fn end_turn(&mut self, slot: usize) {
        let client = self.client(slot);
        client.in_turn = false;
        client.step = Step::Wait;
        let (conversation, turn) = (client.id, client.turn_id());
        self.tell(Input::EndTurn { conversation, turn, cancel: false });
        self.turn_is_over(slot);
    }

    pub(super) fn turn_is_over(&mut self, slot: usize) {
        let client = self.client(slot);
        client.retry = 0;
        let number = client.conversation.number;
        if client.turn < client.conversation.turns {
            let think = client.plan.think_after;
            self.go_to_later(slot, Step::BeginTurn, think);
        } else {
            let after = self.source.close_after(number);
            if after == Span::ZERO {
                self.client(slot).step = Step::Close;
                self.step(slot);
            } else {
                self.schedule(slot, Step::Close, after);
            }
        }
    }

    /// A next turn is never begun within the step that ended the one before.
    fn go_to_later(&mut self, slot: usize, step: Step, after: Span) {
        self.schedule(slot, step, after);
    }

    fn close(&mut self, slot: usize) {
        let client = self.clients[slot].take().expect("the client is there");
        self.agenda.cancel(slot as u32);
        self.tell(Input::CloseConversation { conversation: client.id, cancel: false });
        self.free_slots.push(slot as u32);
    }
}
