//! A scheduler with a provider that answers when the test says so, and a list of what was said.

use sandpool_core::{
    AccountId, ClassId, Config, ConversationId, Event, EventKind, ExecuteId, ExecuteOutcome,
    Failure, Id, Input, Inventory, InventoryItem, Operation, Output, ProviderId, Reason, Rejection,
    Reply, SandboxState, Scheduler, Span, Time, TurnId, Used, Verb,
};

/// Invariants are checked after every step of every test that uses this.
pub(crate) struct Pool {
    pub(crate) scheduler: Scheduler,
    pub(crate) now: Time,
    pub(crate) events: Vec<Event>,
    pub(crate) operations: Vec<Operation>,
    pub(crate) rejections: Vec<Rejection>,
    conversations: u64,
    turns: Vec<u32>,
    executes: Vec<u32>,
    next_provider: u64,
}

/// The default settings without a warm pool and without prepare steps: one answer makes a sandbox
/// ready.
pub(crate) fn config() -> Config {
    let mut config = Config::default();
    config.classes[0].prepares = false;
    config.classes[0].warm_sandboxes = 0;
    config
}

/// The same, asking for a sandbox only when an execute needs it.
pub(crate) fn on_execute() -> Config {
    let mut config = config();
    config.start_policy = sandpool_core::StartPolicy::OnExecute;
    config
}

/// A class of `memory_gb` with nothing else to it.
pub(crate) fn class(name: &str, memory_gb: f64) -> sandpool_core::Class {
    sandpool_core::Class {
        name: name.to_owned(),
        resources: sandpool_core::Resources::of_sandbox(memory_gb, 1.0, 3.0),
        prepares: false,
        warm_sandboxes: 0,
    }
}

impl Pool {
    /// A pool that has found nothing of an earlier instance.
    pub(crate) fn new(config: Config) -> Pool {
        let mut pool = Pool::restoring(config, 1);
        pool.tell(Input::Recovered);
        pool.answer(Verb::FindAll, inventory(&[]));
        pool
    }

    /// A pool whose store is still being read.
    pub(crate) fn restoring(config: Config, epoch: u32) -> Pool {
        Pool {
            scheduler: Scheduler::new(config, epoch, Time::ZERO),
            now: Time::ZERO,
            events: Vec::new(),
            operations: Vec::new(),
            rejections: Vec::new(),
            conversations: 0,
            turns: Vec::new(),
            executes: Vec::new(),
            next_provider: 100,
        }
    }

    pub(crate) fn tell(&mut self, input: Input) {
        self.scheduler.handle(self.now, input);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(output) = self.scheduler.poll() {
            match output {
                Output::Event(event) => self.events.push(event),
                Output::Operation(operation) => self.operations.push(operation),
                Output::Rejected(rejection) => self.rejections.push(rejection),
            }
        }
        if let Err(violation) = self.scheduler.invariants() {
            panic!("{violation}");
        }
    }

    /// Lets time pass, deadline by deadline. The provider answers nothing meanwhile.
    pub(crate) fn wait(&mut self, seconds: f64) {
        let end = self.now.plus(Span::from_secs_f64(seconds));
        while let Some(deadline) = self.scheduler.next_deadline()
            && deadline.at <= end
        {
            self.now = self.now.max(deadline.at);
            self.scheduler.handle_timeout(self.now);
            self.drain();
        }
        self.now = end;
    }

    /// The same, with a provider that does at once whatever it is asked.
    pub(crate) fn wait_served(&mut self, seconds: f64) {
        let end = self.now.plus(Span::from_secs_f64(seconds));
        self.serve_all();
        while let Some(deadline) = self.scheduler.next_deadline()
            && deadline.at <= end
        {
            self.now = self.now.max(deadline.at);
            self.scheduler.handle_timeout(self.now);
            self.drain();
            self.serve_all();
        }
        self.now = end;
    }

    // ---- clients ----

    pub(crate) fn open(&mut self, account: u32) -> ConversationId {
        self.conversations += 1;
        let id = ConversationId::new(self.conversations, self.conversations as u32 - 1);
        self.turns.push(0);
        self.executes.push(0);
        self.tell(Input::OpenConversation { conversation: id, account: AccountId(account) });
        id
    }

