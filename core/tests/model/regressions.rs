//! Histories that once went wrong, each as small as it could be made and named for what it shows.

use sandpool_core::{
    AccountId, ClassId, Config, ConversationId, Event, EventKind, ExecuteId, ExecuteOutcome,
    Failure, Id, Input, Inventory, OpId, Operation, Output, ProviderId, Reply, SandboxName,
    Scheduler, Span, Time, TurnId, Used, Verb,
};

/// A scheduler that is told things by hand; remembers what it said.
struct Hand {
    scheduler: Scheduler,
    now: Time,
    asked: Vec<Operation>,
    events: Vec<Event>,
}

impl Hand {
    /// A scheduler that has found nothing at the provider and is ready.
    fn new(config: Config) -> Self {
        let mut hand = Self::starting(config);
        hand.tell(Input::Recovered);
        let list = Inventory { complete: true, items: Vec::new() };
        hand.reply(Verb::FindAll, Reply::Inventory(list));
        hand
    }

    /// A scheduler that reads its store.
    fn starting(config: Config) -> Self {
        Self {
            scheduler: Scheduler::new(config, 1, Time::ZERO),
            now: Time::ZERO,
            asked: Vec::new(),
            events: Vec::new(),
        }
    }

    fn drain(&mut self) {
        while let Some(output) = self.scheduler.poll() {
            match output {
                Output::Event(event) => self.events.push(event),
                Output::Operation(operation) => self.asked.push(operation),
                Output::Rejected(rejection) => panic!("rejected: {rejection:?}"),
            }
        }
        self.scheduler.invariants().expect("every invariant holds");
    }

    fn tell(&mut self, input: Input) {
        self.scheduler.handle(self.now, input);
        self.drain();
    }

    /// Answers the oldest question of the verb.
    fn reply(&mut self, verb: Verb, reply: Reply) {
        let place = self.asked.iter().position(|asked| asked.verb == verb);
        let place = place.unwrap_or_else(|| panic!("no {verb:?} is under way"));
        let op = self.asked.remove(place).op;
        self.tell(Input::Reply { op, reply });
    }

    /// Lets time pass, deadline by deadline.
    fn wait_until(&mut self, until: Time) {
        while let Some(deadline) = self.scheduler.next_deadline().filter(|it| it.at <= until) {
            self.now = self.now.max(deadline.at);
            self.scheduler.handle_timeout(self.now);
            self.drain();
        }
        self.now = until;
    }

    fn open(&mut self, conversation: u64, account: u32) -> ConversationId {
        let id = ConversationId::new(conversation, conversation as u32);
        self.tell(Input::OpenConversation { conversation: id, account: AccountId(account) });
        id
    }

    fn begin(&mut self, conversation: ConversationId, turn: u32, class: u16) {
        self.tell(Input::BeginTurn {
            conversation,
            turn: TurnId(turn),
            class: ClassId(class),
            likely_percent: None,
        });
    }

    fn execute(&mut self, conversation: ConversationId, turn: u32, execute: u32) {
        self.tell(Input::StartExecute {
            conversation,
            turn: TurnId(turn),
            execute: ExecuteId(execute),
            patience: None,
        });
    }

    fn count(&self, kind: EventKind) -> usize {
        self.events.iter().filter(|event| event.kind == kind).count()
    }
}

/// One class without a prepare step and without a warm pool.
fn plain() -> Config {
    let mut config = Config::default();
    config.classes[0].prepares = false;
    config.classes[0].warm_sandboxes = 0;
    config
}