    pub(crate) fn begin(&mut self, conversation: ConversationId) {
        self.begin_class(conversation, ClassId(0));
    }

    pub(crate) fn begin_class(&mut self, conversation: ConversationId, class: ClassId) {
        self.turns[conversation.index()] += 1;
        let turn = self.turn(conversation);
        self.tell(Input::BeginTurn { conversation, turn, class, likely_percent: None });
    }

    pub(crate) fn turn(&self, conversation: ConversationId) -> TurnId {
        TurnId(self.turns[conversation.index()])
    }

    pub(crate) fn execute(&mut self, conversation: ConversationId) {
        self.execute_with(conversation, None);
    }

    pub(crate) fn execute_with(&mut self, conversation: ConversationId, patience: Option<Span>) {
        self.executes[conversation.index()] += 1;
        let execute = self.last_execute(conversation);
        let turn = self.turn(conversation);
        self.tell(Input::StartExecute { conversation, turn, execute, patience });
    }

    pub(crate) fn last_execute(&self, conversation: ConversationId) -> ExecuteId {
        ExecuteId(self.executes[conversation.index()])
    }

    pub(crate) fn finish(&mut self, conversation: ConversationId) {
        self.finish_as(conversation, ExecuteOutcome::Completed);
    }

    pub(crate) fn finish_as(&mut self, conversation: ConversationId, outcome: ExecuteOutcome) {
        let execute = self.last_execute(conversation);
        self.tell(Input::FinishExecute { conversation, execute, outcome, used: Used::default() });
    }

    pub(crate) fn end(&mut self, conversation: ConversationId) {
        let turn = self.turn(conversation);
        self.tell(Input::EndTurn { conversation, turn, cancel: false });
    }

    pub(crate) fn close(&mut self, conversation: ConversationId) {
        self.tell(Input::CloseConversation { conversation, cancel: true });
    }

    /// A conversation of the account with an open turn and a command running in its sandbox.
    pub(crate) fn busy(&mut self, account: u32) -> ConversationId {
        self.busy_class(account, ClassId(0))
    }

    pub(crate) fn busy_class(&mut self, account: u32, class: ClassId) -> ConversationId {
        let conversation = self.open(account);
        self.begin_class(conversation, class);
        self.execute(conversation);
        self.serve_all();
        assert_eq!(self.state(conversation), Some(SandboxState::Busy));
        conversation
    }

    /// A conversation of the account whose used sandbox idles outside a turn.
    pub(crate) fn idle(&mut self, account: u32) -> ConversationId {
        let conversation = self.busy(account);
        self.finish(conversation);
        self.end(conversation);
        assert_eq!(self.state(conversation), Some(SandboxState::Idle));
        conversation
    }

    /// A blocked claim of a fresh conversation; may be served at once.
    pub(crate) fn blocked(&mut self, account: u32) -> ConversationId {
        let conversation = self.open(account);
        self.begin(conversation);
        self.execute(conversation);
        conversation
    }

    // ---- the provider ----

    /// Answers the oldest operation of this verb.
    pub(crate) fn answer(&mut self, verb: Verb, reply: Reply) -> Operation {
        let index = self
            .operations
            .iter()
            .position(|operation| operation.verb == verb)
            .unwrap_or_else(|| panic!("no {verb:?} is under way: {:?}", self.operations));
        let operation = self.operations.remove(index);
        self.tell(Input::Reply { op: operation.op, reply });
        operation
    }

    /// Answers the youngest operation of this verb: after time-outs, older ones are given up.
    pub(crate) fn answer_last(&mut self, verb: Verb, reply: Reply) -> Operation {
        let index = self.operations.iter().rposition(|operation| operation.verb == verb);
        let operation =
            self.operations.remove(index.unwrap_or_else(|| panic!("no {verb:?} is under way")));
        self.operations.retain(|other| other.verb != verb || other.sandbox != operation.sandbox);
        self.tell(Input::Reply { op: operation.op, reply });
        operation
    }

    /// Lets time pass until an operation of this verb is asked for anew.
    pub(crate) fn wait_until_asked(&mut self, verb: Verb) {
        let before = self.asked(verb);
        for _ in 0..10_000 {
            if self.asked(verb) > before {
                return;
            }
            self.wait(0.5);
        }
        panic!("{verb:?} is not asked for again");
    }

    pub(crate) fn fail(&mut self, verb: Verb, failure: Failure) -> Operation {
        self.answer(verb, Reply::Failed(failure))
    }

    pub(crate) fn created(&mut self) -> ProviderId {
        self.next_provider += 1;
        let provider = ProviderId(self.next_provider);
        self.answer(Verb::Create, Reply::Created { provider });
        provider
    }

    /// Never answers the oldest operation of this verb.
    pub(crate) fn lose(&mut self, verb: Verb) -> Operation {
        let index = self.operations.iter().position(|operation| operation.verb == verb);
        self.operations.remove(index.unwrap_or_else(|| panic!("no {verb:?} is under way")))
    }

    pub(crate) fn asked(&self, verb: Verb) -> usize {
        self.operations.iter().filter(|operation| operation.verb == verb).count()
    }

    /// Does at once whatever was asked, and what is asked because of that.
    pub(crate) fn serve_all(&mut self) {
        while let Some(operation) = self.operations.first().copied() {
            self.operations.remove(0);
            let reply = match operation.verb {
                Verb::Create => {
                    self.next_provider += 1;
                    Reply::Created { provider: ProviderId(self.next_provider) }
                }
                Verb::Prepare => Reply::Prepared,
                Verb::Destroy => Reply::Destroyed,
                Verb::Probe | Verb::KeepAlive => Reply::Alive { quiet: true },
                Verb::Find => Reply::Absent,
                Verb::FindAll => self.true_inventory(),
                Verb::Relabel => Reply::Relabelled,
            };
            self.tell(Input::Reply { op: operation.op, reply });
        }
    }

    /// What a provider that knows exactly the scheduler's sandboxes would list.
    pub(crate) fn true_inventory(&self) -> Reply {
        let items: Vec<_> = self
            .scheduler
            .sandboxes()
            .filter_map(|sandbox| {
                Some(InventoryItem {
                    provider: sandbox.provider?,
                    name: Some(sandbox.name),
                    class: sandbox.class,
                    state: sandpool_core::FoundState::Running,
                })
            })
            .collect();
        Reply::Inventory(Inventory { complete: true, items })
    }

    // ---- what is seen ----

    pub(crate) fn state(&self, conversation: ConversationId) -> Option<SandboxState> {
        let sandbox = self.scheduler.conversation(conversation)?.sandbox?;
        Some(self.scheduler.sandbox(sandbox)?.state)
    }

    pub(crate) fn is_waiting(&self, conversation: ConversationId) -> bool {
        self.scheduler
            .conversation(conversation)
            .and_then(|view| view.claim)
            .is_some_and(|(claim, _)| !self.scheduler.is_admitted(claim))
    }

    pub(crate) fn count(&self, kind: EventKind) -> usize {
        self.events.iter().filter(|event| event.kind == kind).count()
    }

    pub(crate) fn of(&self, conversation: ConversationId, kind: EventKind) -> Vec<Event> {
        self.events
            .iter()
            .filter(|event| event.kind == kind && event.conversation == Some(conversation))
            .copied()
            .collect()
    }

    /// Why the conversation was refused last.
    pub(crate) fn refusal(&self, conversation: ConversationId) -> Option<Reason> {
        self.of(conversation, EventKind::SandboxUnavailable).last().map(|event| event.reason)
    }

    pub(crate) fn used_slots(&self) -> i64 {
        self.scheduler.capacity().used.slots
    }

    pub(crate) fn held(&self, account: u32) -> i64 {
        self.scheduler.account_view(AccountId(account)).map_or(0, |view| view.held)
    }
}

pub(crate) fn inventory(items: &[InventoryItem]) -> Reply {
    Reply::Inventory(Inventory { complete: true, items: items.to_vec() })
}
